// Logistic regression with effects of groups.
data {
  int<lower=0> N; // rows
  int<lower=1> J;
  array[N] int<lower=1, upper=J> group;
  vector[N] x;
  array[N] int<lower=0, upper=1> y;
}
transformed data {
  vector[N] z = (x - mean(x)) / sd(x);
}
parameters {
  real<offset=1, multiplier=2> mu;
  real<lower=0> tau;
  vector<offset=mu, multiplier=tau>[J] alpha;
  real beta;
}
model {
  mu ~ normal(0, 2);
  tau ~ student_t(3, 0, 1) T[0, ];
  alpha ~ normal(mu, tau);
  beta ~ std_normal();
  y ~ bernoulli_logit(alpha[group] + beta * z);
}
generated quantities {
  vector[N] log_lik;
  array[N] int y_rep = bernoulli_logit_rng(alpha[group] + beta * z);
  for (n in 1 : N) {
    log_lik[n] = bernoulli_logit_lpmf(y[n] | alpha[group[n]] + beta * z[n]);
  }
}
