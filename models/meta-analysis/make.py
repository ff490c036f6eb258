"""Meta-analysis: quadrature over effect and tau, and of each trial over its baseline and its effect.

The data are 22 trials of beta-blockers after a heart attack: Yusuf et al. (1985), Progress in Cardiovascular Diseases 27,
335-371, as printed in Gelman et al., Bayesian Data Analysis, table 5.4."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import logsumexp
from scipy.stats import binom, halfnorm, norm
from truth import integrate_box, points_near, positive, write

died = np.array([3, 7, 5, 102, 28, 4, 98, 60, 25, 138, 64, 45, 9, 57, 25, 33, 28, 8, 6, 32, 27, 22])
treated = np.array([38, 114, 69, 1533, 355, 59, 945, 632, 278, 1916, 873, 263, 291, 858, 154, 207, 251, 151, 174, 209,
                    391, 680])
controls_died = np.array([3, 14, 11, 127, 27, 6, 152, 48, 37, 188, 52, 47, 16, 45, 31, 38, 12, 6, 3, 40, 43, 39])
controls = np.array([39, 116, 93, 1520, 365, 52, 939, 471, 282, 1921, 583, 266, 293, 883, 147, 213, 122, 154, 134, 218,
                     364, 674])
J = len(died)


def inverse_logit(x):
    return 1 / (1 + np.exp(-x))


def prior(q):
    (tau, jacobian) = positive(q[..., 1])
    return q[..., 0], tau, norm.logpdf(q[..., 0]) + halfnorm.logpdf(tau, 0, 0.5) + jacobian


def log_density(q):
    effect, tau, log_p = prior(q[:2])
    baseline, delta = q[2:2 + J], q[2 + J:]
    log_p += norm.logpdf(baseline, -2, 1.5).sum() + norm.logpdf(delta, effect, tau).sum()
    log_p += binom.logpmf(controls_died, controls, inverse_logit(baseline)).sum()
    return log_p + binom.logpmf(died, treated, inverse_logit(baseline + delta)).sum()


# Of each trial, on a lattice of delta: the likelihood with the baseline summed out, and moments of the baseline.
lattice = np.arange(-9, 9.01, 0.05)
sums = []
for j in range(J):
    center = np.log((controls_died[j] + 0.5) / (controls[j] - controls_died[j] + 0.5))
    width = 1 / np.sqrt(controls_died[j] + 0.5) + 0.2
    baseline = np.linspace(center - 10 * width, center + 10 * width, 801)

    def log_binomial(died, patients, eta):
        return died * eta - patients * np.logaddexp(0, eta)

    log_p = norm.logpdf(baseline, -2, 1.5) + log_binomial(controls_died[j], controls[j], baseline)
    log_p = log_p + log_binomial(died[j], treated[j], baseline + lattice[:, None])
    total = logsumexp(log_p, axis=-1)
    weight = np.exp(log_p - total[:, None])
    sums.append(CubicSpline(lattice, np.stack([total, weight @ baseline, weight @ baseline**2], axis=-1)))


z = np.arange(-7, 7.01, 0.25)


def trials(q):
    effect, tau, _ = prior(q)
    delta = np.clip(effect[:, None] + tau[:, None] * z, -9, 9)
    for one in sums:
        total, mean, square = np.moveaxis(one(delta), -1, 0)
        log_p = norm.logpdf(z) + np.log(0.25) + total
        whole = logsumexp(log_p, axis=-1)
        weight = np.exp(log_p - whole[:, None])
        yield (whole, *((weight * value).sum(-1) for value in (delta, delta**2, mean, square)))


def marginal(q):
    return prior(q)[2] + sum(one[0] for one in trials(q))


def moments(q):
    effect, tau, _ = prior(q)
    each = list(trials(q))
    stacked = [np.stack([one[k] for one in each], axis=-1) for k in range(1, 5)]
    return {"effect": (effect, effect**2), "tau": (tau, tau**2), "delta": tuple(stacked[:2]),
            "baseline": tuple(stacked[2:])}


found, error = integrate_box(marginal, [(-1.2, 0.7, 0.02), (-16, 1.5, 0.15)], moments, chunk=2000)
write(__file__, {"J": J, "treated": treated, "died": died, "controls": controls, "controls_died": controls_died},
      "quadrature over effect and tau, and of each trial over its baseline and its effect", found, error, log_density,
      points_near(np.concatenate([[-0.25, -2.0], [-2.3] * J, [-0.25] * J])))
