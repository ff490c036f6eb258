// Times until an event, some of them cut short: Weibull regression with right censoring.
data {
  int<lower=0> N;
  vector<lower=0>[N] time;                   // until the event, or the end of observation
  array[N] int<lower=0, upper=1> event;      // 0 where observation ended before
  vector[N] treated;
}
parameters {
  real<lower=0> shape;
  real intercept;                            // log of the scale without treatment
  real effect;                               // of the treatment on the log of the scale
}
transformed parameters {
  vector[N] scale = exp(intercept + effect * treated);
}
model {
  shape ~ lognormal(0, 0.5);
  intercept ~ normal(0, 2);
  effect ~ normal(0, 1);
  for (n in 1:N) {
    if (event[n]) {
      time[n] ~ weibull(shape, scale[n]);
    } else {
      target += weibull_lccdf(time[n] | shape, scale[n]);
    }
  }
}
