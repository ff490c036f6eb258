// Linear models in one call.
data {
  int N;
  int K;
  matrix[N, K] x;
  vector[N] y;
  array[N] int<lower=0, upper=1> b;
  array[N] int<lower=0> k;
}
parameters {
  real a;
  vector[N] av;
  vector[K] beta;
  real<lower=0> s;
}
model {
  y ~ normal_id_glm(x, a, beta, s);
  b ~ bernoulli_logit_glm(x, a, beta);
  k ~ poisson_log_glm(x, av, beta);
  k ~ neg_binomial_2_log_glm(x, a, beta, s);
  target += normal_id_glm_lpdf(y | x, av, beta, s) + bernoulli_logit_glm_lpmf(b | x, av, beta);
  target += poisson_log_glm_lpmf(k | x, a, beta) + neg_binomial_2_log_glm_lpmf(k | x, av, beta, s);
  av ~ normal(a, 1);
  beta ~ normal(0, 1);
  y ~ normal(a + x * beta, s);
}
