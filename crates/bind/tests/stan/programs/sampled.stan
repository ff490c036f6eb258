// Continuous distributions as statements, of vectors of data and parameters: constants are dropped.
data {
  int N;
  vector[N] x;
  vector<lower=0>[N] p;
  vector<lower=0, upper=1>[N] q;
  real<lower=0> fixed;
}
parameters {
  vector[N] m;
  real m0;
  vector<lower=0>[N] s;
  real<lower=0> t;
  real<lower=0, upper=1> k;
}
model {
  x ~ normal(m, s);
  x ~ normal(m0, fixed);
  m ~ normal(x, fixed);
  m ~ std_normal();
  p ~ lognormal(m, t);
  x ~ cauchy(m0, s);
  x ~ student_t(fixed, m, t);
  x ~ student_t(t, m0, s);
  m ~ logistic(m0, fixed);
  x ~ double_exponential(m, s);
  x ~ gumbel(m, t);
  p ~ exponential(t);
  s ~ exponential(fixed);
  p ~ gamma(s, t);
  s ~ gamma(fixed, 2);
  p ~ inv_gamma(s, t);
  s ~ inv_gamma(2, fixed);
  p ~ chi_square(t);
  s ~ chi_square(fixed);
  p ~ inv_chi_square(s);
  q ~ beta(s, t);
  k ~ beta(fixed, 2);
  q ~ beta_proportion(k, s);
  m ~ uniform(-30, 30);
  p ~ weibull(s, t);
  p + 1 ~ pareto(1, s);
  p ~ rayleigh(t);
  x ~ skew_normal(m, s, m0);
  target += normal_lupdf(x | m, s) + gamma_lupdf(t | 2, 3);
}
