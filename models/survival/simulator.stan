// Draws of what survival.stan describes, for `octopus calibrate`: the program does not say when observation ends, which
// make.py draws as here.
data {
  int<lower=0> N;
  vector[N] treated;
}
generated quantities {
  real shape_ = lognormal_rng(0, 0.5);
  real intercept_ = normal_rng(0, 2);
  real effect_ = normal_rng(0, 1);
  vector[N] time;
  array[N] int event;
  for (n in 1:N) {
    real death = weibull_rng(shape_, exp(intercept_ + effect_ * treated[n]));
    real stop = uniform_rng(3, 25);
    event[n] = death <= stop;
    time[n] = fmin(death, stop);
  }
}
