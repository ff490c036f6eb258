// Functions of one or two reals, at parameters.
parameters {
  real x;
  real y;
  real<lower=0> p;
  real<lower=0> q;
  real<lower=0, upper=1> u;
  vector[3] v;
}
model {
  target += exp(x / 2) + log(p) - sqrt(p) * 2 + square(x) * -1 + inv(p) * -0.1 + inv_sqrt(q) * -0.2 + inv_square(q) * -0.01;
  target += log1p(p) + log1m(u) + expm1(x / 3) + log1p_exp(x) - log1m_exp(-p) + log_inv_logit(x) + log1m_inv_logit(y);
  target += inv_logit(x) - logit(u) + Phi(x) + Phi_approx(y) + inv_Phi(u) * 0.3;
  target += lgamma(p) + sin(x) + cos(y) + tanh(x * y) + atan(x) - abs(y);
  target += pow(p, y) * -0.01 + p ^ 2.5 * -0.02 + x ^ 3 * 0.1 + 2 ^ y * -0.2 + p ^ -2 * 0.001 + q ^ 0.5;
  target += fmin(x, y) + fmax(x, 2 * y) + fma(x, y, p) * 0.1 + log_sum_exp(x, y) - log_diff_exp(x + p + 0.1, x) + log_mix(u, x, y);
  target += sum(exp(v) .* v ./ (1 + square(v))) - sum(v .^ 2) + sum(pow(exp(v), 1.5)) * -0.1 + sum(-v) + sum(2 ./ exp(v)) * -0.1;
  target += -(x + y) * (x - y) / (1 + p) - square(y) * square(y) - 0.1 * square(p) - 0.1 * square(q);
  target += int_step(3) * y + step(2.0) * x + sum(log(exp(v) + u)) - sum(inv_logit(v));
}
