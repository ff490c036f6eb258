"""Negative binomial regression: quadrature over all three parameters."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import gamma, nbinom, norm
from truth import integrate, plain, points_near, positive, write

random = np.random.default_rng(42)
N = 50
exposure = np.round(random.uniform(0.5, 4, N), 2)
dose = np.round(random.uniform(-1, 1, N), 2)
mean = exposure * np.exp(1.5 + 0.8 * dose)
cells = random.poisson(mean * random.gamma(2.5, 1 / 2.5, N))


def log_density(q):
    (phi, jacobian) = positive(q[..., 2, None])
    mean = exposure * np.exp(q[..., 0, None] + q[..., 1, None] * dose)
    prior = norm.logpdf(q[..., 0], 0, 2) + norm.logpdf(q[..., 1]) + (gamma.logpdf(phi, 2, scale=2) + jacobian)[..., 0]
    return prior + nbinom.logpmf(cells, phi, phi / (phi + mean)).sum(-1)


found, error = integrate(log_density, [1.5, 0.8, 1.0],
                         lambda q: plain(intercept=q[:, 0], slope=q[:, 1], phi=np.exp(q[:, 2])))
write(__file__, {"N": N, "exposure": exposure, "dose": dose, "cells": cells}, "quadrature over all coordinates", found,
      error, log_density, points_near([1.5, 0.8, 1.0]))
