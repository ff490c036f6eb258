"""Writes generators.csv: what draws of Stan's distributions must look like, by SciPy (1.17).

A row has the function, its arguments (`sizes:numbers`, parted by spaces), a statistic of a draw, edges of bins, the bins'
probabilities, and the chi-square that 1 of 10^6 good generators exceeds. Statistics: `value`; `linear:w`, the sum of w x;
`factor:c`, |c' L|^2 of a square matrix L.
"""

import itertools

import numpy as np
from scipy import stats

BINS = 32
rows = []


def arg(x):
    x = np.asarray(x, float)
    return "x".join(map(str, x.shape)) + ":" + ",".join(repr(float(v)) for v in x.ravel())


def add(name, args, statistic, edges, probabilities):
    limit = stats.chi2.isf(1e-6, len(probabilities) - 1)
    numbers = lambda values: ",".join(repr(float(v)) for v in values)
    rows.append(";".join([name, " ".join(map(arg, args)), statistic, numbers(edges), numbers(probabilities), repr(float(limit))]))


def real(name, args, law, statistic="value", change=lambda x: x):
    edges = law.ppf(np.arange(1, BINS) / BINS)
    probabilities = np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]]))
    add(name, args, statistic, change(edges), probabilities)


def whole(name, args, law, statistic="value"):
    """Bins of at least 2 in 10,000: edges lie between whole numbers."""
    low, high = int(law.ppf(1e-4)), int(law.ppf(1 - 1e-4))
    step = max(1, (high - low) // BINS)
    edges, last = [], 0.0
    for k in range(low, high + 1, step):
        below = law.cdf(k)
        if below - last > 2e-4 and 1 - below > 2e-4:
            edges.append(k + 0.5)
            last = below
    probabilities = np.diff(np.concatenate([[0.0], law.cdf(np.floor(edges)), [1.0]]))
    add(name, args, statistic, edges, probabilities)


def category(name, args, probabilities, statistic="value", first=1):
    add(name, args, statistic, first + 0.5 + np.arange(len(probabilities) - 1), probabilities)


s = stats
real("normal", [1.5, 2.0], s.norm(1.5, 2.0))
real("std_normal", [], s.norm())
real("lognormal", [0.3, 0.7], s.lognorm(0.7, scale=np.exp(0.3)))
for nu in [0.7, 4.0, 50.0]:
    real("student_t", [nu, -1.0, 2.0], s.t(nu, -1.0, 2.0))
real("cauchy", [1.0, 3.0], s.cauchy(1.0, 3.0))
real("double_exponential", [1.0, 3.0], s.laplace(1.0, 3.0))
real("logistic", [-1.0, 0.5], s.logistic(-1.0, 0.5))
real("gumbel", [-1.0, 0.5], s.gumbel_r(-1.0, 0.5))
for alpha in [-3.0, 0.0, 2.0]:
    real("skew_normal", [1.0, 2.0, alpha], s.skewnorm(alpha, 1.0, 2.0))
for tau in [0.2, 0.7]:
    kappa = np.sqrt(tau / (1 - tau))
    law = s.laplace_asymmetric(kappa, 1.0, kappa * 1.5 / (2 * tau))
    real("skew_double_exponential", [1.0, 1.5, tau], law)
real("exp_mod_normal", [1.0, 2.0, 0.4], s.exponnorm(1 / (2.0 * 0.4), 1.0, 2.0))
for kappa in [0.3, 5.0]:
    real("von_mises", [0.0, kappa], s.vonmises(kappa))
    real("von_mises", [2.0, kappa], s.vonmises(kappa, loc=2.0))
real("uniform", [-1.0, 4.0], s.uniform(-1.0, 5.0))
for a, b in [(0.3, 0.6), (2.0, 5.0), (1.0, 1.0)]:
    real("beta", [a, b], s.beta(a, b))
real("beta_proportion", [0.2, 7.0], s.beta(1.4, 5.6))
real("exponential", [2.5], s.expon(scale=0.4))
for shape in [0.2, 1.0, 7.5, 1e6]:
    real("gamma", [shape, 2.0], s.gamma(shape, scale=0.5))
    real("inv_gamma", [shape, 2.0], s.invgamma(shape, scale=2.0))
real("chi_square", [3.0], s.chi2(3.0))
real("inv_chi_square", [3.0], s.invgamma(1.5, scale=0.5))
real("scaled_inv_chi_square", [3.0, 2.0], s.invgamma(1.5, scale=6.0))
real("rayleigh", [2.0], s.rayleigh(scale=2.0))
real("weibull", [1.7, 2.0], s.weibull_min(1.7, scale=2.0))
real("frechet", [1.7, 2.0], s.invweibull(1.7, scale=2.0))
real("loglogistic", [2.0, 1.5], s.fisk(1.5, scale=2.0))
real("pareto", [2.0, 1.5], s.pareto(1.5, scale=2.0))
real("pareto_type_2", [-1.0, 2.0, 1.5], s.lomax(1.5, loc=-1.0, scale=2.0))

whole("bernoulli", [0.3], s.bernoulli(0.3))
whole("bernoulli_logit", [-0.4], s.bernoulli(1 / (1 + np.exp(0.4))))
for n, p in [(7, 0.3), (7, 0.8), (100, 0.03), (100, 0.4), (2000, 0.97), (10**6, 0.25)]:
    whole("binomial", [n, p], s.binom(n, p))
whole("beta_binomial", [30, 0.7, 2.0], s.betabinom(30, 0.7, 2.0))
for mean in [0.3, 4.0, 9.99, 10.0, 33.0, 5000.0, 1e7]:
    whole("poisson", [mean], s.poisson(mean))
whole("poisson_log", [1.5], s.poisson(np.exp(1.5)))
whole("neg_binomial", [2.5, 0.4], s.nbinom(2.5, 0.4 / 1.4))
whole("neg_binomial_2", [12.0, 3.0], s.nbinom(3.0, 3.0 / 15.0))
whole("neg_binomial_2_log", [1.2, 0.6], s.nbinom(0.6, 0.6 / (0.6 + np.exp(1.2))))
whole("beta_neg_binomial", [4.0, 6.0, 2.0], s.betanbinom(4.0, 6.0, 2.0))
whole("yule_simon", [2.5], s.yulesimon(2.5))
whole("discrete_range", [-3, 8], s.randint(-3, 9))
for n, a, b in [(10, 15, 30), (40, 15, 30), (6, 100, 3)]:
    whole("hypergeometric", [n, a, b], s.hypergeom(a + b, a, n))

theta = [0.1, 0.0, 0.35, 0.55]
category("categorical", [[0.1, 0.2, 0.3, 0.4]], [0.1, 0.2, 0.3, 0.4])
powers = np.exp([0.3, -1.0, 800.0 - 799.0])
category("categorical_logit", [[799.3, 798.0, 800.0]], powers / powers.sum())
cuts = np.array([-1.0, 0.4, 2.0])
for name, cdf in [("ordered_logistic", s.logistic.cdf), ("ordered_probit", s.norm.cdf)]:
    below = np.concatenate([[0.0], cdf(cuts - 0.7), [1.0]])
    category(name, [0.7, cuts], np.diff(below))
for k, unit in enumerate(np.eye(4)):
    statistic = "linear:" + ",".join(map(str, unit))
    if k != 1:
        whole("multinomial", [theta, 50], s.binom(50, theta[k]), statistic)
whole("multinomial", [theta, 50], s.binom(50, 0.45), "linear:1,0,1,0")
logits = np.log([0.2, 0.5, 0.3])
whole("multinomial_logit", [logits, 20], s.binom(20, 0.7), "linear:1,1,0")
alpha = np.array([0.4, 2.0, 5.0])
for k, unit in enumerate(np.eye(3)):
    statistic = "linear:" + ",".join(map(str, unit))
    real("dirichlet", [alpha], s.beta(alpha[k], alpha.sum() - alpha[k]), statistic)
    whole("dirichlet_multinomial", [alpha, 40], s.betabinom(40, alpha[k], alpha.sum() - alpha[k]), statistic)

mu = np.array([1.0, -2.0, 0.5])
sigma = np.array([[4.0, 1.2, -0.5], [1.2, 2.0, 0.3], [-0.5, 0.3, 1.0]])
lower = np.linalg.cholesky(sigma)
for c in [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, -2.0, 0.5]]:
    statistic, size = "linear:" + ",".join(map(str, c)), np.sqrt(c @ sigma @ np.array(c))
    real("multi_normal", [mu, sigma], s.norm(c @ mu, size), statistic)
    real("multi_normal_cholesky", [mu, lower], s.norm(c @ mu, size), statistic)
    real("multi_student_t", [3.5, mu, sigma], s.t(3.5, c @ mu, size), statistic)
    real("multi_student_t_cholesky", [3.5, mu, lower], s.t(3.5, c @ mu, size), statistic)
both = np.array([mu, -mu])
c = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 1.0])
block = np.kron(np.eye(2), sigma)
real("multi_normal", [both, sigma], s.norm(c @ both.ravel(), np.sqrt(c @ block @ c)), "linear:" + ",".join(map(str, c)))

for c in [np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]), np.array([1.0, -2.0, 0.5])]:
    size = c @ sigma @ c
    linear = "linear:" + ",".join(map(str, np.outer(c, c).ravel()))
    factor = "factor:" + ",".join(map(str, c))
    real("wishart", [5.5, sigma], s.chi2(5.5, scale=size), linear)
    real("wishart_cholesky", [5.5, lower], s.chi2(5.5, scale=size), factor)
    real("inv_wishart", [5.5, sigma], s.invgamma(1.75, scale=size / 2), linear)
    real("inv_wishart_cholesky", [5.5, lower], s.invgamma(1.75, scale=size / 2), factor)
for eta in [0.8, 3.0]:
    half = eta - 1 + 4 / 2
    for i, j in [(1, 0), (3, 1), (3, 2)]:
        pick, c = np.zeros((4, 4)), np.zeros(4)
        pick[i, j], c[i], c[j] = 1.0, 1.0, 1.0
        law = s.beta(half, half, loc=-1.0, scale=2.0)
        real("lkj_corr", [4, eta], law, "linear:" + ",".join(map(str, pick.ravel())))
        real("lkj_corr_cholesky", [4, eta], law, "factor:" + ",".join(map(str, c)), lambda r: 2 + 2 * r)

x, a, beta = np.array([[1.0, 2.0], [-1.0, 0.5]]), np.array([0.3, -0.2]), np.array([0.7, -0.4])
p, q = 1 / (1 + np.exp(-(a + x @ beta)))
category("bernoulli_logit_glm", [x, a, beta], [(1 - p) * (1 - q), p * (1 - q), (1 - p) * q, p * q], "linear:1,2", 0)
omega = np.array([[0.1, -1.0, 0.4], [-0.5, 0.2, -0.3]])
gamma, rho = np.array([[0.7, 0.3], [0.2, 0.8]]), np.array([0.6, 0.4])
weights = []
for path in itertools.product([0, 1], repeat=3):
    weight = rho[path[0]] * gamma[path[0], path[1]] * gamma[path[1], path[2]]
    weights.append(weight * np.exp(sum(omega[state, t] for t, state in enumerate(path))))
category("hmm_latent", [omega, gamma, rho], np.array(weights) / sum(weights), "linear:4,2,1", 7)

with open("generators.csv", "w") as file:
    file.write("\n".join(rows) + "\n")
