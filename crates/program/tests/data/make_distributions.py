"""Log densities of distributions by scipy, at a few points: differences of two points, since constants are left out.

Each line has the name, the arguments, and the log density, with mpmath-free scipy in f64."""
import numpy as np
from scipy import stats

rows = []


def add(name, args, value):
    rows.append(",".join([name, *(repr(float(x)) for x in args), repr(float(value))]))


points = [(0.3, -0.4, 1.7), (2.9, 0.8, 0.6)]
for x, a, b in points:
    add("normal", (x, a, b), stats.norm.logpdf(x, a, b))
    add("lognormal", (x, a, b), stats.lognorm.logpdf(x, b, scale=np.exp(a)))
    add("student_t", (x, 3.5, a, b), stats.t.logpdf(x, 3.5, a, b))
    add("cauchy", (x, a, b), stats.cauchy.logpdf(x, a, b))
    add("double_exponential", (x, a, b), stats.laplace.logpdf(x, a, b))
    add("logistic", (x, a, b), stats.logistic.logpdf(x, a, b))
    add("exponential", (x, b), stats.expon.logpdf(x, scale=1 / b))
    add("gamma", (x, 2.5, b), stats.gamma.logpdf(x, 2.5, scale=1 / b))
    add("inv_gamma", (x, 2.5, b), stats.invgamma.logpdf(x, 2.5, scale=b))
    add("beta", (x / 4, 2.5, 0.7), stats.beta.logpdf(x / 4, 2.5, 0.7))
    add("uniform", (x, -1.0, 5.0), stats.uniform.logpdf(x, -1, 6))
    add("weibull", (x, b, 1.3), stats.weibull_min.logpdf(x, b, scale=1.3))
for y, p in [(1, 0.3), (1, 0.85)]:
    add("bernoulli", (y, p), stats.bernoulli.logpmf(y, p))
    add("bernoulli_logit", (y, np.log(p / (1 - p))), stats.bernoulli.logpmf(y, p))
    add("binomial", (3, 7, p), stats.binom.logpmf(3, 7, p))
    add("binomial_logit", (3, 7, np.log(p / (1 - p))), stats.binom.logpmf(3, 7, p))
    add("poisson", (4, 5 * p), stats.poisson.logpmf(4, 5 * p))
    add("poisson_log", (4, np.log(5 * p)), stats.poisson.logpmf(4, 5 * p))
for mean, size in [(2.5, 1.7), (0.4, 6.0)]:
    p = size / (mean + size)
    add("neg_binomial_2", (4, mean, size), stats.nbinom.logpmf(4, size, p))
    add("neg_binomial_2_log", (4, np.log(mean), size), stats.nbinom.logpmf(4, size, p))
    add("beta_binomial", (3, 7, mean, size), stats.betabinom.logpmf(3, 7, mean, size))
# Two points that differ in the shapes, too.
for nu, a, b in [(3.5, 2.5, 0.7), (9.0, 0.8, 4.0)]:
    add("student_t", (0.3, nu, -0.4, 1.7), stats.t.logpdf(0.3, nu, -0.4, 1.7))
    add("gamma", (0.3, a, b), stats.gamma.logpdf(0.3, a, scale=1 / b))
    add("inv_gamma", (0.3, a, b), stats.invgamma.logpdf(0.3, a, scale=b))
    add("beta", (0.3, a, b), stats.beta.logpdf(0.3, a, b))
print("\n".join(rows))
