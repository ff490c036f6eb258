// An epidemic by the renewal equation with delays of reports, after the programs of the covid years.
functions {
  vector delays(real mean_delay, real sd_delay, int most) {
    vector[most] p;
    real alpha = square(mean_delay / sd_delay);
    for (d in 1:most) {
      p[d] = exp(gamma_lpdf(d | alpha, alpha / mean_delay));
    }
    return p / sum(p);
  }
  vector convolved(vector x, vector reversed) {
    int t = num_elements(x);
    int most = num_elements(reversed);
    vector[t] out = rep_vector(1e-5, t);
    for (s in 1:t) {
      out[s] += dot_product(x[max(1, s - most + 1):s], tail(reversed, min(most, s)));
    }
    return out;
  }
}
data {
  int<lower=1> T;
  int<lower=1> seeded;
  array[T] int<lower=0> cases;
  int<lower=1> G;
  array[2] real generation;
  array[2] real reporting;
}
transformed data {
  vector[G] gen_rev = reverse(delays(generation[1], generation[2], G));
  vector[G] rep_rev = reverse(delays(reporting[1], reporting[2], G));
}
parameters {
  real<lower=0> i0;
  real log_r0;
  vector[T - seeded] steps;
  real<lower=0> sigma;
  real<lower=0> inv_phi;
}
transformed parameters {
  vector[T - seeded] R = exp(log_r0 + cumulative_sum(steps) * sigma);
  vector[T] infections;
  for (s in 1:seeded) {
    infections[s] = i0;
  }
  for (s in (seeded + 1):T) {
    int first = max(1, s - G);
    infections[s] = R[s - seeded] * dot_product(infections[first:(s - 1)], tail(gen_rev, s - first));
  }
  vector<lower=0>[T] expected = convolved(infections, rep_rev);
}
model {
  i0 ~ lognormal(3, 1);
  log_r0 ~ normal(0, 0.5);
  steps ~ std_normal();
  sigma ~ normal(0, 0.2);
  inv_phi ~ exponential(5);
  cases ~ neg_binomial_2(expected, 1 / inv_phi);
}
generated quantities {
  array[T] int again = neg_binomial_2_rng(expected, 1 / inv_phi);
}
