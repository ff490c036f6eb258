"""Weibull regression with censoring: quadrature over all three parameters."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import lognorm, norm, weibull_min
from truth import integrate, plain, points_near, positive, write

random = np.random.default_rng(42)
N = 70
treated = random.binomial(1, 0.5, N)
until = np.exp(2.0 + 0.6 * treated) * random.weibull(1.4, N)
end = random.uniform(3, 25, N)
event = (until <= end).astype(int)
time = np.round(np.minimum(until, end), 2)


def log_density(q):
    (shape, jacobian) = positive(q[..., 0, None])
    scale = np.exp(q[..., 1, None] + q[..., 2, None] * treated)
    prior = (lognorm.logpdf(shape, 0.5) + jacobian)[..., 0] + norm.logpdf(q[..., 1], 0, 2) + norm.logpdf(q[..., 2])
    seen, cut = weibull_min.logpdf(time, shape, scale=scale), weibull_min.logsf(time, shape, scale=scale)
    return prior + np.where(event, seen, cut).sum(-1)


def moments(q):
    return plain(shape=np.exp(q[:, 0]), intercept=q[:, 1], effect=q[:, 2])


start = [0.3, 2.0, 0.6]
found, error = integrate(log_density, start, moments)
write(__file__, {"N": N, "time": time, "event": event, "treated": treated}, "quadrature over all coordinates", found,
      error, log_density, points_near(start))
