// What funnel.stan says before it has seen data: its priors line by line, and the funnels that they make.
data {
  int<lower=1> N;
  int<lower=1> C;
  array[N] int<lower=1, upper=C> campaign;
  array[N] int<lower=0> sends;
}
generated quantities {
  vector[3] typical = to_vector(normal_rng([-1.5, -2.0, -3.0]', 0.7));
  vector[3] spread = to_vector(lognormal_rng(rep_vector(-1, 3), 0.5));
  matrix[3, 3] L = lkj_corr_cholesky_rng(3, 2);
  vector[3] correlation;                              // of open and click, open and convert, click and convert
  {
    matrix[3, 3] all = multiply_lower_tri_self_transpose(L);
    correlation = [all[1, 2], all[1, 3], all[2, 3]]';
  }
  array[C] vector[3] level;
  for (c in 1:C) {
    level[c] = multi_normal_cholesky_rng(typical, diag_pre_multiply(spread, L));
  }
  array[N] int opens_again = binomial_rng(sends, inv_logit(level[campaign, 1]));
  array[N] int clicks_again = binomial_rng(opens_again, inv_logit(level[campaign, 2]));
  array[N] int conversions_again = binomial_rng(clicks_again, inv_logit(level[campaign, 3]));
}
