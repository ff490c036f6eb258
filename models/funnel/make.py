"""Neal's funnel: in closed form."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import norm
from truth import points_near, write


def log_density(q):
    v, x = q[0], q[1:]
    return norm.logpdf(v, 0, 3) + norm.logpdf(x, 0, np.exp(v / 2)).sum()


# log |x_1| = v / 2 + log |z|: the logarithm of a chi-squared variable of one degree, halved, has mean
# -(euler_gamma + log 2) / 2 and variance pi^2 / 8.
moments = {"v": {"mean": 0.0, "sd": 3.0},
           "log_x": {"mean": -(np.euler_gamma + np.log(2)) / 2, "sd": np.sqrt(9 / 4 + np.pi**2 / 8)}}
write(__file__, {}, "closed form", moments, 1e-12, log_density, points_near([0.0] * 10, spread=1.0))
