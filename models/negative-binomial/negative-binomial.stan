// Counts that vary more than a Poisson distribution allows, such as cells on slides, with known exposure.
data {
  int<lower=0> N;
  vector<lower=0>[N] exposure;       // area looked at
  vector[N] dose;
  array[N] int<lower=0> cells;
}
parameters {
  real intercept;                    // log rate for a unit of exposure
  real slope;
  real<lower=0> phi;                 // variance = mean + mean^2 / phi
}
model {
  intercept ~ normal(0, 2);
  slope ~ normal(0, 1);
  phi ~ gamma(2, 0.5);
  cells ~ neg_binomial_2_log(log(exposure) + intercept + slope * dose, phi);
}
