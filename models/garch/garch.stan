// GARCH(1, 1): returns whose variance follows the last return and its own past.
data {
  int<lower=1> T;
  vector[T] y;
  real<lower=0> sigma1;                               // standard deviation at the first step
}
parameters {
  real mu;
  real<lower=0> alpha0;
  real<lower=0, upper=1> alpha1;
  real<lower=0, upper=1 - alpha1> beta1;
}
model {
  mu ~ normal(0, 1);
  alpha0 ~ lognormal(-1, 1);

  vector[T] sigma;
  sigma[1] = sigma1;
  for (t in 2:T) {
    sigma[t] = sqrt(alpha0 + alpha1 * square(y[t - 1] - mu) + beta1 * square(sigma[t - 1]));
  }
  y ~ normal(mu, sigma);
}
