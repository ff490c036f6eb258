"""Mixture of two normal distributions: quadrature over the five parameters."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import beta, lognorm, norm
from truth import between, integrate, ordered, points_near, positive, write

random = np.random.default_rng(42)
N = 120
first = random.random(N) < 0.4
y = np.round(np.where(first, random.normal(-1.5, 0.7, N), random.normal(1.8, 1.1, N)), 3)


def parameters(q):
    (share, a), (mu, b), (sigma, c) = between(q[..., 0]), ordered(q[..., 1:3]), positive(q[..., 3:])
    log_p = beta.logpdf(share, 5, 5) + norm.logpdf(mu, [-2, 2], 0.75).sum(-1) + lognorm.logpdf(sigma, 0.25).sum(-1)
    return share, mu, sigma, log_p + a + b + c.sum(-1)


def log_density(q):
    share, mu, sigma, log_p = parameters(q)
    kinds = [norm.pdf(y, mu[..., k, None], sigma[..., k, None]) for k in range(2)]
    return log_p + np.log(share[..., None] * kinds[0] + (1 - share[..., None]) * kinds[1]).sum(-1)


def moments(q):
    share, mu, sigma, _ = parameters(q)
    return {"share": (share, share**2), "mu": (mu, mu**2), "sigma": (sigma, sigma**2)}


start = [-0.4, -1.5, 1.2, -0.4, 0.1]
found, error = integrate(log_density, start, moments, step=0.85, reach=5.6, chunk=5000)
write(__file__, {"N": N, "y": y}, "quadrature over all coordinates", found, error, log_density, points_near(start))
