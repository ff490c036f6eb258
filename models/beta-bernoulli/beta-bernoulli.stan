// Success or not in trials of several groups, whose chances of success vary about a common mean.
data {
  int<lower=0> N;                          // trials
  int<lower=1> J;                          // groups
  array[N] int<lower=1, upper=J> group;
  array[N] int<lower=0, upper=1> success;
}
parameters {
  real<lower=0, upper=1> mu;               // mean chance
  real<lower=0> kappa;                     // how alike groups are: as many trials as the common mean is worth
  vector<lower=0, upper=1>[J] theta;       // chance of each group
}
model {
  mu ~ beta(2, 2);
  kappa ~ lognormal(2, 1);
  theta ~ beta(mu * kappa, (1 - mu) * kappa);
  success ~ bernoulli(theta[group]);
}
