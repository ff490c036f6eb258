// Who recovers, by age, in clinics that differ: a logistic hierarchy.
data {
  int<lower=1> N;                              // patients
  int<lower=1> J;                              // clinics
  array[N] int<lower=1, upper=J> clinic;
  vector[N] age;
  array[N] int<lower=0, upper=1> recovered;
}
parameters {
  real intercept;
  real slope;
  real<lower=0> spread;
  vector<multiplier=spread>[J] level;
}
model {
  intercept ~ normal(0, 2);
  slope ~ normal(0, 1);
  spread ~ normal(0, 1);
  level ~ normal(0, spread);
  recovered ~ bernoulli_logit(intercept + level[clinic] + slope * age);
}
