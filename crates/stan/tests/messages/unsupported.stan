functions {
  vector rhs(real t, vector y) {
    return -y;
  }
  real part(array[] real x, int start, int end, real mu) {
    return normal_lpdf(x | mu, 1);
  }
  tuple(real, vector) pair(real a) {
    return (a, [a, a]');
  }
}
data {
  array[5] real x;
  complex z;
}
parameters {
  real mu;
}
model {
  array[2] vector[1] y = ode_adjoint_tol_ctl(rhs, [mu]', 0, {1.0, 2.0});
  target += reduce_sum(part, x, 1, mu);
  target += pair(mu).1;
  target += get_real(z + 2i);
  target += normal_lpdf(y[1] | mu, 1);
}
