// Polynomial regression of degree 2 with known noise.
data {
  int<lower=0> N;
  vector[N] x;
  vector[N] y;
  real<lower=0> noise;   // standard deviation of the measurements
}
parameters {
  real a;
  real b;
  real c;
}
model {
  a ~ normal(0, 1);
  b ~ normal(0, 1);
  c ~ normal(0, 1);
  y ~ normal(a + b * x + c * x^2, noise);
}
