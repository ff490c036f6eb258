// Functions that sum, compare and combine.
data {
  int N;
  vector[N] w;
  array[N] int g;
}
parameters {
  vector[N] x;
  array[3] real a;
  row_vector[2] r;
  matrix[2, 3] m;
  simplex[3] s;
}
model {
  target += -sum(square(x)) + prod(a) - mean(x) - sd(x) * 0.5 - variance(x) + min(x) - max(a) * 0.3 + sum(r);
  target += log_sum_exp(x) + log_sum_exp(a) - log_sum_exp(m) + log_sum_exp(append_row(x, w));
  target += sum(softmax(x) .* w) + dot_product(log_softmax(x), w) + dot_product(cumulative_sum(x), w);
  target += log_mix(s, to_vector(a)) + log_mix(s, [0.3, r[1], r[2]]) + dot_product(x, w) - dot_self(to_vector(a));
  target += sum(a) * mean(m) + x[g[2]] * sum(x[g]) + sum(m[1] .* m[2]) - sum(square(m)) - dot_self(r);
  target += -square(a[1]) - square(a[2]) - square(a[3]) + sum(cumulative_sum(a)) * 0.1;
  target += max(m) * 0.2 + min(to_vector(m)) * 0.1 + sum(g) * x[1] * 0.01 + max(g) * a[1] * 0.01;
}
