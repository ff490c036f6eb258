// From sends to opens, clicks and conversions: how campaigns differ at each stage, and what a new one will do.
data {
  int<lower=1> N;                                     // rows of the table
  int<lower=1> C;                                     // campaigns
  array[N] int<lower=1, upper=C> campaign;
  array[N] int<lower=0> sends;
  array[N] int<lower=0> opens;
  array[N] int<lower=0> clicks;
  array[N] int<lower=0> conversions;
  int<lower=0> new_sends;                             // messages of a campaign that is not in the table
}
parameters {
  vector[3] typical;                                  // log odds of a typical campaign: open, click, convert
  vector<lower=0>[3] spread;                          // how far campaigns differ from it
  cholesky_factor_corr[3] L;                          // how differences at one stage go with those at another
  array[C] vector[3] level;                           // log odds of each campaign
}
model {
  typical ~ normal([-1.5, -2.0, -3.0]', 0.7);         // near 18 %, 12 % and 5 %
  spread ~ lognormal(-1, 0.5);                        // campaigns differ: 0.14 to 1 in 95 of 100 cases
  L ~ lkj_corr_cholesky(2);
  level ~ multi_normal_cholesky(typical, diag_pre_multiply(spread, L));
  opens ~ binomial_logit(sends, level[campaign, 1]);
  clicks ~ binomial_logit(opens, level[campaign, 2]);
  conversions ~ binomial_logit(clicks, level[campaign, 3]);
}
generated quantities {
  vector[3] correlation;                              // of open and click, open and convert, click and convert
  {
    matrix[3, 3] all = multiply_lower_tri_self_transpose(L);
    correlation = [all[1, 2], all[1, 3], all[2, 3]]';
  }
  // The same funnel once more, from the sends on.
  array[N] int opens_again = binomial_rng(sends, inv_logit(level[campaign, 1]));
  array[N] int clicks_again = binomial_rng(opens_again, inv_logit(level[campaign, 2]));
  array[N] int conversions_again = binomial_rng(clicks_again, inv_logit(level[campaign, 3]));
  // A new campaign.
  vector[3] new_level = multi_normal_cholesky_rng(typical, diag_pre_multiply(spread, L));
  int new_opens = binomial_rng(new_sends, inv_logit(new_level[1]));
  int new_clicks = binomial_rng(new_opens, inv_logit(new_level[2]));
  int new_conversions = binomial_rng(new_clicks, inv_logit(new_level[3]));
}
