"""Groups of normal observations: mu_pop and groups are normal given the scales, over which quadrature goes.

The data are the defaults of the model hierarchical-normal: 100 groups of 10."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import halfnorm, norm
from truth import integrate, points_near, positive, write

np.random.seed(42)
J, each = 100, 10
means = np.random.normal(50, 10, J)
group = np.repeat(np.arange(1, J + 1), each)
y = np.random.normal(means[group - 1], 2)
assert y[0] == 52.1364000460115
N, data = len(y), {"N": len(y), "J": J, "group": group, "value": y}
count = np.bincount(group - 1, minlength=J)
mean_y = np.bincount(group - 1, y, J) / count
within = ((y - mean_y[group - 1]) ** 2).sum()


def prior(q):
    (sigma_pop, a), (sigma_obs, b) = positive(q[..., 0]), positive(q[..., 1])
    return sigma_pop, sigma_obs, halfnorm.logpdf(sigma_pop, 0, 15) + halfnorm.logpdf(sigma_obs, 0, 5) + a + b


def log_density(q):
    mu_pop, mu_group = q[0], q[2:2 + J]
    sigma_pop, sigma_obs, log_p = prior(np.array([q[1], q[-1]]))
    log_p += norm.logpdf(mu_pop, 50, 20) + norm.logpdf(mu_group, mu_pop, sigma_pop).sum()
    return log_p + norm.logpdf(y, mu_group[group - 1], sigma_obs).sum()


def of_mu(q):
    sigma_pop, sigma_obs, log_p = prior(q)
    variance = sigma_pop[:, None] ** 2 + sigma_obs[:, None] ** 2 / count
    precision = 1 / 400 + (1 / variance).sum(-1)
    mu = (50 / 400 + (mean_y / variance).sum(-1)) / precision
    return sigma_pop, sigma_obs, log_p, variance, precision, mu


def marginal(q):
    sigma_pop, sigma_obs, log_p, variance, precision, mu = of_mu(q)
    log_p = log_p - 0.5 * np.log(variance).sum(-1) - 0.5 * np.log(precision)
    log_p += 0.5 * mu**2 * precision - 0.5 * (mean_y**2 / variance).sum(-1)
    return log_p - (N - J) * np.log(sigma_obs) - 0.5 * within / sigma_obs**2


def moments(q):
    sigma_pop, sigma_obs, _, variance, precision, mu = of_mu(q)
    noise = sigma_obs[:, None] ** 2 / count
    b = noise / variance
    mean = (1 - b) * mean_y + b * mu[:, None]
    square = mean**2 + b**2 / precision[:, None] + (1 - b) * noise
    return {"mu_pop": (mu, mu**2 + 1 / precision), "sigma_pop": (sigma_pop, sigma_pop**2),
            "sigma_obs": (sigma_obs, sigma_obs**2), "mu_group": (mean, square)}


start = [np.log(mean_y.std()), 0.5 * np.log(within / (N - J))]
found, error = integrate(marginal, start, moments, step=0.3, reach=8.0)
write(__file__, data, "quadrature over the scales; mu_pop and groups in closed form", found, error, log_density,
      points_near(np.concatenate([[50.0], start[:1], mean_y, start[1:]])))
