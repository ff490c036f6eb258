"""Polynomial regression: the posterior is normal, in closed form."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import norm
from truth import points_near, write

random = np.random.default_rng(42)
N, noise = 50, 0.05
x = np.round(np.linspace(0, 1, N), 4)
y = np.round(0.7 - 0.4 * x + 0.9 * x**2 + noise * random.standard_normal(N), 4)


def log_density(q):
    a, b, c = q
    return norm.logpdf(q, 0, 1).sum() + norm.logpdf(y, a + b * x + c * x**2, noise).sum()


columns = np.stack([np.ones(N), x, x**2], axis=1)
covariance = np.linalg.inv(np.eye(3) + columns.T @ columns / noise**2)
mean = covariance @ columns.T @ y / noise**2
sd = np.sqrt(np.diag(covariance))
moments = {name: {"mean": mean[k], "sd": sd[k]} for k, name in enumerate("abc")}
write(__file__, {"N": N, "x": x, "y": y, "noise": noise}, "closed form: the posterior is normal", moments, 1e-12,
      log_density, points_near(mean))
