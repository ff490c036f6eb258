functions {
  real noise_rng(real s) {
    return normal_rng(0, s);
  }
  real noise(real s) {
    return normal_rng(0, s);
  }
  real half(real s) {
    if (s > 0) {
      return s;
    }
  }
  real late(real s);
  real f_lpdf(array[] int k, real s) {
    return s;
  }
  void g(real s) {
    return s;
  }
  vector p_lpmf(int k, real s) {
    return [s, s]';
  }
  real normal_lpdf(real a, real b, real c) {
    return a;
  }
  real q(real s, data real t) {
    s = t;
    return s;
  }
}
data {
  int N;
}
transformed data {
  real t = target();
  jacobian += 1;
}
parameters {
  real mu;
}
transformed parameters {
  real a = noise_rng(1);
  mu ~ normal(0, 1);
}
model {
  real b = noise_rng(1);
  mu ~ normal_lpdf(0, 1);
  target += normal_lpdf(mu, 0, 1);
  target += exp(mu | 1);
  target += q(mu, mu);
  mu ~ std_normal() T[0, ];
  mu ~ skew_double_exponential(0, 1, 0.5) T[A, ];
  noise(1.0);
  target += g(1.0);
}
generated quantities {
  real l = normal_lupdf(mu | 0, 1);
  target += 1;
  array[N] real s = size(mu);
}
