// Ordered classes with cut points, discrimination and an effect that rises step by step, in the way of brms.
functions {
  real cumulative_logit_lpmf(int y, real mu, real disc, vector thres) {
    int nthres = num_elements(thres);
    if (y == 1) {
      return log_inv_logit(disc * (thres[1] - mu));
    } else if (y == nthres + 1) {
      return log1m_inv_logit(disc * (thres[nthres] - mu));
    } else {
      return log_inv_logit_diff(disc * (thres[y] - mu), disc * (thres[y - 1] - mu));
    }
  }
  real mo(vector scale, int i) {
    if (i == 0) {
      return 0;
    } else {
      return rows(scale) * sum(scale[1:i]);
    }
  }
}
data {
  int<lower=1> N;
  array[N] int Y;
  int<lower=2> nthres;
  vector[N] x;
  int<lower=1> Jmo;
  array[N] int Xmo;
  vector[Jmo] con_simo;
}
parameters {
  real b;
  ordered[nthres] Intercept;
  simplex[Jmo] simo;
  real bsp;
}
transformed parameters {
  real disc = 1;
}
model {
  vector[N] mu = rep_vector(0.0, N);
  for (n in 1:N) {
    mu[n] += bsp * mo(simo, Xmo[n]) + x[n] * b;
  }
  for (n in 1:N) {
    target += cumulative_logit_lpmf(Y[n] | mu[n], disc, Intercept);
  }
  target += student_t_lpdf(Intercept | 3, 0, 2.5);
  target += dirichlet_lpdf(simo | con_simo);
  b ~ normal(0, 2);
  bsp ~ normal(0, 1);
}
generated quantities {
  vector[nthres] b_Intercept = Intercept;
  array[N] int y_rep;
  for (n in 1:N) y_rep[n] = ordered_logistic_rng(b * x[n], Intercept);
}
