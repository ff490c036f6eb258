"""Writes expected.json: bands of the empirical distribution function and chi-square tests, by SciPy and ArviZ.

    pip install arviz==0.23.4 numpy==2.4.6 scipy==1.17.1 && python expected.py

The band is bayesplot's `adjust_gamma_optimize` (the algorithm of Saeilynoja, Buerkner and Vehtari 2022, section 2.2.3):
the set of counts that stay inside goes from point to point with binomial probabilities. Its level is searched here
twice: the one nearest to the coverage, as bayesplot and ArviZ do, and the largest that covers as much or more.
"""

import json
from pathlib import Path

import numpy as np
from arviz.stats.ecdf_utils import ecdf_confidence_band
from scipy.optimize import minimize_scalar
from scipy.stats import binom, chisquare


def intervals(gamma, n, m):
    z = np.arange(1, m + 1) / m
    lower = binom.ppf(gamma / 2, n, z).astype(int)
    upper = np.append(n - lower[::-1][1:], n)
    return lower, upper


def coverage(lower, upper, n, m):
    """Chain of binomials from z to z': R' - R given R is Bin(n - R, (z' - z) / (1 - z))."""
    states, inside = np.array([0]), np.array([1.0])
    for i in range(m):
        z, z_next = i / m, (i + 1) / m
        share = (z_next - z) / (1 - z)
        to = np.arange(lower[i], upper[i] + 1)
        inside = binom.pmf(to[:, None] - states[None, :], n - states[None, :], share) @ inside
        states = to
    return inside.sum()


def nearest(prob, n, m):
    target = lambda gamma: abs(prob - coverage(*intervals(gamma, n, m), n, m))
    return minimize_scalar(target, bounds=(0, 1 - prob), method="bounded").x


def conservative(prob, n, m):
    low, high = 0.0, 1 - prob
    for _ in range(60):
        gamma = (low + high) / 2
        if coverage(*intervals(gamma, n, m), n, m) >= prob:
            low = gamma
        else:
            high = gamma
    return low


bands = []
for n, m, prob in [(50, 10, 0.95), (100, 20, 0.95), (250, 64, 0.99), (1000, 100, 0.95), (1000, 100, 0.999), (60, 8, 0.5)]:
    lower, upper = intervals(nearest(prob, n, m), n, m)
    low, high = intervals(conservative(prob, n, m), n, m)
    z = np.arange(1, m + 1) / m
    arviz_low, arviz_high = ecdf_confidence_band(n, z, z, prob=prob, method="optimized")
    # ArviZ searches on a coarser path: its bounds may differ by one rank here and there.
    apart = max(np.abs(np.rint(arviz_low * n) - lower).max(), np.abs(np.rint(arviz_high * n) - upper).max())
    assert apart <= 1, (n, m, prob, apart)
    bands.append(
        dict(
            ranks=n,
            outcomes=m,
            coverage=prob,
            lower=lower.tolist(),
            upper=upper.tolist(),
            exact_coverage=coverage(lower, upper, n, m),
            conservative_lower=low.tolist(),
            conservative_upper=high.tolist(),
        )
    )

tests = []
random = np.random.default_rng(3)
for m, bins, n in [(100, 20, 1000), (64, 16, 320), (30, 5, 200), (100, 25, 1000)]:
    counts = np.bincount(random.binomial(m - 1, random.beta(0.9, 1.0, n)), minlength=m)
    statistic, p_value = chisquare(counts.reshape(bins, -1).sum(axis=1))
    tests.append(dict(counts=counts.tolist(), bins=bins, statistic=statistic, p_value=p_value))

path = Path(__file__).with_name("expected.json")
path.write_text(json.dumps(dict(bands=bands, chi_square=tests), indent=None, separators=(",", ":")) + "\n")
