// Counts with more zeros than Poisson has, as brms writes its family zero_inflated_poisson.
functions {
  real zero_inflated_poisson_log_logit_lpmf(int y, real eta, real zi) {
    if (y == 0) {
      return log_sum_exp(bernoulli_logit_lpmf(1 | zi), bernoulli_logit_lpmf(0 | zi) + poisson_log_lpmf(0 | eta));
    } else {
      return bernoulli_logit_lpmf(0 | zi) + poisson_log_lpmf(y | eta);
    }
  }
  real zero_inflated_poisson_lccdf(int y, real lambda, real zi) {
    return bernoulli_lpmf(0 | zi) + poisson_lccdf(y | lambda);
  }
}
data {
  int<lower=1> N;
  array[N] int<lower=0> Y;
  int<lower=1> K;
  matrix[N, K] X;
  int<lower=1> K_zi;
  matrix[N, K_zi] X_zi;
  vector[N] offsets;
}
parameters {
  vector[K] b;
  vector[K_zi] b_zi;
}
model {
  vector[N] mu = X * b + offsets;
  vector[N] zi = rep_vector(0.0, N);
  zi += X_zi * b_zi;
  for (n in 1:N) {
    target += zero_inflated_poisson_log_logit_lpmf(Y[n] | mu[n], zi[n]);
  }
  target += normal_lpdf(b | 0, 2);
  target += logistic_lpdf(b_zi | 0, 1);
}
generated quantities {
  array[N] int y_rep;
  for (n in 1:N) y_rep[n] = bernoulli_logit_rng(X_zi[n] * b_zi) ? 0 : poisson_log_rng(X[n] * b + offsets[n]);
}
