"""Bulk effective sample size and R-hat of Vehtari et al. (2021) as ArviZ 0.23 defines them, with numpy and scipy only.

`check_diagnostics.py` compares them with ArviZ itself. Arrays are chains x draws.
"""

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata


def split(values):
    """Both halves of each chain as chains of their own; an odd draw in the middle is left out."""
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, values.shape[1] - half :]])


def normal_ranks(values):
    return ndtri((rankdata(values).reshape(values.shape) - 0.375) / (values.size + 0.25))


def autocovariance(values):
    draws = values.shape[1]
    centred = values - values.mean(axis=1, keepdims=True)
    size = 1 << (2 * draws - 1).bit_length()
    power = np.abs(np.fft.rfft(centred, size)) ** 2
    return np.fft.irfft(power, size)[:, :draws] / draws


def ess(values):
    """Geyer's initial monotone sequence over all chains."""
    chains, draws = values.shape
    covariance = autocovariance(values).mean(axis=0)
    within = covariance[0] * draws / (draws - 1)
    total = covariance[0]
    if chains > 1:
        total = total + values.mean(axis=1).var(ddof=1)
    correlation = 1 - (within - covariance) / total
    rho = np.zeros(draws)
    even, odd = 1.0, correlation[1]
    rho[0], rho[1] = even, odd
    t = 1
    while t < draws - 3 and even + odd > 0:
        even, odd = correlation[t + 1], correlation[t + 2]
        if even + odd >= 0:
            rho[t + 1], rho[t + 2] = even, odd
        t += 2
    last = t - 2
    if even > 0:
        rho[last + 1] = even
    for t in range(1, last - 1, 2):
        if rho[t + 1] + rho[t + 2] > rho[t - 1] + rho[t]:
            rho[t + 1] = rho[t + 2] = (rho[t - 1] + rho[t]) / 2
    count = chains * draws
    tau = -1 + 2 * rho[: last + 1].sum() + rho[last + 1 : last + 2].sum()
    return count / max(tau, 1 / np.log10(count))


def plain_rhat(values):
    draws = values.shape[1]
    between = draws * values.mean(axis=1).var(ddof=1)
    within = values.var(axis=1, ddof=1).mean()
    return np.sqrt((between / within + draws - 1) / draws)


def ess_bulk(values):
    return ess(normal_ranks(split(values)))


def rhat(values):
    """The larger one of the rank-normalised R-hats of location and of scale."""
    halves = split(values)
    folded = np.abs(halves - np.median(halves))
    return max(plain_rhat(normal_ranks(halves)), plain_rhat(normal_ranks(folded)))
