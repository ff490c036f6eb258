parameters {
  real mu;
}
model {
  increment_log_prob(normal_log(mu, 0, 1));
  target += normal_log(mu, 0, 1);
  target += if_else(1, mu, 2);
  target += fabs(mu);
  target += binomial_coefficient_log(5, 2);
  mu ~ normal_log(0, 1);
  target += get_lp();
}
