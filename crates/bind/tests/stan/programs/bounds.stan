// Bounds: one, both, none, of scalars and of each element, of data and of parameters.
data {
  int N;
  vector[N] low;
  array[N] real high;
}
parameters {
  real a;
  real<lower=-1.5> b;
  real<upper=2> c;
  real<lower=-1, upper=3> d;
  real<lower=a> e;
  real<upper=a> f;
  real<lower=a, upper=a + exp(b)> g;
  real<lower=negative_infinity()> h;
  real<lower=0, upper=positive_infinity()> i;
  vector<lower=low>[N] v;
  array[N] real<upper=high> w;
  row_vector<lower=low', upper=low' + 2>[N] r;
  matrix<lower=0.5>[2, 3] m;
  array[2] vector<lower=0, upper=1>[3] u;
  array[2, 2] real<lower=-d> x;
}
model {
  target += -square(a) - 0.5 * square(b - 1) - c * d + sin(e) - square(f - g) + h * 0.1 - square(h) - i;
  target += -sum(square(v)) - dot_product(to_vector(w), v) - 0.3 * dot_self(r);
  target += -0.1 * sum(m * m') + m[2, 3] * m[1, 2];
  for (k in 1:2) {
    target += dot_product(u[k], [0.3, -1.2, 2.5]');
    for (l in 1:2) {
      target += -k * square(x[k, l]) - l * x[k, l];
    }
  }
}
