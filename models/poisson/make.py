"""Poisson regression: quadrature over all three coefficients."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import norm, poisson
from truth import integrate, plain, points_near, write

random = np.random.default_rng(42)
N = 60
exposure = np.round(random.uniform(0.2, 10, N), 2)
young = random.binomial(1, 0.3, N)
power = np.round(random.standard_normal(N), 2)
claims = random.poisson(exposure * np.exp(-1.4 + 0.7 * young + 0.25 * power))


def log_density(q):
    eta = np.log(exposure) + q[..., 0, None] + q[..., 1, None] * young + q[..., 2, None] * power
    prior = norm.logpdf(q[..., 0], 0, 2) + norm.logpdf(q[..., 1]) + norm.logpdf(q[..., 2])
    return prior + poisson.logpmf(claims, np.exp(eta)).sum(-1)


found, error = integrate(log_density, [-1.4, 0.7, 0.2],
                         lambda q: plain(intercept=q[:, 0], by_young=q[:, 1], by_power=q[:, 2]))
write(__file__, {"N": N, "exposure": exposure, "young": young, "power": power, "claims": claims},
      "quadrature over all coordinates", found, error, log_density, points_near([-1.4, 0.7, 0.2]))
