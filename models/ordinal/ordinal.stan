// Answers on a scale of ordered grades, by a property of who answers: ordered logistic regression.
data {
  int<lower=0> N;
  int<lower=3> K;                            // grades
  vector[N] x;
  array[N] int<lower=1, upper=K> grade;
}
parameters {
  real slope;
  ordered[K - 1] cut;                        // where one grade ends and the next begins
}
model {
  slope ~ normal(0, 1);
  cut ~ normal(0, 3);
  grade ~ ordered_logistic(slope * x, cut);
}
