functions {
  real growth(real t, real rate) {
    return exp(rate * t);
  }
}
data {
  int<lower=0> n_obs;
  vector[n_obs] y;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  mu ~ normall(0, 1);
  sgima ~ exponential(1);
  y ~ normal(mu, Sigma);
  target += growht(1.0, mu);
  target += normal_lpfd(mu | 0, 1);
  mu = y[n_obz];
  target += growth;
  target += y(1);
  real n_obs = 2;
}
