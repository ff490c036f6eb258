// A Gaussian process over two inputs with its standard variables, as brms writes `gp(x1, x2)`.
functions {
  vector gp(data array[] vector x, real sdgp, vector lscale, vector zgp) {
    int Dls = rows(lscale);
    int N = size(x);
    matrix[N, N] cov;
    if (Dls == 1) {
      cov = gp_exp_quad_cov(x, sdgp, lscale[1]);
    } else {
      cov = gp_exp_quad_cov(x[, 1], sdgp, lscale[1]);
      for (d in 2:Dls) {
        cov = cov .* gp_exp_quad_cov(x[, d], 1, lscale[d]);
      }
    }
    for (n in 1:N) {
      cov[n, n] += 1e-8;
    }
    return cholesky_decompose(cov) * zgp;
  }
}
data {
  int<lower=1> N;
  vector[N] Y;
  int<lower=1> D;
  array[N] vector[D] Xgp;
}
parameters {
  real Intercept;
  real<lower=0> sigma;
  real<lower=0> sdgp;
  vector<lower=0>[1] lscale;
  vector[N] zgp;
}
model {
  vector[N] mu = Intercept + gp(Xgp, sdgp, lscale, zgp);
  Y ~ normal(mu, sigma);
  Intercept ~ normal(0, 2);
  sigma ~ exponential(1);
  sdgp ~ normal(0, 1);
  lscale[1] ~ inv_gamma(3, 1);
  zgp ~ std_normal();
}
