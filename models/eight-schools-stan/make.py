"""Eight schools: effects are normal given mu and tau, over which quadrature goes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import halfcauchy, norm
from truth import points_near, write

y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
sigma = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
J = len(y)


def log_density(q):
    mu, tau, theta = q[0], np.exp(q[1]), q[2:]
    log_p = norm.logpdf(mu, 0, 5) + halfcauchy.logpdf(tau, 0, 5) + q[1]
    return log_p + norm.logpdf(theta, mu, tau).sum() + norm.logpdf(y, theta, sigma).sum()


def of(h):
    """Moments by quadrature with steps h; given tau, mu is normal, too."""
    log_tau = np.arange(-40, 25, h)
    tau = np.exp(log_tau)
    variance = tau[:, None] ** 2 + sigma**2
    precision = 1 / 25 + (1 / variance).sum(-1)
    mu = (y / variance).sum(-1) / precision
    log_p = halfcauchy.logpdf(tau, 0, 5) + log_tau - 0.5 * np.log(variance).sum(-1) - 0.5 * np.log(precision)
    log_p += 0.5 * mu**2 * precision - 0.5 * (y**2 / variance).sum(-1)
    w = np.exp(log_p - log_p.max())
    w /= w.sum()
    # theta = (1 - b) y + b mu with noise.
    b = sigma**2 / variance
    theta = (1 - b) * y + b * mu[:, None]
    square = theta**2 + b**2 / precision[:, None] + (1 - b) * sigma**2
    each = {"mu": (mu, mu**2 + 1 / precision), "tau": (tau, tau**2), "theta": (theta, square)}
    return {name: {"mean": w @ mean, "sd": np.sqrt(w @ square - (w @ mean) ** 2)}
            for name, (mean, square) in each.items()}


first, found = of(0.02), of(0.01)
error = max(np.max(np.abs(first[name][what] - found[name][what]) / found[name]["sd"])
            for name in found for what in ("mean", "sd"))
write(__file__, {"J": J, "y": y, "sigma": sigma}, "quadrature over tau; mu and theta in closed form", found,
      max(error, 1e-9), log_density, points_near([4.4, 1.0] + [4.4] * J, spread=0.5))
