data {
  int<lower=3> T;
  vector[T] y;
}
parameters {
  real mu;
  real<lower=-1, upper=1> phi;
  real<lower=0> sigma;
}
model {
  vector[T] err;
  mu ~ normal(0, 10);
  phi ~ normal(0, 2) T[-1, 1];
  sigma ~ cauchy(0, 2.5);
  err[1] = y[1] - mu;
  for (t in 2 : T) {
    err[t] = y[t] - (mu + phi * y[t - 1]);
  }
  err ~ normal(0, sigma);
}
