// Functions of vectors and matrices.
data {
  int N;
  matrix[N, N] d;
  array[N] real t;
}
parameters {
  matrix[N, N] a;
  matrix[N, 2] b;
  vector[N] v;
  row_vector[N] r;
  real<lower=0> s;
}
transformed parameters {
  matrix[N, N] spd = crossprod(a) + diag_matrix(rep_vector(1 + s, N));
  matrix[N, N] L = cholesky_decompose(spd);
}
model {
  target += -0.5 * dot_self(mdivide_left_tri_low(L, v)) - sum(log(diagonal(L)));
  target += sum(mdivide_left_tri_low(L, b)) * 0.1;
  target += 0.01 * sum(a * b) + r * v + 0.1 * r * a * v - 0.2 * sum(a') + sum(d * v);
  target += 0.01 * sum(tcrossprod(b)) + 0.02 * sum(multiply_lower_tri_self_transpose(L));
  target += 0.1 * sum(diag_pre_multiply(v, b)) - 0.03 * sum(diag_post_multiply(a, r)) + 0.05 * sum(quad_form_diag(spd, v));
  target += 0.1 * sum(rows_dot_product(b, append_col(v, r'))) + squared_distance(v, r') * -0.3 + 0.2 * distance(v, r');
  target += sum(add_diag(a, s)) * 0.1 + sum(col(a, 2) .* v) - sum(row(a, 1) ./ (2 + square(r)));
  target += 0.1 * sum(append_row(a, r)[4, 1 : 2]) + sum(a[2 : 3, 1 : 2]) * 0.2 + 0.4 * dot_product(sub_col(a, 1, 2, 2), head(v, 2));
  target += 0.3 * sum(segment(v, 2, 2)) - sum(tail(r, 1)) * 0.1 + reverse(v)[1] * v[1];
  target += sum(to_matrix(v, 1, N) * a) * 0.05 + to_vector(a)[2] * 0.3 + to_row_vector(b)[4] + to_matrix(to_array_1d(b), 2, N)[2, 1];
  matrix[N, N] K = gp_exp_quad_cov(t, 1 + s, 0.5 + s);
  target += -0.5 * v' * add_diag(K, 0.1) * v;
  matrix[N, N] G = cholesky_decompose(add_diag(K, 0.1));
  target += -0.5 * dot_self(mdivide_left_tri_low(G, v)) - sum(log(diagonal(G)));
  target += sum(identity_matrix(N) * v) + sum(rep_matrix(v, 2)[ : , 2]) + mean(a) + dot_self(r) * -0.1;
  to_vector(a) ~ normal(0, 1);
}
