// Draws of what mixture.stan describes, for `octopus calibrate`: the program sums over the two kinds, and so does not say
// how to draw them.
data {
  int<lower=0> N;
}
generated quantities {
  real share_ = beta_rng(5, 5);
  vector[2] mu_ = [0, 0]';
  while (mu_[1] >= mu_[2]) {
    mu_ = to_vector(normal_rng([-2, 2], 0.75));
  }
  vector[2] sigma_ = to_vector(lognormal_rng([0, 0], 0.25));
  vector[N] y;
  for (n in 1:N) {
    int kind = 2 - bernoulli_rng(share_);
    y[n] = normal_rng(mu_[kind], sigma_[kind]);
  }
}
