// Functions whose slopes Stan approximates: trigamma has four terms, those of ln Phi are polynomials.
data {
  int N;
  vector[N] y;
}
parameters {
  real x;
  real<lower=0> q;
}
model {
  target += std_normal_lcdf(x) - digamma(q) - square(x) - square(q);
  for (n in 1 : N) {
    y[n] ~ normal(x, q) T[-1, ];
    y[n] ~ normal(x, q) T[-2, 4];
  }
  target += normal_lcdf(y | x, q) + normal_lccdf(y | x, q);
}
