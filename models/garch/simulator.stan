// Draws of what garch.stan describes, for `octopus calibrate`: its prior of alpha1 and beta1 is uniform over a triangle,
// and its variances are computed from all returns at once, which its statements alone do not say how to draw.
data {
  int<lower=1> T;
  real<lower=0> sigma1;
}
generated quantities {
  real mu_ = normal_rng(0, 1);
  real alpha0_ = lognormal_rng(-1, 1);
  real alpha1_ = beta_rng(1, 2);
  real beta1_ = uniform_rng(0, 1 - alpha1_);
  vector[T] y;
  {
    real sigma = sigma1;
    for (t in 1:T) {
      if (t > 1) {
        sigma = sqrt(alpha0_ + alpha1_ * square(y[t - 1] - mu_) + beta1_ * square(sigma));
      }
      y[t] = normal_rng(mu_, sigma);
    }
  }
}
