// Counts of events, such as claims, whose rate depends on two properties and whose exposure is known.
data {
  int<lower=0> N;
  vector<lower=0>[N] exposure;       // e.g. years insured
  vector[N] young;                   // 1 for young drivers, else 0
  vector[N] power;                   // engine power, standardised
  array[N] int<lower=0> claims;
}
parameters {
  real intercept;                    // log rate for a unit of exposure
  real by_young;
  real by_power;
}
model {
  intercept ~ normal(0, 2);
  by_young ~ normal(0, 1);
  by_power ~ normal(0, 1);
  claims ~ poisson_log(log(exposure) + intercept + by_young * young + by_power * power);
}
