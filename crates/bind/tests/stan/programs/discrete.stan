// Mass functions, as statements and with their constants.
data {
  int N;
  array[N] int<lower=0, upper=1> y;
  array[N] int<lower=0> k;
  array[N] int<lower=0> n;
  array[N] int<lower=1, upper=4> c;
  array[4] int<lower=0> counts;
}
parameters {
  vector<lower=0, upper=1>[N] p;
  vector[N] l;
  real<lower=0> a;
  vector<lower=0>[N] b;
  simplex[4] s;
  vector[4] e;
  ordered[3] cuts;
}
model {
  y ~ bernoulli(p);
  y ~ bernoulli(p[2]);
  y ~ bernoulli_logit(l);
  k ~ binomial(n, p);
  k ~ binomial_logit(n, l);
  k ~ poisson(b);
  k ~ poisson_log(l);
  k ~ neg_binomial_2(b, a);
  k ~ neg_binomial_2_log(l, a);
  k ~ beta_binomial(n, a, b);
  c ~ categorical(s);
  c ~ categorical_logit(e);
  counts ~ multinomial(s);
  for (i in 1:N) {
    c[i] ~ ordered_logistic(l[i], cuts);
    target += categorical_lpmf(c[i] | softmax(e)) + ordered_logistic_lpmf(c[i] | e[2], cuts);
  }
  target += bernoulli_lpmf(1 | p[1]) + bernoulli_lpmf(0 | p[1]) + bernoulli_logit_lpmf(y | l[1]);
  target += binomial_lpmf(k | n, p) + binomial_lpmf(0 | 3, p[3]) + binomial_lpmf(3 | 3, p[3]);
  target += binomial_logit_lpmf(k | n, l) + poisson_lpmf(k | a) + poisson_lpmf(0 | b[2]);
  target += poisson_log_lpmf(k | l) + neg_binomial_2_lpmf(k | b, b) + neg_binomial_2_log_lpmf(k | l, b);
  target += beta_binomial_lpmf(k | n, b, a) + multinomial_lpmf(counts | s);
  target += categorical_lpmf(c | s) + categorical_logit_lpmf(c[2] | e);
  b ~ exponential(1);
}
