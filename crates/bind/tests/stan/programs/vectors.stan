// Ordered vectors, simplexes, unit vectors, vectors that sum to 0, and arrays of them.
parameters {
  ordered[4] o;
  array[2] ordered[3] oo;
  positive_ordered[3] p;
  array[2, 2] positive_ordered[2] pp;
  simplex[4] s;
  array[3] simplex[3] ss;
  simplex[2] s2;
  unit_vector[3] u;
  array[2] unit_vector[2] uu;
  sum_to_zero_vector[5] z;
  array[2] sum_to_zero_vector[3] zz;
}
model {
  o ~ normal(0, 2);
  p ~ gamma(2, 1.5);
  s ~ dirichlet([0.5, 1.5, 2.5, 4]');
  z ~ normal(0, 1.3);
  target += dot_product(u, [1.2, -0.4, 0.7]) + 0.3 * uu[1][1] * uu[2][2] + uu[1, 2];
  target += 2 * log(s2[1]) + 3.5 * log(s2[2]);
  for (k in 1:2) {
    oo[k] ~ student_t(3, k, 1.5);
    zz[k] ~ double_exponential(0.1 * k, 2);
    for (j in 1:2) {
      pp[k, j] ~ lognormal(0.1 * k, 0.5 * j);
    }
  }
  for (k in 1:3) {
    ss[k] ~ dirichlet(rep_vector(1.5 * k, 3));
    target += k * ss[k, 2] * s[k];
  }
}
