// A hidden Markov model by the forward algorithm, with the most probable path afterwards.
data {
  int<lower=1> K;
  int<lower=1> T;
  vector[T] y;
  vector<lower=0>[K] alpha;
}
parameters {
  array[K] simplex[K] theta;
  ordered[K] mu;
  real<lower=0> sigma;
}
model {
  array[K] real acc;
  array[T, K] real gamma;
  for (k in 1:K) theta[k] ~ dirichlet(alpha);
  mu ~ normal(0, 3);
  sigma ~ lognormal(0, 1);
  for (k in 1:K) gamma[1, k] = normal_lpdf(y[1] | mu[k], sigma) - log(K);
  for (t in 2:T) {
    for (k in 1:K) {
      for (j in 1:K) {
        acc[j] = gamma[t - 1, j] + log(theta[j, k]) + normal_lpdf(y[t] | mu[k], sigma);
      }
      gamma[t, k] = log_sum_exp(acc);
    }
  }
  target += log_sum_exp(gamma[T]);
}
