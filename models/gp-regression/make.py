"""Regression with a Gaussian process: the function is summed out, and quadrature over the three parameters."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import halfnorm, invgamma, multivariate_normal
from truth import integrate, plain, points_near, positive, write

random = np.random.default_rng(42)
N = 25
x = np.round(np.sort(random.uniform(-3, 3, N)), 3)
y = np.round(np.sin(1.5 * x) + 0.3 * x + 0.25 * random.standard_normal(N), 3)
square = (x[:, None] - x) ** 2


def prior(q):
    (rho, a), (alpha, b), (sigma, c) = (positive(q[..., k]) for k in range(3))
    log_p = invgamma.logpdf(rho, 5, scale=5) + halfnorm.logpdf(alpha) + halfnorm.logpdf(sigma)
    return rho, alpha, sigma, log_p + a + b + c


def covariance(rho, alpha, sigma):
    rho, alpha, sigma = (np.asarray(one)[..., None, None] for one in (rho, alpha, sigma))
    return alpha**2 * np.exp(-0.5 * square / rho**2) + sigma**2 * np.eye(N)


def log_density(q):
    rho, alpha, sigma, log_p = prior(q)
    return log_p + multivariate_normal.logpdf(y, np.zeros(N), covariance(rho, alpha, sigma))


def vectorised(q):
    rho, alpha, sigma, log_p = prior(q)
    factor = np.linalg.cholesky(covariance(rho, alpha, sigma))
    z = np.linalg.solve(factor, np.broadcast_to(y, (len(rho), N))[..., None])[..., 0]
    return log_p - 0.5 * (z**2).sum(-1) - np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(-1)


def moments(q):
    rho, alpha, sigma, _ = prior(q)
    return plain(rho=rho, alpha=alpha, sigma=sigma)


start = [0.0, 0.0, -1.3]
found, error = integrate(vectorised, start, moments, step=0.45, reach=8.0, chunk=5000)
write(__file__, {"N": N, "x": x, "y": y}, "quadrature over all coordinates", found, error, log_density,
      points_near(start))
