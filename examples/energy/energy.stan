// What a household's meter says of its appliances: each is on or off, and only their sum is read.
functions {
  // Chances to come from a joint state, a row, to another, a column: each appliance is switched by itself.
  matrix joint_chances(matrix on, vector start, vector stop) {
    int S = rows(on);
    matrix[S, S] next;
    for (i in 1:S) {
      for (j in 1:S) {
        next[i, j] = 1;
        for (k in 1:cols(on)) {
          real change = on[i, k] == 1 ? stop[k] : start[k];
          next[i, j] *= on[i, k] == on[j, k] ? 1 - change : change;
        }
      }
    }
    return next;
  }
  // Log densities of the readings: a column for each half-hour, a row for each joint state.
  matrix log_readings(vector kwh, vector usual, vector load, real noise) {
    matrix[size(load), size(kwh)] found;
    for (t in 1:size(kwh)) {
      for (s in 1:size(load)) {
        found[s, t] = normal_lpdf(kwh[t] | usual[t] + load[s], noise);
      }
    }
    return found;
  }
}
data {
  int<lower=1> T;                                     // half-hours
  vector[T] kwh;                                      // the meter's readings
  vector[T] hour;                                     // of the day, from 0 to 24
  int<lower=1, upper=4> K;                            // appliances
  vector<lower=0>[K] nameplate;                       // kWh that each takes in half an hour, as its maker says
}
transformed data {
  int S = 1;                                          // joint states
  for (k in 1:K) S *= 2;
  matrix[S, K] on;                                    // 1 where an appliance is on
  {
    int period = 1;
    for (k in 1:K) {
      for (s in 1:S) on[s, k] = ((s - 1) %/% period) % 2;
      period *= 2;
    }
  }
  vector[S] first = rep_vector(1.0 / S, S);           // before the first half-hour anything may be on
  vector[T] morning = sin(2 * pi() * hour / 24);
  vector[T] night = cos(2 * pi() * hour / 24);
}
parameters {
  vector<offset=log(nameplate), multiplier=0.05>[K] log_power;  // near what the nameplates say
  vector<lower=0, upper=1>[K] start;                  // chances to be switched on, and off, in half an hour
  vector<lower=0, upper=1>[K] stop;
  real<lower=0, upper=1> base;                        // kWh of all else in half an hour, and its course over the day
  real<multiplier=0.1> by_morning;
  real<multiplier=0.1> by_night;
  real<lower=0> noise;
}
transformed parameters {
  vector[K] power = exp(log_power);                   // kWh in half an hour
}
model {
  log_power ~ normal(log(nameplate), 0.05);
  start ~ beta(1, 9);
  stop ~ beta(2, 6);
  base ~ normal(0.4, 0.1);
  by_morning ~ normal(0, 0.1);
  by_night ~ normal(0, 0.1);
  noise ~ normal(0, 0.2);
  // The forward algorithm: the chances of the joint states given the readings so far. Densities are in units of the
  // likeliest state's, so that some are never too small.
  matrix[S, S] next = joint_chances(on, start, stop);
  matrix[S, T] reading = log_readings(kwh, base + by_morning * morning + by_night * night, on * power, noise);
  vector[S] now = first .* exp(reading[, 1] - max(reading[, 1]));
  target += max(reading[, 1]) + log(sum(now));
  now /= sum(now);
  for (t in 2:T) {
    row_vector[S] before = now';
    for (j in 1:S) now[j] = before * next[, j] * exp(reading[j, t] - max(reading[, t]));
    target += max(reading[, t]) + log(sum(now));
    now /= sum(now);
  }
}
generated quantities {
  // The states, drawn given all readings, and what each appliance took.
  array[T] int state;
  vector[K] used;                                     // kWh in all
  real rest;
  array[T] real kwh_rep;
  {
    vector[T] usual = base + by_morning * morning + by_night * night;
    state = hmm_latent_rng(log_readings(kwh, usual, on * power, noise), joint_chances(on, start, stop), first);
    vector[T] load = on[state] * power;
    used = power .* (on[state]' * ones_vector(T));
    rest = sum(kwh) - sum(used);
    kwh_rep = normal_rng(usual + load, noise);
  }
}
