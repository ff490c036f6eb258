// Dawid and Skene's raters with the true class summed out.
data {
  int<lower=2> K;
  int<lower=1> I;
  int<lower=1> J;
  int<lower=1> N;
  array[N] int<lower=1, upper=I> ii;
  array[N] int<lower=1, upper=J> jj;
  array[N] int<lower=1, upper=K> y;
  vector<lower=0>[K] alpha;
  array[K] vector<lower=0>[K] beta;
}
parameters {
  simplex[K] pi;
  array[J, K] simplex[K] theta;
}
transformed parameters {
  array[I] vector[K] log_p_y_and_z;
  for (i in 1:I) {
    log_p_y_and_z[i] = log(pi);
  }
  for (n in 1:N) {
    for (k in 1:K) {
      log_p_y_and_z[ii[n], k] += log(theta[jj[n], k, y[n]]);
    }
  }
}
model {
  pi ~ dirichlet(alpha);
  for (j in 1:J) for (k in 1:K) theta[j, k] ~ dirichlet(beta[k]);
  for (i in 1:I) target += log_sum_exp(log_p_y_and_z[i]);
}
generated quantities {
  array[I] vector[K] p_z;
  for (i in 1:I) p_z[i] = softmax(log_p_y_and_z[i]);
}
