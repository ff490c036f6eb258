// A linear state-space model: a level that returns to zero, seen through noise.
data {
  int<lower=2> T;
  vector[T] y;
}
parameters {
  real<lower=-1, upper=1> phi;       // how much of the level stays from step to step
  real<lower=0> q;                   // standard deviation of its shocks
  real<lower=0> r;                   // standard deviation of the measurements
  vector[T] level;
}
model {
  phi ~ normal(0.5, 0.5);
  q ~ lognormal(-0.5, 0.5);
  r ~ lognormal(-0.5, 0.5);
  level[1] ~ normal(0, 1);
  for (t in 2:T) {
    level[t] ~ normal(phi * level[t - 1], q);
  }
  y ~ normal(level, r);
}
