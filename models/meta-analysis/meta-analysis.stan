// Trials of one treatment, each with a control group: the effect in each trial, and over trials.
data {
  int<lower=1> J;                        // trials
  array[J] int<lower=0> treated;         // patients treated
  array[J] int<lower=0> died;            // of them
  array[J] int<lower=0> controls;        // patients not treated
  array[J] int<lower=0> controls_died;   // of them
}
parameters {
  real effect;                           // on the log odds of death, in a typical trial
  real<lower=0> tau;                     // spread of trials
  vector[J] baseline;                    // log odds of death without treatment
  vector[J] delta;                       // effect in each trial
}
model {
  effect ~ normal(0, 1);
  tau ~ normal(0, 0.5);
  baseline ~ normal(-2, 1.5);
  delta ~ normal(effect, tau);
  controls_died ~ binomial_logit(controls, baseline);
  died ~ binomial_logit(treated, baseline + delta);
}
