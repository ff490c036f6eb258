// Draws of what hmm.stan describes, for `octopus calibrate`: the program sums over the states, and so does not say how to
// draw them.
data {
  int<lower=1> T;
}
generated quantities {
  vector[2] stay_ = [beta_rng(8, 2), beta_rng(8, 2)]';
  vector[2] mu_ = [0, 0]';
  while (mu_[1] >= mu_[2]) {
    mu_ = to_vector(normal_rng([-2, 2], 1));
  }
  real sigma_ = lognormal_rng(0, 0.5);
  vector[T] y;
  {
    int state = bernoulli_rng(0.5) + 1;
    for (t in 1:T) {
      if (bernoulli_rng(stay_[state]) == 0) {
        state = 3 - state;
      }
      y[t] = normal_rng(mu_[state], sigma_);
    }
  }
}
