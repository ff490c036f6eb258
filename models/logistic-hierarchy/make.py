"""Logistic hierarchy: quadrature over mu, tau and slope, and of each clinic over its own intercept."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.special import log_expit, logsumexp
from scipy.stats import bernoulli, halfnorm, norm
from truth import integrate, points_near, positive, write

random = np.random.default_rng(42)
sizes = np.array([14, 22, 9, 30, 17, 12, 25, 11, 19, 26, 8, 7])
J, N = len(sizes), int(sizes.sum())
clinic = np.repeat(np.arange(1, J + 1), sizes)
age = np.round(random.normal(0, 1.2, N), 2)
level = random.normal(0.5, 1.1, J)
recovered = random.binomial(1, 1 / (1 + np.exp(-(level[clinic - 1] - 0.6 * age))))
sign = 2 * recovered - 1


def prior(q):
    (tau, jacobian) = positive(q[..., 1])
    mu, slope = q[..., 0], q[..., 2]
    log_p = norm.logpdf(mu, 0, 1.5) + halfnorm.logpdf(tau) + norm.logpdf(slope) + jacobian
    return mu, tau, slope, log_p


def log_density(q):
    mu, tau, slope, log_p = prior(q)
    alpha = q[3:]
    eta = alpha[clinic - 1] + slope * age
    return log_p + norm.logpdf(alpha, mu, tau).sum() + bernoulli.logpmf(recovered, 1 / (1 + np.exp(-eta))).sum()


z = np.arange(-7, 7.01, 0.25)
log_z = norm.logpdf(z) + np.log(0.25)


def clinics(q):
    """Of each point and clinic: the log of the integral, and the mean and the mean square of the intercept."""
    mu, tau, slope, _ = prior(q)
    alpha = mu[:, None] + tau[:, None] * z
    for j in range(J):
        own = clinic == j + 1
        log_p = np.broadcast_to(log_z, alpha.shape).copy()
        for a, s in zip(age[own], sign[own]):
            log_p += log_expit(s * (alpha + slope[:, None] * a))
        total = logsumexp(log_p, axis=-1)
        weight = np.exp(log_p - total[:, None])
        yield total, (weight * alpha).sum(-1), (weight * alpha**2).sum(-1)


def marginal(q):
    return prior(q)[3] + sum(total for total, _, _ in clinics(q))


def moments(q):
    mu, tau, slope, _ = prior(q)
    each = list(clinics(q))
    alpha = tuple(np.stack([one[k] for one in each], axis=-1) for k in (1, 2))
    return {"mu": (mu, mu**2), "tau": (tau, tau**2), "slope": (slope, slope**2), "alpha": alpha}


found, error = integrate(marginal, [0.5, 0.0, -0.5], moments, step=0.6, reach=7.0, chunk=500)
write(__file__, {"N": N, "J": J, "clinic": clinic, "age": age, "recovered": recovered},
      "quadrature over mu, tau and slope, and of each clinic over its intercept", found, error, log_density,
      points_near([0.5, 0, -0.5] + [0.5] * J))
