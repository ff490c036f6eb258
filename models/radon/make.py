"""Radon in houses: all effects are normal given the three scales, over which quadrature goes.

The data are the 919 houses of Minnesota in the State Residential Radon Survey of the US Environmental Protection Agency
(1987 to 1988), a work of the federal government in the public domain. With the file srrs2.dat, which comes with Gelman and
Hill (2006), as its argument this script takes them from it; without it they are kept as they are."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import csv
import json

from scipy.stats import halfnorm, norm
from truth import integrate, points_near, positive, write

data_file = Path(__file__).resolve().parent / "radon.json"
if len(sys.argv) > 1:
    rows = list(csv.reader(open(sys.argv[1]), skipinitialspace=True))
    names = [name.strip() for name in rows[0]]
    houses = [dict(zip(names, map(str.strip, row))) for row in rows[1:] if len(row) == len(names)]
    houses = [house for house in houses if house["state"] == "MN"]

    def numbered(column):
        order = {label: k + 1 for k, label in enumerate(sorted({house[column] for house in houses}))}
        return [order[house[column]] for house in houses]

    county, wave = numbered("county"), numbered("wave")
    data = {"N": len(houses), "J": max(county), "W": max(wave), "county": county, "wave": wave,
            "ground": [int(house["floor"]) for house in houses],
            "log_radon": [round(float(np.log(float(house["activity"]) + 0.1)), 4) for house in houses]}
else:
    data = json.loads(data_file.read_text())
N, J, W = data["N"], data["J"], data["W"]
county, wave, ground, y = (np.array(data[name]) for name in ("county", "wave", "ground", "log_radon"))


def prior(q):
    scales, jacobian = positive(q)
    return scales, halfnorm.logpdf(scales).sum(-1) + jacobian.sum(-1)


def log_density(q):
    mu, by_ground = q[:2]
    (sigma_county, sigma_wave, sigma), log_p = prior(q[2:5])
    by_county, by_wave = q[5:5 + J], q[5 + J:]
    log_p += norm.logpdf(mu, 1, 2) + norm.logpdf(by_ground)
    log_p += norm.logpdf(by_county, 0, sigma_county).sum() + norm.logpdf(by_wave, 0, sigma_wave).sum()
    eta = mu + by_ground * ground + by_county[county - 1] + by_wave[wave - 1]
    return log_p + norm.logpdf(y, eta, sigma).sum()


# Columns of all effects, whose posterior given the scales is normal: mu less its prior mean, the slope, counties, waves.
columns = np.zeros((N, 2 + J + W))
columns[:, 0], columns[:, 1] = 1, ground
columns[np.arange(N), 1 + county] = 1
columns[np.arange(N), 1 + J + wave] = 1
squares, products, left = columns.T @ columns, columns.T @ (y - 1), ((y - 1) ** 2).sum()


def given(scales):
    """Of one point: the log of the likelihood, and the mean and the covariance of all effects."""
    sigma_county, sigma_wave, sigma = scales
    precision = 1 / np.concatenate([[4.0, 1.0], np.full(J, sigma_county**2), np.full(W, sigma_wave**2)])
    factor = np.linalg.cholesky(np.diag(precision) + squares / sigma**2)
    half = np.linalg.solve(factor, products / sigma**2)
    log_p = 0.5 * (half**2).sum() - 0.5 * left / sigma**2 - N * np.log(sigma)
    log_p += 0.5 * np.log(precision).sum() - np.log(np.diag(factor)).sum()
    return log_p, factor, half


def marginal(q):
    scales, log_p = prior(q)
    return log_p + np.array([given(one)[0] for one in scales])


def moments(q):
    scales, _ = prior(q)
    means, squares_of = [], []
    for one in scales:
        _, factor, half = given(one)
        inverse = np.linalg.inv(factor)
        mean = inverse.T @ half
        mean[0] += 1
        means.append(mean)
        squares_of.append((inverse**2).sum(0) + mean**2)
    means, squares_of = np.array(means), np.array(squares_of)
    parts = {"mu": 0, "by_ground": 1, "by_county": slice(2, 2 + J), "by_wave": slice(2 + J, None)}
    found = {name: (means[:, part], squares_of[:, part]) for name, part in parts.items()}
    return found | {name: (scales[:, k], scales[:, k] ** 2) for k, name in
                    enumerate(("sigma_county", "sigma_wave", "sigma"))}


found, error = integrate(marginal, [-1.1, -1.5, -0.3], moments, step=0.7, reach=5.5)
write(__file__, data, "quadrature over the three scales; all effects in closed form", found, error, log_density,
      points_near([1.3, -0.6, -1.1, -1.5, -0.3] + [0.0] * (J + W)))
