// Forms that programs of the wild use: compound declarations and operators, loops over elements, reads of target.
#include <stretch.stanfunctions>
data {
  int N, M;
  array[N] vector[M] v;
  array[2, N] matrix[M, 2] a;
  array[N] int k;
}
transformed data {
  int steps = 0, sum_of_odd = 0;
  while (1) {
    steps += 1;
    if (steps % 2 == 0) continue;
    if (steps > 9) break;
    sum_of_odd += steps;
  }
  array[N] int doubled = k;
  for (i in 1:N) doubled[i] *= 2;
  real total = 0;
  for (row in v) {
    for (x in row) total += x;
  }
  matrix[M, 2] summed = rep_matrix(0, M, 2);
  for (i in 1:2) for (m in a[i]) summed += m;
  summed ./= 2;
  summed .*= summed;
  if (N < 0) reject("N is ", N);
  print("odd: ", sum_of_odd, " total: ", total);
}
parameters {
  real<lower=0> s;
  real<lower=-s, upper=2 * s> inside;
  vector<offset=inside, multiplier=s>[M] z;
  array[2] row_vector<upper=s>[M] below;
  matrix[M, 2] w;
}
transformed parameters {
  real sign_of = inside > 0 ? inside : -inside;
  matrix[2, M] turned = w';
  real early = target();
  real form = z' * w * turned * z;
}
model {
  profile("all") {
    s ~ exponential(1) T[0.01, ];
    inside ~ normal(0, sign_of + 1);
    z ~ normal(inside, s);
    for (row in below) row ~ normal(stretched(s), 2);
    to_vector(w) ~ normal(to_vector(summed), 1);
    target += -0.001 * square(target() - early);
    v ~ multi_normal(z, identity_matrix(M) * (1 + s));
    if (is_nan(s)) reject("s is ", s);
    form ~ normal(sum_of_odd, 10);
  }
}
generated quantities {
  array[2] int order = sort_indices_asc({s, inside});
  real larger = fmax(s, inside) + (s > 1 ? 1 : 0);
}
