// User functions: densities, functions that add to target, recursion, containers, loops that end early.
functions {
  real shifted_lpdf(real x, real m, real s) {
    return normal_lpdf(x - 1 | m, s) + 0.5 * x;
  }
  real counted_lpmf(int k, real rate) {
    return k * log(rate) - rate;
  }
  void prior_lp(vector x) {
    x ~ normal(0, 2);
    target += -sum(exp(0.1 * x));
  }
  real power_of(real x, int n) {
    if (n == 0) {
      return 1;
    }
    return x * power_of(x, n - 1);
  }
  vector smoothed(vector x, real w) {
    int n = num_elements(x);
    vector[n] y = x;
    for (i in 2 : n) {
      y[i] = w * y[i - 1] + (1 - w) * x[i];
    }
    return y;
  }
  array[] vector twice(array[] vector x) {
    array[size(x)] vector[size(x[1])] y;
    for (i in 1 : size(x)) {
      y[i] = 2 * x[i];
    }
    return y;
  }
  real first_above(vector x, data array[] real limits) {
    real total = 0;
    for (l in limits) {
      if (l > 1.5) {
        break;
      }
      if (l < 0) {
        continue;
      }
      total += l * sum(x);
    }
    return total;
  }
  matrix outer(vector a, row_vector b) {
    return a * b;
  }
}
data {
  int N;
  vector[N] y;
  array[N] int k;
  array[4] real limits;
}
transformed data {
  int digits = 0;
  int rest = 1000;
  while (rest > 0) {
    digits += 1;
    rest = rest %/% 10;
  }
}
parameters {
  vector[N] x;
  real m;
  real<lower=0> s;
  real<lower=0, upper=1> w;
  array[2] vector[2] v;
}
transformed parameters {
  vector[N] z = smoothed(x, w);
  real<lower=0> s2 = square(s) + 0.1;
}
model {
  prior_lp(x);
  for (i in 1 : N) {
    y[i] ~ shifted(m + z[i], s);
    k[i] ~ counted(exp(z[i]));
  }
  target += shifted_lpdf(m | 0, s2) + counted_lpmf(digits | s) - power_of(m, 4) + first_above(x, limits);
  array[2] vector[2] d = twice(v);
  target += -dot_self(d[1]) - dot_self(v[2]) + 0.1 * sum(outer(x, z'));
  {
    real local = 0;
    for (i in 1 : N) {
      local += i % 2 == 0 ? x[i] * m : -x[i] / s2;
    }
    target += local;
  }
}
