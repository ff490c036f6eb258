// Two normal components whose shares are modelled, in the way of brms' family mixture.
data {
  int<lower=1> N;
  vector[N] Y;
  vector[N] x;
}
parameters {
  ordered[2] Intercept;
  array[2] real<lower=0> sigma;
  real b;
  real theta_b;
}
model {
  vector[N] mu1 = Intercept[1] + x * b;
  vector[N] mu2 = rep_vector(Intercept[2], N);
  matrix[N, 2] theta;
  theta[, 1] = rep_vector(0, N);
  theta[, 2] = theta_b * x;
  for (n in 1:N) {
    theta[n] = transpose(log_softmax(to_vector(theta[n])));
  }
  for (n in 1:N) {
    array[2] real ps;
    ps[1] = theta[n, 1] + normal_lpdf(Y[n] | mu1[n], sigma[1]);
    ps[2] = theta[n, 2] + normal_lpdf(Y[n] | mu2[n], sigma[2]);
    target += log_sum_exp(ps);
  }
  Intercept ~ normal(0, 3);
  sigma ~ lognormal(0, 0.5);
  b ~ std_normal();
  theta_b ~ std_normal();
}
