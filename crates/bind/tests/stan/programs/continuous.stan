// Continuous distributions whose arguments are all parameters, and all their constants.
parameters {
  real x;
  real<lower=0> p;
  real<lower=0, upper=1> q;
  real m;
  real<lower=0> s;
  real<lower=0> t;
  real<lower=0, upper=1> k;
}
model {
  target += normal_lpdf(x | m, s) + std_normal_lpdf(x) + lognormal_lpdf(p | m, s);
  target += cauchy_lpdf(x | m, s) + student_t_lpdf(x | t, m, s) + logistic_lpdf(x | m, s);
  target += double_exponential_lpdf(x | m, s) + gumbel_lpdf(x | m, s);
  target += exponential_lpdf(p | s) + gamma_lpdf(p | s, t) + inv_gamma_lpdf(p | s, t);
  target += chi_square_lpdf(p | s) + inv_chi_square_lpdf(p | t);
  target += beta_lpdf(q | s, t) + beta_proportion_lpdf(q | k, t);
  target += uniform_lpdf(x | m - 10 - s, m + 10 + t) + weibull_lpdf(p | s, t);
  target += pareto_lpdf(p + s | s, t) + rayleigh_lpdf(p | s) + skew_normal_lpdf(x | m, s, m - x);
}
