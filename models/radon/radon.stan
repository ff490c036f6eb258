// Radon in houses: by floor, in counties and in waves of measurement, which cross each other.
data {
  int<lower=0> N;                            // houses
  int<lower=1> J;                            // counties
  int<lower=1> W;                            // waves in which detectors were sent out
  array[N] int<lower=1, upper=J> county;
  array[N] int<lower=1, upper=W> wave;
  vector[N] ground;                          // 1 where it was measured above the basement, else 0
  vector[N] log_radon;                       // logarithm of pCi/L
}
parameters {
  real mu;
  real by_ground;
  real<lower=0> sigma_county;
  real<lower=0> sigma_wave;
  real<lower=0> sigma;
  vector[J] by_county;
  vector[W] by_wave;
}
model {
  mu ~ normal(1, 2);
  by_ground ~ normal(0, 1);
  sigma_county ~ normal(0, 1);
  sigma_wave ~ normal(0, 1);
  sigma ~ normal(0, 1);
  by_county ~ normal(0, sigma_county);
  by_wave ~ normal(0, sigma_wave);
  log_radon ~ normal(mu + by_ground * ground + by_county[county] + by_wave[wave], sigma);
}
