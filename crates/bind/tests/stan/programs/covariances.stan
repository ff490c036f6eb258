// Correlation and covariance matrices, their Cholesky factors, and normal vectors.
data {
  int N;
  array[N] vector[3] y;
  vector[2] x;
}
parameters {
  vector[3] mu;
  vector<lower=0>[3] tau;
  cholesky_factor_corr[3] L;
  corr_matrix[3] R;
  cov_matrix[3] S;
  cholesky_factor_cov[3] C;
  cholesky_factor_cov[4, 2] W;
  array[2] cholesky_factor_corr[2] LL;
  array[2] cov_matrix[2] SS;
  corr_matrix[4] R4;
  array[2] vector[2] b;
}
model {
  mu ~ normal(0, 3);
  tau ~ cauchy(0, 2.5);
  L ~ lkj_corr_cholesky(1.7);
  y ~ multi_normal_cholesky(mu, diag_pre_multiply(tau, L));
  y[1] ~ multi_normal(mu, quad_form_diag(R, tau));
  y[2] ~ multi_normal(mu, S);
  y ~ multi_normal(mu, S);
  y[3] ~ multi_normal_cholesky(rep_vector(0.5, 3), C);
  target += multi_normal_lpdf(mu | y[1], S);
  target += multi_normal_cholesky_lpdf(x | b[1], LL[1]) + lkj_corr_cholesky_lpdf(LL[2] | 2.5);
  b ~ multi_normal(x, SS[1]);
  target += -0.5 * sum(square(to_vector(SS[2]))) - 0.2 * dot_self(to_vector(C));
  target += -0.5 * dot_self(to_vector(W)) + W[4, 1] * W[2, 2] - 0.4 * dot_self(to_vector(S));
  target += 0.7 * R4[1, 4] - R4[2, 3] * R4[1, 2] + 0.3 * R[1, 2] - 0.5 * square(LL[1][2, 1]);
}
