"""Ordered logistic regression: quadrature over the slope and the three cuts."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.special import expit
from scipy.stats import norm
from truth import integrate, ordered, points_near, write

random = np.random.default_rng(42)
N, K = 80, 4
x = np.round(random.standard_normal(N), 2)
grade = 1 + (random.logistic(0.9 * x)[:, None] > np.array([-1.2, 0.3, 1.8])).sum(-1)


def log_density(q):
    slope, (cut, jacobian) = q[..., 0], ordered(q[..., 1:])
    ends = np.zeros(q.shape[:-1] + (1,))
    cut_with_ends = np.concatenate([ends - np.inf, cut, ends + np.inf], axis=-1)
    eta = slope[..., None] * x
    chance = expit(cut_with_ends[..., grade] - eta) - expit(cut_with_ends[..., grade - 1] - eta)
    return norm.logpdf(slope) + norm.logpdf(cut, 0, 3).sum(-1) + jacobian + np.log(chance).sum(-1)


def moments(q):
    cut = ordered(q[:, 1:])[0]
    return {"slope": (q[:, 0], q[:, 0] ** 2), "cut": (cut, cut**2)}


start = [0.9, -1.2, 0.4, 0.4]
found, error = integrate(log_density, start, moments, step=0.6, reach=7.0)
write(__file__, {"N": N, "K": K, "x": x, "grade": grade}, "quadrature over all coordinates", found, error, log_density,
      points_near(start))
