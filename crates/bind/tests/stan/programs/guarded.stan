// Values that are data in some elements and parameters in others; terms that are 0 times a logarithm; ties.
data {
  int<lower=0> N;
  int<lower=0> empty;
  array[N] int<lower=0> k;
  array[N] int<lower=0> n;
  vector[empty] none;
  matrix[N, empty] wide;
}
parameters {
  vector<lower=0, upper=1>[2] p;
  real x;
  vector[empty] beta;
  simplex[1] one;
  ordered[empty] cuts;
  corr_matrix[1] R;
}
model {
  vector[N] mixed = rep_vector(0.25, N);
  mixed[1] = p[1];
  mixed[3] = x;
  target += -dot_self(mixed) + max(mixed) + min(mixed) + fmax(x, x) + abs(x - 1);
  k ~ binomial(n, append_row(p, [0.5, 1.0 * p[2]]'));
  target += binomial_lpmf(k | n, p[1]) + poisson_lpmf(0 | p[2]) + bernoulli_lpmf({0, 1, 1} | p[1]);
  none ~ normal(x, 1);
  beta ~ normal(0, 1);
  target += sum(wide * beta) + sum(none) + log(one[1]) + R[1, 1] * x + num_elements(cuts);
  x ~ normal(rep_vector(0.5, N), 1);
  rep_vector(x, 3) ~ normal({0.5, 1, 2}, p[1]);
  target += normal_lpdf(x | 0, 1) * 2 - normal_lupdf(x | 0, 1);
  for (i in 1:0) {
    target += positive_infinity();
  }
  target += N > 3 ? square(p[1]) : x;
  target += k[1] / 2 + 7 %/% 2 + 1.0 * k[2] / 2;
}
