"""Polynomial regression: the posterior is normal, in closed form.

The data are those of `octopus data polynomial`.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import multivariate_normal, norm
from truth import points_near, write

data = json.loads(Path(__file__).with_name("polynomial.json").read_text())
N, x, y, noise = data["N"], np.array(data["x"]), np.array(data["y"]), data["noise"]


def log_density(q):
    a, b, c = q
    return norm.logpdf(q, 0, 1).sum() + norm.logpdf(y, a + b * x + c * x**2, noise).sum()


columns = np.stack([np.ones(N), x, x**2], axis=1)
covariance = np.linalg.inv(np.eye(3) + columns.T @ columns / noise**2)
mean = covariance @ columns.T @ y / noise**2
sd = np.sqrt(np.diag(covariance))
moments = {name: {"mean": mean[k], "sd": sd[k]} for k, name in enumerate("abc")}
evidence = multivariate_normal(np.zeros(N), columns @ columns.T + noise**2 * np.eye(N)).logpdf(y)
write(__file__, None, "closed form: the posterior is normal", moments, 1e-12, log_density, points_near(mean),
      covariance=covariance, log_evidence=evidence)
