// Several outcomes with correlated errors, after the Stan User's Guide.
data {
  int<lower=1> K;
  int<lower=1> J;
  int<lower=0> N;
  array[N] vector[J] x;
  array[N] vector[K] y;
}
parameters {
  matrix[K, J] beta;
  cholesky_factor_corr[K] L_Omega;
  vector<lower=0>[K] L_sigma;
}
model {
  array[N] vector[K] mu;
  matrix[K, K] L_Sigma;
  for (n in 1:N) {
    mu[n] = beta * x[n];
  }
  L_Sigma = diag_pre_multiply(L_sigma, L_Omega);
  to_vector(beta) ~ normal(0, 5);
  L_Omega ~ lkj_corr_cholesky(4);
  L_sigma ~ cauchy(0, 2.5);
  y ~ multi_normal_cholesky(mu, L_Sigma);
}
generated quantities {
  matrix[K, K] Omega = L_Omega * L_Omega';
  matrix[K, K] Sigma = quad_form_diag(Omega, L_sigma);
  real generalised = log_determinant(Sigma);
  vector[K] y0 = multi_normal_cholesky_rng(beta * x[1], diag_pre_multiply(L_sigma, L_Omega));
}
