functions {
  real share(int a, int b) {
    return a / b;
    return 1;
  }
}
data {
  int N;
  matrix[N, N] A;
}
parameters {
  cov_matrix[2] S;
}
model {
  real x = x;
  if (1 < N < 3) {
    x = sum(A ^ 2);
    x = x;
  }
  S ~ lkj_cov([0, 0]', [1, 1]', 1);
  reject("never", x);
  x = 1;
}
