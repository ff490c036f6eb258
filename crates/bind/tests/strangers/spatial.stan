// Disease counts on a map: the BYM2 model after Morris et al.
functions {
  real standard_icar_lpdf(vector phi, array[] int node1, array[] int node2) {
    return -0.5 * dot_self(phi[node1] - phi[node2]) + normal_lpdf(sum(phi) | 0, 0.001 * rows(phi));
  }
}
data {
  int<lower=0> N;
  int<lower=0> N_edges;
  array[N_edges] int<lower=1, upper=N> node1;
  array[N_edges] int<lower=1, upper=N> node2;
  array[N] int<lower=0> y;
  vector<lower=0>[N] E;
  int<lower=1> K;
  matrix[N, K] x;
  real<lower=0> scaling_factor;
}
transformed data {
  vector[N] log_E = log(E);
  matrix[N, K] Q_ast = qr_thin_Q(x) * sqrt(N - 1);
  matrix[K, K] R_ast = qr_thin_R(x) / sqrt(N - 1);
  matrix[K, K] R_ast_inverse = inverse(R_ast);
}
parameters {
  real beta0;
  vector[K] thetas;
  real<lower=0> sigma;
  real<lower=0, upper=1> rho;
  vector[N] theta;
  vector[N] phi;
}
transformed parameters {
  vector[N] convolved_re = sqrt(1 - rho) * theta + sqrt(rho / scaling_factor) * phi;
}
model {
  y ~ poisson_log_glm(Q_ast, log_E + beta0 + convolved_re * sigma, thetas);
  phi ~ standard_icar(node1, node2);
  beta0 ~ normal(0.0, 1.0);
  thetas ~ normal(0.0, 1.0);
  theta ~ normal(0.0, 1.0);
  sigma ~ normal(0, 1.0);
  rho ~ beta(0.5, 0.5);
}
generated quantities {
  vector[K] beta = R_ast_inverse * thetas;
  real logit_rho = log(rho / (1.0 - rho));
}
