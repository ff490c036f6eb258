// Stochastic matrices and matrices that sum to 0.
parameters {
  column_stochastic_matrix[3, 2] c;
  row_stochastic_matrix[2, 4] r;
  array[2] column_stochastic_matrix[2, 3] cc;
  array[2] row_stochastic_matrix[3, 2] rr;
  sum_to_zero_matrix[3, 4] z;
  array[2] sum_to_zero_matrix[2, 3] zz;
}
model {
  for (j in 1:2) {
    target += 1.5 * log(c[1, j]) + 0.5 * j * log(c[2, j]) + log(c[3, j]);
    target += dot_product(log(r[j]), [0.4, 1.4, j, 2]);
    for (i in 1:3) {
      target += j * i * 0.2 * log(cc[j][1, i]) + log(cc[j][2, i]) + 2 * log(rr[j][i, 1]) + i * log(rr[j][i, 2]);
    }
    target += -j * sum(square(to_vector(zz[j]))) + zz[j][1, 2] * z[2, j];
  }
  to_vector(z) ~ normal(0.5, 2);
}
