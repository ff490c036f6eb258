// A rate that changes once, the year summed out, after the Stan User's Guide.
data {
  real<lower=0> r_e;
  real<lower=0> r_l;
  int<lower=1> T;
  array[T] int<lower=0> D;
}
transformed data {
  real log_unif = -log(T);
}
parameters {
  real<lower=0> e;
  real<lower=0> l;
}
transformed parameters {
  vector[T] lp = rep_vector(log_unif, T);
  for (s in 1:T)
    for (t in 1:T)
      lp[s] = lp[s] + poisson_lpmf(D[t] | t < s ? e : l);
}
model {
  e ~ exponential(r_e);
  l ~ exponential(r_l);
  target += log_sum_exp(lp);
}
generated quantities {
  int<lower=1, upper=T> s = categorical_logit_rng(lp);
}
