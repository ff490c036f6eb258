// Truncated distributions and distribution functions.
data {
  int N;
  vector<lower=0>[N] x;
  real low;
  real high;
}
parameters {
  real m;
  real<lower=0> s;
  real<lower=0.1> t;
  real<lower=0.2, upper=6> z;
}
model {
  for (i in 1:N) {
    x[i] ~ exponential(t) T[0.1, ];
    x[i] ~ logistic(m, s) T[low, high];
    x[i] ~ weibull(s, t) T[0.05, ];
    x[i] ~ cauchy(m, t) T[0, ];
    x[i] ~ cauchy(m, t) T[ , high];
  }
  s ~ student_t(3, 0, 2.5) T[0, ];
  t ~ uniform(0.1, 50) T[0.1, 20];
  m ~ normal(0, 5);
  target += exponential_lcdf(x | t) + exponential_lccdf(x | t) + logistic_lcdf(x | m, s) + logistic_lccdf(x | m, s);
  target += weibull_lccdf(x | t, s) + cauchy_lcdf(x | m, s) + cauchy_lccdf(x | m, s);
  target += uniform_lcdf(z | 0.1 - s, 7) + uniform_lccdf(z | 0, 7 + s);
  target += student_t_lccdf(0.5 | 3, 0, 2.5) + student_t_lcdf(1.5 | 4, 0.2, 1);
}
