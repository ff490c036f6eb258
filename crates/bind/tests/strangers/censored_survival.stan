// Times with all kinds of censoring and a Weibull of which the mean is modelled, in the way of brms.
data {
  int<lower=1> N;
  vector<lower=0>[N] Y;
  array[N] int<lower=-1, upper=2> cens;
  vector[N] rcens;
  int<lower=1> K;
  matrix[N, K] X;
}
transformed data {
  array[4] int counts = rep_array(0, 4);
  for (c in cens) {
    counts[c + 2] += 1;
  }
}
parameters {
  vector[K] b;
  real<lower=0> shape;
}
model {
  vector[N] mu = exp(X * b);
  for (n in 1:N) {
    if (cens[n] == 0) {
      target += weibull_lpdf(Y[n] | shape, mu[n] / tgamma(1 + 1 / shape));
    } else if (cens[n] == 1) {
      target += weibull_lccdf(Y[n] | shape, mu[n] / tgamma(1 + 1 / shape));
    } else if (cens[n] == -1) {
      target += weibull_lcdf(Y[n] | shape, mu[n] / tgamma(1 + 1 / shape));
    } else if (cens[n] == 2) {
      target += log_diff_exp(weibull_lcdf(rcens[n] | shape, mu[n] / tgamma(1 + 1 / shape)),
                             weibull_lcdf(Y[n] | shape, mu[n] / tgamma(1 + 1 / shape)));
    }
  }
  target += normal_lpdf(b | 0, 2);
  target += gamma_lpdf(shape | 2, 1);
}
generated quantities {
  real none = counts[1] + counts[3] > 0 ? shape : not_a_number();
}
