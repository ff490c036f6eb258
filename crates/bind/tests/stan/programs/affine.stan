// Offsets and multipliers of data and of parameters.
data {
  int N;
  vector[N] centre;
  vector<lower=0>[N] scale;
}
parameters {
  real<offset=1.5> a;
  real<multiplier=2.5> b;
  real<offset=a, multiplier=exp(b / 3)> c;
  vector<offset=centre, multiplier=scale>[N] v;
  vector<offset=a, multiplier=scale>[N] w;
  array[2] real<multiplier=exp(a / 4)> x;
  matrix<offset=b, multiplier=0.5>[2, 2] m;
  row_vector<offset=centre'>[N] r;
}
model {
  a ~ normal(1, 2);
  b ~ student_t(4, 0, 3);
  c ~ normal(a, 1.5);
  v ~ normal(centre, scale);
  w ~ cauchy(a, scale);
  x ~ double_exponential(b, 2);
  to_vector(m) ~ normal(c, 1);
  r ~ logistic(0, 1);
}
