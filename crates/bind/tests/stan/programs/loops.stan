// Loops: all passes at once, carried values, mixtures, a hidden Markov model, branches on data.
data {
  int N;
  vector[N] y;
  array[N] int<lower=1, upper=3> g;
  array[N] int<lower=0, upper=1> b;
}
parameters {
  vector[3] a;
  real<lower=0> s;
  real<lower=-1, upper=1> phi;
  array[2] simplex[2] A;
  ordered[2] mu;
  simplex[2] mix;
  real<lower=0, upper=0.5> w;
}
transformed parameters {
  vector[N] h;
  h[1] = a[1];
  for (n in 2 : N) {
    h[n] = a[1] + phi * (h[n - 1] - a[1]) + 0.1 * y[n - 1];
  }
}
model {
  vector[N] err;
  real v = 1;
  err[1] = y[1] - a[1];
  for (n in 2 : N) {
    err[n] = y[n] - (a[1] + phi * y[n - 1] + w * err[n - 1]);
    v = 0.2 + w * square(err[n - 1]) + 0.4 * v;
    target += -0.5 * log(v) - 0.5 * square(err[n]) / v;
  }
  err ~ normal(0, s);
  y ~ normal(h, s);
  for (n in 1 : N) {
    b[n] ~ bernoulli_logit(a[g[n]] + phi * y[n]);
    if (b[n] == 1) {
      y[n] ~ normal(a[g[n]], s);
    } else {
      y[n] ~ student_t(4, a[g[n]], 2 * s);
    }
    target += log_mix(mix[1], normal_lpdf(y[n] | mu[1], s), normal_lpdf(y[n] | mu[2], 1));
    vector[2] lp = log(mix);
    for (k in 1 : 2) {
      lp[k] += normal_lpdf(y[n] | mu[k], s);
    }
    target += log_sum_exp(lp);
  }
  array[2] real acc;
  array[2] real gamma;
  for (k in 1 : 2) {
    gamma[k] = log(mix[k]) + normal_lpdf(y[1] | mu[k], 1);
  }
  for (n in 2 : N) {
    array[2] real next;
    for (k in 1 : 2) {
      for (j in 1 : 2) {
        acc[j] = gamma[j] + log(A[j, k]) + normal_lpdf(y[n] | mu[k], 1);
      }
      next[k] = log_sum_exp(acc);
    }
    gamma = next;
  }
  target += log_sum_exp(gamma);
  a ~ normal(0, 2);
  mu ~ normal(0, 2);
  s ~ gamma(2, 2);
}
