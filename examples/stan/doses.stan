// A line through measurements, with what it says of new ones.
data {
  int<lower=1> N;
  vector[N] dose;
  vector[N] y;
  real new_dose;
}
parameters {
  real intercept;
  real slope;
  real<lower=0> sigma;
}
model {
  intercept ~ normal(0, 10);
  slope ~ normal(0, 10);
  sigma ~ exponential(1);
  y ~ normal(intercept + slope * dose, sigma);
}
generated quantities {
  real expected = intercept + slope * new_dose;
  vector[N] log_lik;
  array[N] real y_rep = normal_rng(intercept + slope * dose, sigma);
  for (n in 1:N) {
    log_lik[n] = normal_lpdf(y[n] | intercept + slope * dose[n], sigma);
  }
}
