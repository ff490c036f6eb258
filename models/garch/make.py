"""GARCH(1, 1): quadrature over the four parameters."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.special import expit
from scipy.stats import lognorm, norm
from truth import between, integrate, plain, points_near, positive, write

random = np.random.default_rng(42)
T = 200
variance, y = 1.0, []
for _ in range(T):
    y.append(0.1 + np.sqrt(variance) * random.standard_normal())
    variance = 0.2 + 0.25 * (y[-1] - 0.1) ** 2 + 0.55 * variance
y = np.round(y, 3)
sigma1 = 1.0


def parameters(q):
    (alpha0, a), (alpha1, b) = positive(q[..., 1]), between(q[..., 2])
    beta1, c = (1 - alpha1) * expit(q[..., 3]), between(q[..., 3])[1] + np.log1p(-alpha1)
    mu = q[..., 0]
    return mu, alpha0, alpha1, beta1, norm.logpdf(mu) + lognorm.logpdf(alpha0, 1, scale=np.exp(-1)) + a + b + c


def log_density(q):
    mu, alpha0, alpha1, beta1, log_p = parameters(q)
    variance = np.full_like(mu, sigma1**2)
    for t in range(T):
        if t > 0:
            variance = alpha0 + alpha1 * (y[t - 1] - mu) ** 2 + beta1 * variance
        log_p = log_p + norm.logpdf(y[t], mu, np.sqrt(variance))
    return log_p


def moments(q):
    mu, alpha0, alpha1, beta1, _ = parameters(q)
    return plain(mu=mu, alpha0=alpha0, alpha1=alpha1, beta1=beta1)


start = [0.1, -1.5, -1.0, 0.5]
found, error = integrate(log_density, start, moments, step=0.5, reach=8.0)
write(__file__, {"T": T, "y": y, "sigma1": sigma1}, "quadrature over all coordinates", found, error, log_density,
      points_near(start))
