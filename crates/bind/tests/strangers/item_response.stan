// Two-parameter item response with a regression of the abilities, after edstan.
functions {
  matrix obtain_adjustments(matrix W) {
    real min_w;
    real max_w;
    int minmax_count;
    matrix[2, cols(W)] adj;
    adj[1, 1] = 0;
    adj[2, 1] = 1;
    if (cols(W) > 1) {
      for (k in 2:cols(W)) {
        min_w = min(W[, k]);
        max_w = max(W[, k]);
        minmax_count = 0;
        for (j in 1:rows(W)) {
          minmax_count = minmax_count + (W[j, k] == min_w || W[j, k] == max_w);
        }
        if (minmax_count == rows(W)) {
          adj[1, k] = mean(W[, k]);
          adj[2, k] = max_w - min_w;
        } else {
          adj[1, k] = mean(W[, k]);
          adj[2, k] = sd(W[, k]) * 2;
        }
      }
    }
    return adj;
  }
}
data {
  int<lower=1> I;
  int<lower=1> J;
  int<lower=1> N;
  array[N] int<lower=1, upper=I> ii;
  array[N] int<lower=1, upper=J> jj;
  array[N] int<lower=0, upper=1> y;
  int<lower=1> K;
  matrix[J, K] W;
}
transformed data {
  matrix[2, K] adj = obtain_adjustments(W);
  matrix[J, K] W_adj;
  for (k in 1:K) for (j in 1:J) W_adj[j, k] = (W[j, k] - adj[1, k]) / adj[2, k];
}
parameters {
  vector<lower=0>[I] alpha;
  sum_to_zero_vector[I] beta;
  vector[J] theta;
  vector[K] lambda_adj;
}
model {
  alpha ~ lognormal(1, 1);
  beta ~ normal(0, 3);
  lambda_adj ~ student_t(3, 0, 1);
  theta ~ normal(W_adj * lambda_adj, 1);
  y ~ bernoulli_logit(alpha[ii] .* theta[jj] - beta[ii]);
}
generated quantities {
  vector[K] lambda = lambda_adj ./ adj[2, :]';
  lambda[1] = W_adj[1, 1:K] * lambda_adj[1:K] - W[1, 2:K] * lambda[2:K];
}
