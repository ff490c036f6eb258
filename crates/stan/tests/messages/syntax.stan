data {
  int N
  real x[N];
  real<lower=0 y;
  array[N] vector z;
  blob w;
}
parameters {
  real mu;
  x = 3;
}
model {
  mu <- 3;
  if mu > 3 { mu ~ normal(0, 1); }
  mu ~ normal(0, 1;
  target = 3;
  3 + mu;
}
