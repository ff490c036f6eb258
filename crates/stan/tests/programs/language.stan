functions {
  real even(int n);
  real odd(int n) {
    return n == 0 ? 0 : even(n - 1);
  }
  real even(int n) {
    if (n == 0) {
      return 1;
    } else {
      return odd(n - 1);
    }
  }
  real half(real x) {
    return x / 2;
  }
  vector half(vector x) {
    return x / 2;
  }
  real pull_lpdf(vector x, real s, data array[] int k) {
    return normal_lupdf(x | 0, s) + size(k);
  }
  void add_lp(real x) {
    target += x;
    x ~ normal(0, 1);
  }
  vector stretch_jacobian(vector x, real s) {
    jacobian += log(s) * size(x);
    return x * s;
  }
  int draw_rng(int n) {
    while (1) {
      int k = poisson_rng(3);
      if (k <= n) {
        return k;
      }
    }
  }
}
data {
  int<lower=1> N, K;
  array[2, N] int k;
  array[N] vector[K] X;
  matrix<lower=0>[N, K] A;
  simplex[K] p;
}
transformed data {
  int M = draw_rng(4);
  array[3] real t = {1, 2.5, 3e-2};
  matrix[2, 2] B = [[1, 2], [3, 4]];
  profile("sums") {
    print("N = ", N, " of ", X[1 : 2, 1]);
  }
}
parameters {
  ordered[K] c;
  positive_ordered[K] d;
  unit_vector[K] u;
  sum_to_zero_vector[K] s0;
  cholesky_factor_corr[K] L;
  cholesky_factor_cov[K, 2] LS;
  corr_matrix[K] R;
  array[2] cov_matrix[K] S;
  column_stochastic_matrix[K, K] P;
  row_stochastic_matrix[K, K] Q;
  sum_to_zero_matrix[K, K] Z;
  array[N] real<lower=-1, upper=1> rho;
  vector<upper=p>[K] w;
  real<lower=0> sigma;
}
transformed parameters {
  vector[K] v = stretch_jacobian(c, sigma);
  v[1 : 2] += half(d[ : 2]);
  v .*= w;
  real q = -2 ^ 2 ^ 1 + half(sigma);
}
model {
  matrix[K, K] G = L * L' + R \ S[1] ./ 2;
  c ~ pull(sigma, k[1]);
  add_lp(q);
  for (row in X) {
    if (!(N > 3) && N %/% 2 == 1 || N % 2 != 0)
      continue;
    else if (N == 7) {
      row ~ multi_normal_cholesky(v, L);
    } else {
      target += multi_normal_lpdf(row | v, G);
    }
  }
  {
    real x = dot_product(v, w);
    if (x > 1e3)
      reject("x is ", x);
  }
  for (n in 1 : N) for (j in 1 : K) target += A[n, j] * log(P[ : , 1][j]);
  rho ~ uniform(-1, 1);
}
generated quantities {
  array[2] vector[K] both = {v, w};
  vector[K] T = both[{1, 2}][1];
  real trail = sum(T[2 : ]) + even(M);
  array[N] int pick = rep_array(draw_rng(2), N);
}
