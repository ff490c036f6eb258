// Errors that depend on earlier ones, with a smooth of time and heavy tails, in the way of brms.
data {
  int<lower=1> N;
  vector[N] Y;
  int<lower=0> Kar;
  array[N] int<lower=0> J_lag;
  int Ks;
  matrix[N, Ks] Xs;
  int nb_1;
  array[nb_1] int knots_1;
  matrix[N, knots_1[1]] Zs_1_1;
}
transformed data {
  int max_lag = Kar;
}
parameters {
  real Intercept;
  vector[Ks] bs;
  vector[knots_1[1]] zs_1_1;
  vector<lower=0>[nb_1] sds_1;
  vector<lower=-1, upper=1>[Kar] ar;
  real<lower=0> sigma;
  real<lower=1> nu;
}
transformed parameters {
  vector[knots_1[1]] s_1_1 = sds_1[1] * zs_1_1;
}
model {
  matrix[N, max_lag] Err = rep_matrix(0, N, max_lag);
  vector[N] err;
  vector[N] mu = rep_vector(0.0, N);
  mu += Intercept + Xs * bs + Zs_1_1 * s_1_1;
  for (n in 1:N) {
    mu[n] += Err[n, 1:Kar] * ar;
    err[n] = Y[n] - mu[n];
    for (i in 1:J_lag[n]) {
      Err[n + 1, i] = err[n + 1 - i];
    }
  }
  target += student_t_lpdf(Y | nu, mu, sigma);
  target += gamma_lpdf(nu | 2, 0.1) - 1 * gamma_lccdf(1 | 2, 0.1);
  target += student_t_lpdf(sds_1 | 3, 0, 2.5) - 1 * student_t_lccdf(0 | 3, 0, 2.5);
  target += normal_lpdf(ar | 0, 0.5) - Kar * log_diff_exp(normal_lcdf(1 | 0, 0.5), normal_lcdf(-1 | 0, 0.5));
  target += std_normal_lpdf(zs_1_1);
  sigma ~ exponential(1);
  bs ~ normal(0, 3);
  Intercept ~ normal(0, 3);
}
