"""Reference values of all distributions, by scipy 1.17 in f64, for `distributions.rs`: to `distributions.csv`, densities and tails of
one number, and to `joint_distributions.txt`, densities of vectors, matrices and categories.

A line of the first has a name (with `_lcdf` or `_lccdf` for tails), the arguments, and the value. A line of the second has
a name, the arguments as `rows x columns : elements`, and the value, parted by semicolons.
"""
import pathlib

import numpy as np
from scipy import integrate, stats

HERE = pathlib.Path(__file__).parent
lines = []


def row(name, args, value):
    lines.append(",".join([name, *(repr(float(x)) for x in args), repr(float(value))]))


def continuous(name, make, points, tails=True, outside=()):
    for y, *args in points:
        frozen = make(*args)
        row(name, (y, *args), frozen.logpdf(y))
        if tails:
            row(name + "_lcdf", (y, *args), frozen.logcdf(y))
            row(name + "_lccdf", (y, *args), frozen.logsf(y))
    for y, *args in outside:
        row(name, (y, *args), -np.inf)


def counts(name, make, points, tails=True, outside=()):
    for n, *args in points:
        frozen = make(*args)
        row(name, (n, *args), frozen.logpmf(n))
        if tails:
            row(name + "_lcdf", (n, *args), frozen.logcdf(n))
            row(name + "_lccdf", (n, *args), frozen.logsf(n))
    for n, *args in outside:
        row(name, (n, *args), -np.inf)


REAL = [(0.3, -0.4, 1.7), (2.9, 0.8, 0.6), (-7.5, 1.0, 2.0), (40.0, -3.0, 9.5), (1e-9, 0.0, 1.0)]
POSITIVE = [(0.3, 2.5, 1.7), (2.9, 0.7, 0.6), (1e-4, 1.2, 0.9), (12.0, 6.0, 0.8), (0.8, 30.0, 40.0)]

continuous("std_normal", lambda: stats.norm(), [(y,) for y in (-8.0, -0.3, 0.0, 1.7, 9.0)])
continuous("normal", stats.norm, REAL)
continuous("cauchy", stats.cauchy, REAL)
continuous("double_exponential", stats.laplace, REAL)
continuous("logistic", stats.logistic, REAL)
continuous("gumbel", stats.gumbel_r, [*REAL[:2], (-2.5, 1.0, 2.0), (40.0, -3.0, 9.5), (1e-9, 0.0, 1.0)])
continuous("student_t", lambda nu, mu, sigma: stats.t(nu, mu, sigma),
           [(0.3, 3.5, -0.4, 1.7), (2.9, 9.0, 0.8, 0.6), (-30.0, 1.0, 0.0, 1.0), (0.0, 3.0, 0.0, 10.0), (5.0, 200.0, 1.0, 3.0)])
continuous("skew_normal", lambda xi, omega, alpha: stats.skewnorm(alpha, xi, omega),
           [(0.3, -0.4, 1.7, 2.0), (2.9, 0.8, 0.6, -1.5), (-3.0, 0.0, 1.0, 4.0), (0.0, 0.0, 1.0, 0.0)], tails=False)
continuous("exp_mod_normal", lambda mu, sigma, rate: stats.exponnorm(1 / (sigma * rate), mu, sigma),
           [(0.3, -0.4, 1.7, 0.7), (2.9, 0.8, 0.6, 2.0), (-2.0, 0.0, 1.0, 1.0), (9.0, 0.0, 1.0, 0.3)])


def skewed(mu, sigma, tau):
    kappa = np.sqrt(tau / (1 - tau))
    return stats.laplace_asymmetric(kappa, mu, kappa * sigma / (2 * tau))


continuous("skew_double_exponential", skewed,
           [(0.3, -0.4, 1.7, 0.3), (2.9, 0.8, 0.6, 0.8), (-3.0, 0.5, 1.0, 0.1), (-1.0, 0.5, 2.0, 0.95)])
continuous("von_mises", lambda mu, kappa: stats.vonmises(kappa, mu),
           [(0.3, -0.4, 1.7), (2.9, 0.8, 0.01), (-3.0, 1.0, 7.9), (0.5, 0.4, 8.1), (1.2, 1.0, 60.0), (0.2, 0.2, 5000.0)],
           tails=False)
continuous("lognormal", lambda mu, sigma: stats.lognorm(sigma, scale=np.exp(mu)), [(0.3, -0.4, 1.7), (2.9, 0.8, 0.6), (1e-5, 0.0, 2.0), (1e4, 3.0, 2.0)])
continuous("exponential", lambda rate: stats.expon(scale=1 / rate), [(0.3, 1.7), (2.9, 0.6), (0.0, 2.0), (1e-12, 0.5), (80.0, 2.0)])
# The logarithm of the distribution function at 0 is minus infinity.
lines.pop(next(k for k, line in enumerate(lines) if line.startswith("exponential_lcdf,0.0")))
continuous("gamma", lambda a, b: stats.gamma(a, scale=1 / b), [*POSITIVE, (1.3, 3.0, 0.7), (25.0, 20.0, 1.1)])
continuous("inv_gamma", lambda a, b: stats.invgamma(a, scale=b), [*POSITIVE[:2], (0.05, 1.2, 0.9), (50.0, 6.0, 0.8), (0.8, 30.0, 40.0), (1.3, 3.0, 0.7)],
           outside=[(0.0, 2.0, 1.0), (-1.0, 2.0, 1.0)])
continuous("chi_square", stats.chi2, [(0.3, 2.5), (2.9, 0.7), (1e-4, 1.0), (60.0, 12.0)])
continuous("inv_chi_square", lambda nu: stats.invgamma(nu / 2, scale=0.5), [(0.3, 2.5), (2.9, 0.7), (0.02, 1.0), (0.6, 12.0)], outside=[(-1.0, 2.0)])
continuous("scaled_inv_chi_square", lambda nu, s: stats.invgamma(nu / 2, scale=nu * s * s / 2), [*POSITIVE[:2], (0.05, 1.2, 0.9), (2.5, 6.0, 0.8)],
           outside=[(0.0, 2.0, 1.0)])
continuous("weibull", lambda a, s: stats.weibull_min(a, scale=s), [*POSITIVE[:3], (4.0, 2.0, 0.8)])
continuous("frechet", lambda a, s: stats.invweibull(a, scale=s), [*POSITIVE[:2], (0.05, 1.2, 0.9), (40.0, 6.0, 0.8)])
continuous("rayleigh", lambda s: stats.rayleigh(scale=s), [(0.3, 1.7), (2.9, 0.6), (1e-6, 2.0), (0.8, 40.0)])
continuous("loglogistic", lambda a, b: stats.fisk(b, scale=a), [*POSITIVE[:3], (12.0, 6.0, 0.8)])
continuous("pareto", lambda low, a: stats.pareto(a, scale=low), [(3.0, 2.5, 1.7), (2.9, 0.7, 0.6), (1.21, 1.2, 0.9), (500.0, 6.0, 3.0)],
           outside=[(1.0, 1.5, 2.0)])
continuous("pareto_type_2", lambda mu, s, a: stats.lomax(a, mu, s), [(3.0, 2.5, 1.7, 2.0), (2.9, -0.7, 0.6, 0.5), (1.21, 1.2, 0.9, 3.0)],
           outside=[(1.0, 1.5, 2.0, 1.0)])
continuous("uniform", lambda a, b: stats.uniform(a, b - a), [(0.3, -1.0, 5.0), (2.9, 2.0, 3.5), (1e-9, 0.0, 1.0)],
           outside=[(-1.5, -1.0, 5.0), (5.1, -1.0, 5.0)])
continuous("beta", stats.beta, [(0.3, 2.5, 0.7), (0.725, 0.8, 4.0), (1e-6, 1.2, 0.9), (0.999, 30.0, 2.0), (0.5, 0.5, 0.5), (0.3, 2.0, 5.0)])
continuous("beta_proportion", lambda mu, k: stats.beta(mu * k, (1 - mu) * k), [(0.3, 0.6, 0.7), (0.725, 0.2, 4.0), (0.01, 0.1, 20.0)])

counts("bernoulli", stats.bernoulli, [(1, 0.3), (0, 0.3), (1, 0.999), (0, 1e-9)], tails=False)
for y, p in [(1, 0.3), (0, 0.85), (1, 1e-9)]:
    row("bernoulli_logit", (y, np.log(p) - np.log1p(-p)), stats.bernoulli.logpmf(y, p))
row("bernoulli_lcdf", (0, 0.3), np.log(0.7))
row("bernoulli_lccdf", (0, 0.3), np.log(0.3))
row("bernoulli_lcdf", (1, 0.3), 0.0)
counts("binomial", stats.binom, [(3, 7, 0.3), (0, 5, 0.85), (4, 5, 0.01), (40, 100, 0.5)], outside=[(8, 7, 0.5)])
for n, trials, p in [(3, 7, 0.3), (0, 5, 0.85), (5, 5, 0.01)]:
    row("binomial_logit", (n, trials, np.log(p / (1 - p))), stats.binom.logpmf(n, trials, p))
counts("poisson", stats.poisson, [(4, 1.5), (0, 4.25), (0, 1e-5), (60, 45.0), (2, 30.0)])
for n, rate in [(4, 1.5), (0, 4.25), (60, 45.0)]:
    row("poisson_log", (n, np.log(rate)), stats.poisson.logpmf(n, rate))
counts("neg_binomial", lambda a, b: stats.nbinom(a, b / (b + 1)), [(4, 2.5, 1.7), (0, 0.4, 6.0), (30, 5.0, 0.2)])
for n, mean, size in [(4, 2.5, 1.7), (4, 0.4, 6.0), (0, 3.0, 0.5), (30, 25.0, 900.0)]:
    p = size / (mean + size)
    counts("neg_binomial_2", lambda m, s: stats.nbinom(s, s / (m + s)), [(n, mean, size)])
    row("neg_binomial_2_log", (n, np.log(mean), size), stats.nbinom.logpmf(n, size, p))
counts("beta_binomial", stats.betabinom, [(3, 7, 2.5, 1.7), (0, 7, 0.4, 6.0), (5, 6, 30.0, 4.0)], outside=[(8, 7, 2.0, 2.0)])
counts("beta_neg_binomial", stats.betanbinom, [(3, 2.0, 1.7, 0.9), (0, 4.0, 6.0, 2.0), (12, 3.0, 5.0, 2.5)])
counts("yule_simon", stats.yulesimon, [(1, 2.5), (4, 0.7), (15, 3.0)], outside=[(0, 2.0)])
counts("hypergeometric", lambda draws, a, b: stats.hypergeom(a + b, a, draws), [(2, 5, 4, 7), (0, 3, 4, 7), (4, 6, 4, 7)], tails=False,
       outside=[(5, 6, 4, 7)])
counts("discrete_range", lambda low, high: stats.randint(low, high + 1), [(2, -1, 6), (-1, -1, 6), (3, 0, 5)], outside=[(7, -1, 6)])
(HERE / "distributions.csv").write_text("\n".join(lines) + "\n")

joint = []


def together(name, args, value):
    def text(x):
        x = np.atleast_2d(np.asarray(x, dtype=float))
        return f"{x.shape[0]}x{x.shape[1]}:" + " ".join(repr(float(v)) for v in x.ravel())

    joint.append(";".join([name, *map(text, args), repr(float(value))]))


def column(x):
    return np.reshape(x, (-1, 1))


SIGMA = np.array([[2.0, 0.5, -0.3], [0.5, 1.0, 0.2], [-0.3, 0.2, 0.7]])
OTHER = np.array([[1.5, -0.4, 0.1], [-0.4, 0.9, 0.3], [0.1, 0.3, 2.2]])
FACTOR, OTHER_FACTOR = np.linalg.cholesky(SIGMA), np.linalg.cholesky(OTHER)
Y = np.array([[0.3, -0.5, 1.2], [2.0, 0.1, -0.7], [-1.0, 1.5, 0.4], [0.0, 0.2, 3.0]])
MU = np.array([0.1, 0.2, -0.3])
MEANS = np.array([[0.5, 0.0, 0.2], [1.0, -0.4, 0.6], [0.3, 0.3, 0.3], [-0.2, 0.9, 1.1]])
for y, mu in [(Y[0], MU), (Y, MU), (Y[1], MEANS), (Y, MEANS)]:
    difference = y - mu
    for name, matrix in [("multi_normal", SIGMA), ("multi_normal_cholesky", FACTOR), ("multi_normal_prec", np.linalg.inv(SIGMA))]:
        together(name, (y, mu, matrix), np.sum(stats.multivariate_normal(np.zeros(3), SIGMA).logpdf(difference)))
    for nu in (3.5, 40.0):
        value = np.sum(stats.multivariate_t(np.zeros(3), SIGMA, nu).logpdf(difference))
        together("multi_student_t", (y, nu, mu, SIGMA), value)
        together("multi_student_t_cholesky", (y, nu, mu, FACTOR), value)
W = np.array([0.5, 1.0, 2.5, 4.0])
value = sum(stats.multivariate_normal(np.zeros(3), SIGMA / w).logpdf(y) for y, w in zip(Y, W))
together("multi_gp", (Y, SIGMA, column(W)), value)
together("multi_gp_cholesky", (Y, FACTOR, column(W)), value)


def product_jacobian(l, skipped):
    """ln |d (L L')| by the free elements of L: elements of the lower triangle, without the diagonal where it is fixed."""
    n = len(l)
    places = [(i, j) for i in range(n) for j in range(i + 1) if not (skipped and i == j)]
    columns = []
    for i, j in places:
        step = np.zeros((n, n))
        step[i, j] = 1.0
        if skipped:
            step[i, i] = -l[i, j] / l[i, i]
        moved = step @ l.T + l @ step.T
        columns.append([moved[a, b] for a, b in places])
    return np.linalg.slogdet(np.array(columns))[1]


for nu in (3.5, 12.0):
    value = stats.wishart(nu, OTHER).logpdf(SIGMA)
    together("wishart", (SIGMA, nu, OTHER), value)
    together("wishart_cholesky", (FACTOR, nu, OTHER_FACTOR), value + product_jacobian(FACTOR, False))
    value = stats.invwishart(nu, OTHER).logpdf(SIGMA)
    together("inv_wishart", (SIGMA, nu, OTHER), value)
    together("inv_wishart_cholesky", (FACTOR, nu, OTHER_FACTOR), value + product_jacobian(FACTOR, False))


def lkj(r, eta):
    """Its constant by quadrature over partial correlations, of which the determinant is a product."""
    n = len(r)
    constant = 0.0
    for j in range(n - 1):
        # n - 1 - j partial correlations of level j: (1 - p^2)^(eta - 1 + (n - 2 - j) / 2)
        power = eta - 1 + (n - 2 - j) / 2
        area = integrate.quad(lambda t: np.cos(t) ** (2 * power + 1), -np.pi / 2, np.pi / 2, epsabs=0, epsrel=1e-13)[0]
        constant += (n - 1 - j) * np.log(area)
    return (eta - 1) * np.linalg.slogdet(r)[1] - constant


for n in (2, 3):
    scale = np.sqrt(np.diag(SIGMA)[:n])
    correlations = SIGMA[:n, :n] / np.outer(scale, scale)
    factor = np.linalg.cholesky(correlations)
    for eta in (1.0, 0.6, 4.0):
        together("lkj_corr", (correlations, eta), lkj(correlations, eta))
        together("lkj_corr_cholesky", (factor, eta), lkj(correlations, eta) + product_jacobian(factor, True))

THETA = np.array([[0.2, 0.5, 0.3], [0.01, 0.04, 0.95], [0.6, 0.3, 0.1], [0.25, 0.25, 0.5]])
ALPHA = np.array([[1.5, 0.7, 2.0], [3.0, 1.0, 0.2], [1.0, 1.0, 1.0], [20.0, 30.0, 10.0]])
for theta, alpha in [(THETA[0], ALPHA[0]), (THETA, ALPHA[1]), (THETA, ALPHA)]:
    pairs = zip(*np.broadcast_arrays(np.atleast_2d(theta), np.atleast_2d(alpha)))
    together("dirichlet", (theta, alpha), sum(stats.dirichlet(a).logpdf(t / t.sum()) for t, a in pairs))
for n in ([2, 0, 5], [1, 1, 1], [0, 9, 0]):
    for theta, alpha in zip(THETA, ALPHA):
        together("multinomial", (n, theta), stats.multinomial(sum(n), theta).logpmf(n))
        together("multinomial_logit", (n, np.log(theta) + 0.7), stats.multinomial(sum(n), theta).logpmf(n))
        together("dirichlet_multinomial", (n, alpha), stats.dirichlet_multinomial(alpha, sum(n)).logpmf(n))
for y in ([2], [1, 3, 3, 2], [1, 2, 1, 1]):
    for theta in (THETA[0], THETA):
        rows = max(len(y), len(np.atleast_2d(theta)))
        full = np.broadcast_to(np.atleast_2d(theta), (rows, 3))
        value = sum(np.log(t[k - 1]) for t, k in zip(full, np.broadcast_to(y, rows)))
        together("categorical", (column(y), theta), value)
        together("categorical_logit", (column(y), np.log(theta) - 0.4), value)
CUTS = np.array([[-1.0, 0.4, 2.0], [-0.5, -0.1, 0.3], [0.0, 1.0, 4.0], [-6.0, 5.0, 5.5]])
ETA = np.array([0.35, -1.2, 2.5, -0.4])
for name, link in [("ordered_logistic", stats.logistic), ("ordered_probit", stats.norm)]:
    for y, eta, cuts in [([1], [0.3], CUTS[0]), ([2], [0.3], CUTS[0]), ([4], [0.3], CUTS[0]), ([1, 3, 4, 2], ETA, CUTS[0]),
                         ([2, 3, 3, 1], ETA, CUTS), ([3, 3, 2, 2], ETA, CUTS[1]), ([1, 4, 1, 4], [0.2], CUTS[2])]:
        value = 0.0
        for k, e, c in zip(y, np.broadcast_to(eta, len(y)), np.broadcast_to(np.atleast_2d(cuts), (len(y), 3))):
            edges = np.concatenate([[-np.inf], c - e, [np.inf]])
            low, high = edges[k - 1], edges[k]
            # In the lower tail, where differences keep their digits.
            low, high = (-high, -low) if low + high > 0 else (low, high)
            value += np.log(link.cdf(high) - link.cdf(low))
        together(name, (column(y), column(eta), cuts), value)
(HERE / "joint_distributions.txt").write_text("\n".join(joint) + "\n")
