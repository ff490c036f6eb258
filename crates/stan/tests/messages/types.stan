data {
  int N;
  array[N] int k;
  vector[N] x;
  matrix[N, N] A;
}
parameters {
  real mu;
  row_vector[N] r;
  int z;
  vector[mu] w;
}
transformed parameters {
  int count = 1.5;
  vector[N] a = r;
  a[1, 2] = 3;
  a[mu] = 3;
  A[1, 1] = 0;
  for (i in 1 : N) {
    i = 2;
  }
}
model {
  x ~ normal(A, 1);
  mu ~ poisson(3);
  k ~ normal(0, 1, 2);
  target += x * x;
  target += k + 1;
  target += dot_product(x, k);
  if (mu) {
    break;
  }
  real b = k ? 1 : 2;
  b += x;
  array[2] real c = {1, x};
  vector[2] v = [1, 2];
}
