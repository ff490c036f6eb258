// Draws of what mixture.stan describes, for `octopus calibrate`: the program sums over the two kinds, and so does not say
// how to draw them.
data {
  int<lower=0> N;
}
generated quantities {
  real share_ = beta_rng(5, 5);
  vector[2] mu_ = sort_asc([normal_rng(0, 3), normal_rng(0, 3)]');
  vector[2] sigma_ = [lognormal_rng(0, 0.5), lognormal_rng(0, 0.5)]';
  vector[N] y;
  for (n in 1:N) {
    int kind = 2 - bernoulli_rng(share_);
    y[n] = normal_rng(mu_[kind], sigma_[kind]);
  }
}
