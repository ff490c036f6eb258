// Neal's funnel: the scale of nine variables varies over orders of magnitude. There are no data.
parameters {
  real v;
  vector[9] x;
}
model {
  v ~ normal(0, 3);
  x ~ normal(0, exp(v / 2));
}
generated quantities {
  real log_x = log(abs(x[1]));       // has moments that draws can tell, which x itself has hardly
}
