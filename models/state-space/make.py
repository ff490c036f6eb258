"""Linear state-space model: Kalman filter and smoother, and quadrature over the three parameters."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import lognorm, norm, truncnorm
from truth import between, integrate, points_near, positive, write

random = np.random.default_rng(42)
T = 50
level, y = random.standard_normal(), []
for t in range(T):
    level = level if t == 0 else 0.85 * level + 0.6 * random.standard_normal()
    y.append(level + 0.5 * random.standard_normal())
y = np.round(y, 3)


def parameters(q):
    (phi, a), (q_, b), (r, c) = between(q[..., 0], -1, 1), positive(q[..., 1]), positive(q[..., 2])
    log_p = norm.logpdf(phi, 0.5, 0.5)
    log_p = log_p + lognorm.logpdf(q_, 0.5, scale=np.exp(-0.5)) + lognorm.logpdf(r, 0.5, scale=np.exp(-0.5))
    return phi, q_, r, log_p + a + b + c


def log_density(x):
    phi, q, r, log_p = parameters(x)
    level = x[3:]
    log_p += norm.logpdf(level[0]) + norm.logpdf(level[1:], phi * level[:-1], q).sum()
    return log_p + norm.logpdf(y, level, r).sum()


def filtered(phi, q, r):
    """Means and variances of the levels before and after each observation, and the log likelihood."""
    mean, variance = np.zeros_like(phi), np.ones_like(phi)
    before, after, log_p = [], [], 0.0
    for t in range(T):
        if t > 0:
            mean, variance = phi * mean, phi**2 * variance + q**2
        before.append((mean, variance))
        total = variance + r**2
        log_p = log_p + norm.logpdf(y[t], mean, np.sqrt(total))
        gain = variance / total
        mean, variance = mean + gain * (y[t] - mean), (1 - gain) * variance
        after.append((mean, variance))
    return before, after, log_p


def marginal(x):
    phi, q, r, log_p = parameters(x)
    return log_p + filtered(phi, q, r)[2]


def moments(x):
    phi, q, r, _ = parameters(x)
    before, after, _ = filtered(phi, q, r)
    mean, variance = after[-1]
    smooth = [(mean, variance)]
    for t in range(T - 2, -1, -1):
        gain = after[t][1] * phi / before[t + 1][1]
        mean = after[t][0] + gain * (mean - before[t + 1][0])
        variance = after[t][1] + gain**2 * (variance - before[t + 1][1])
        smooth.append((mean, variance))
    means = np.stack([one[0] for one in smooth[::-1]], axis=-1)
    squares = np.stack([one[1] + one[0] ** 2 for one in smooth[::-1]], axis=-1)
    return {"phi": (phi, phi**2), "q": (q, q**2), "r": (r, r**2), "level": (means, squares)}


found, error = integrate(marginal, [1.5, -0.5, -0.5], moments, step=0.4, reach=8.0)
write(__file__, {"T": T, "y": y}, "Kalman filter and smoother, and quadrature over phi, q and r", found, error,
      log_density, points_near([1.5, -0.5, -0.5] + list(y)))
