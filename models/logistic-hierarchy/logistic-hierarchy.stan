// Who recovers, by age, in clinics that differ: logistic regression with an intercept for each clinic.
data {
  int<lower=0> N;                            // patients
  int<lower=1> J;                            // clinics
  array[N] int<lower=1, upper=J> clinic;
  vector[N] age;                             // in tens of years from the mean
  array[N] int<lower=0, upper=1> recovered;
}
parameters {
  real mu;                                   // log odds at the mean age in a typical clinic
  real<lower=0> tau;                         // spread of clinics
  real slope;                                // log odds for ten years
  vector[J] alpha;                           // log odds of each clinic
}
model {
  mu ~ normal(0, 1.5);
  tau ~ normal(0, 1);
  slope ~ normal(0, 1);
  alpha ~ normal(mu, tau);
  recovered ~ bernoulli_logit(alpha[clinic] + slope * age);
}
