// A hidden Markov model of two states, seen through normal noise. The states are summed out by the forward algorithm.
data {
  int<lower=1> T;
  vector[T] y;
}
parameters {
  vector<lower=0, upper=1>[2] stay;  // chance to stay in each state
  ordered[2] mu;                     // mean of each state; the order tells the states apart
  real<lower=0> sigma;
}
model {
  stay ~ beta(8, 2);
  mu ~ normal([-2, 2], 1);           // where both means are alike, data say nothing of the states
  sigma ~ lognormal(0, 0.5);

  vector[2] log_alpha = rep_vector(-log(2), 2);   // both states are as likely before the first observation
  for (t in 1:T) {
    vector[2] before = log_alpha;
    log_alpha[1] = normal_lpdf(y[t] | mu[1], sigma)
                   + log_sum_exp(before[1] + log(stay[1]), before[2] + log1m(stay[2]));
    log_alpha[2] = normal_lpdf(y[t] | mu[2], sigma)
                   + log_sum_exp(before[1] + log1m(stay[1]), before[2] + log(stay[2]));
  }
  target += log_sum_exp(log_alpha);
}
