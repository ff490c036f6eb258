// Who solves which task: abilities of persons, difficulty and discrimination of tasks (two-parameter logistic).
data {
  int<lower=0> N;                                // answers
  int<lower=1> I;                                // tasks
  int<lower=1> J;                                // persons
  array[N] int<lower=1, upper=I> task;
  array[N] int<lower=1, upper=J> person;
  array[N] int<lower=0, upper=1> solved;
}
parameters {
  vector[I] difficulty;
  vector<lower=0>[I] discrimination;
  vector[J] ability;
}
model {
  difficulty ~ normal(0, 1.5);
  discrimination ~ lognormal(0, 0.5);
  ability ~ std_normal();
  solved ~ bernoulli_logit(discrimination[task] .* (ability[person] - difficulty[task]));
}
