// Doses that are absorbed and eliminated, with effects of patients: after the two-compartment models of Torsten's and
// Stan's case studies.
functions {
  vector two_compartments(real t, vector amount, real absorbed, real eliminated, real exchanged, data real infused) {
    vector[2] dydt;
    real inflow = 0;
    if (t < infused) {
      inflow = 4 * (1 - t / infused) ^ 3 / infused;
    }
    dydt[1] = inflow - (eliminated + exchanged) * amount[1] + absorbed * amount[2];
    dydt[2] = exchanged * amount[1] - absorbed * amount[2];
    return dydt;
  }
}
data {
  int<lower=1> J;
  int<lower=1> T;
  array[T] real<lower=0> times;
  array[J] real<lower=0> infused;
  array[J] vector<lower=0>[T] concentration;
}
parameters {
  real log_absorbed;
  real log_eliminated;
  real log_exchanged;
  real<lower=0> spread;
  vector[J] effect;
  real<lower=0> sigma;
}
transformed parameters {
  array[J] vector[T] mu;
  for (j in 1 : J) {
    array[T] vector[2] amount = ode_rk45_tol(two_compartments, rep_vector(0, 2), 0, times, 1e-11, 1e-12, 10000,
                                             exp(log_absorbed), exp(log_eliminated + spread * effect[j]),
                                             exp(log_exchanged), infused[j]);
    for (t in 1 : T) {
      mu[j, t] = log(amount[t, 1]);
    }
  }
}
model {
  log_absorbed ~ normal(-1, 0.5);
  log_eliminated ~ normal(-1, 0.5);
  log_exchanged ~ normal(-1, 0.5);
  spread ~ normal(0, 0.5);
  effect ~ std_normal();
  sigma ~ normal(0, 0.5);
  for (j in 1 : J) {
    concentration[j] ~ lognormal(mu[j], sigma);
  }
}
generated quantities {
  real half_life = log(2) / exp(log_eliminated);
  array[J] real later;
  for (j in 1 : J) {
    later[j] = ode_bdf(two_compartments, [0, 0]', 0, {10.0}, exp(log_absorbed), exp(log_eliminated + spread * effect[j]),
                       exp(log_exchanged), infused[j])[1, 1];
  }
}
