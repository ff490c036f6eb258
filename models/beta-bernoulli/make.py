"""Beta-Bernoulli hierarchy: chances of groups are beta given mu and kappa, over which quadrature goes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.special import betaln
from scipy.stats import bernoulli, beta, lognorm
from truth import between, integrate, points_near, positive, write

random = np.random.default_rng(42)
sizes = np.array([12, 25, 8, 30, 20, 15, 40, 10, 22, 18])
J = len(sizes)
chance = random.beta(0.35 * 8, 0.65 * 8, J)
group = np.repeat(np.arange(1, J + 1), sizes)
success = random.binomial(1, chance[group - 1])
hits = np.bincount(group - 1, success, J)


def prior(q):
    (mu, a), (kappa, b) = between(q[..., 0]), positive(q[..., 1])
    return mu, kappa, beta.logpdf(mu, 2, 2) + lognorm.logpdf(kappa, 1, scale=np.exp(2)) + a + b


def log_density(q):
    mu, kappa, log_p = prior(q)
    theta, jacobian = between(q[2:])
    log_p += beta.logpdf(theta, mu * kappa, (1 - mu) * kappa).sum() + jacobian.sum()
    return log_p + bernoulli.logpmf(success, theta[group - 1]).sum()


def marginal(q):
    mu, kappa, log_p = prior(q)
    a, b = (mu * kappa)[:, None], ((1 - mu) * kappa)[:, None]
    return log_p + (betaln(a + hits, b + sizes - hits) - betaln(a, b)).sum(-1)


def moments(q):
    mu, kappa, _ = prior(q)
    a, b = (mu * kappa)[:, None] + hits, ((1 - mu) * kappa)[:, None] + sizes - hits
    mean = a / (a + b)
    return {"mu": (mu, mu**2), "kappa": (kappa, kappa**2), "theta": (mean, mean * (a + 1) / (a + b + 1))}


found, error = integrate(marginal, [0.0, 2.0], moments, step=0.25, reach=9.0)
write(__file__, {"N": len(group), "J": J, "group": group, "success": success},
      "quadrature over mu and kappa; theta in closed form", found, error, log_density,
      points_near([-0.6, 2] + [-0.6] * J))
