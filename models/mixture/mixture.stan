// Two kinds of observations in one sample: a mixture of two normal distributions.
data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  real<lower=0, upper=1> share;      // of the first kind
  ordered[2] mu;                     // the order tells the kinds apart
  vector<lower=0>[2] sigma;
}
model {
  share ~ beta(5, 5);
  // The kinds are apart: where they are not, either may be the wide one, and there are two modes.
  mu ~ normal([-2, 2], 0.75);
  sigma ~ lognormal(0, 0.25);
  for (n in 1:N) {
    target += log_mix(share, normal_lpdf(y[n] | mu[1], sigma[1]), normal_lpdf(y[n] | mu[2], sigma[2]));
  }
}
