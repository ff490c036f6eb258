// Solvers of differential equations, new and old, with arguments of many types.
functions {
  vector flow(real t, vector y, real a, vector b, array[] real c, matrix m, array[] int k, data vector d) {
    vector[2] dy;
    dy[1] = -a * y[1] + b[1] * tanh(y[2]) * c[k[1]] + d[1] * sin(t);
    dy[2] = m[1, 2] * y[1] - b[2] * y[2] + dot_product(d, to_vector(c));
    return dy;
  }
  vector spin(real t, vector y, matrix m) {
    return m * y;
  }
  array[] real growth(real t, array[] real y, array[] real theta, array[] real x_r, array[] int x_i) {
    return {theta[1] * y[1] * (1 - y[1] / theta[2]) - x_r[x_i[1]] * y[1]};
  }
}
data {
  int T;
  array[T] real times;
  vector[2] d;
  array[2] real x_r;
  array[T] vector[2] y;
}
transformed data {
  array[1] int x_i = {2};
  array[1] vector[2] known = ode_rk45(spin, d, 0, {1.0}, [[0, 1], [-1, 0]]);
}
parameters {
  real<lower=0> a;
  vector<lower=0>[2] b;
  array[2] real c;
  matrix[2, 2] m;
  vector[2] first;
  real<lower=0> size;
  real<lower=0> room;
}
transformed parameters {
  array[T] vector[2] rk45 = ode_rk45_tol(flow, first, 0, times, 1e-10, 1e-10, 100000, a, b, c, m, {1}, d);
  array[T] vector[2] ckrk = ode_ckrk_tol(flow, [first[2], 1]', 0.1, times, 1e-10, 1e-10, 100000, a, b, c, m, {2}, d);
}
model {
  array[T] vector[2] bdf = ode_bdf_tol(flow, d, -0.5, times, 1e-10, 1e-10, 100000, a, b, {c[1], 0.5}, m, {2}, d);
  array[T] vector[2] adams = ode_adams(flow, first, 0, times, a, b, c, m, {1}, d);
  array[T] vector[2] turned = ode_bdf(spin, first, 0, times, m - m');
  array[T, 1] real old_rk45 = integrate_ode_rk45(growth, {size}, 0, times, {a, room}, x_r, x_i, 1e-10, 1e-10, 1e6);
  array[T, 1] real old_bdf = integrate_ode_bdf(growth, {0.5}, 0, times, {0.7, room}, x_r, x_i);
  array[T, 1] real old_adams = integrate_ode_adams(growth, {size}, 0, times, {a, 3}, x_r, x_i);
  a ~ lognormal(0, 1);
  b ~ lognormal(0, 1);
  c ~ std_normal();
  to_vector(m) ~ std_normal();
  first ~ std_normal();
  size ~ lognormal(0, 1);
  room ~ lognormal(1, 1);
  for (t in 1 : T) {
    y[t] ~ normal(rk45[t], 1);
    y[t] ~ normal(ckrk[t] + known[1], 1.5);
    y[t] ~ normal(bdf[t], 2);
    y[t] ~ normal(adams[t], 3);
    y[t] ~ normal(turned[t], 4);
    y[t, 1] ~ normal(old_rk45[t, 1] + old_bdf[t, 1], old_adams[t, 1] + 0.1);
  }
}
