// Counts of animals that are not all seen: the number there is summed out.
data {
  int<lower=0> R;
  int<lower=0> T;
  array[R, T] int<lower=0> y;
  vector[R] X;
  int<lower=0> K;
}
transformed data {
  array[R] int<lower=0> max_y;
  for (i in 1:R) {
    max_y[i] = max(y[i]);
  }
}
parameters {
  real alpha0;
  real alpha1;
  real beta0;
  real beta1;
}
model {
  alpha0 ~ normal(0, 2);
  alpha1 ~ normal(0, 2);
  beta0 ~ normal(0, 2);
  beta1 ~ normal(0, 2);
  for (i in 1:R) {
    real log_lambda = alpha0 + alpha1 * X[i];
    real logit_p = beta0 + beta1 * X[i];
    vector[K - max_y[i] + 1] lp;
    for (j in 1:(K - max_y[i] + 1)) {
      int N = max_y[i] + j - 1;
      lp[j] = poisson_log_lpmf(N | log_lambda) + binomial_logit_lpmf(y[i] | N, logit_p);
    }
    target += log_sum_exp(lp);
  }
}
