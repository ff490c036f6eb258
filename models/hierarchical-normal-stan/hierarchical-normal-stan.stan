// Observations in groups whose means vary about a common mean: the model `hierarchical-normal` as a program.
data {
  int<lower=1> N;
  int<lower=1> J;
  array[N] int<lower=1, upper=J> group;
  vector[N] value;
}
parameters {
  real mu_pop;
  real<lower=0> sigma_pop;
  vector[J] mu_group;
  real<lower=0> sigma_obs;
}
model {
  mu_pop ~ normal(50, 20);
  sigma_pop ~ normal(0, 15);
  sigma_obs ~ normal(0, 5);
  mu_group ~ normal(mu_pop, sigma_pop);
  value ~ normal(mu_group[group], sigma_obs);
}
