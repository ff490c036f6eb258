"""Hidden Markov model: the forward algorithm, and quadrature over the five parameters."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import beta, lognorm, norm
from truth import between, integrate, ordered, points_near, positive, write

random = np.random.default_rng(42)
T = 100
stay, mean = [0.9, 0.8], [-1.0, 1.5]
state, y = 0, []
for _ in range(T):
    state = state if random.random() < stay[state] else 1 - state
    y.append(random.normal(mean[state], 0.8))
y = np.round(y, 3)


def parameters(q):
    (stay, a), (mu, b), (sigma, c) = between(q[..., :2]), ordered(q[..., 2:4]), positive(q[..., 4])
    log_p = beta.logpdf(stay, 8, 2).sum(-1) + norm.logpdf(mu, [-2, 2], 1).sum(-1) + lognorm.logpdf(sigma, 0.5)
    return stay, mu, sigma, log_p + a.sum(-1) + b + c


def log_density(q):
    stay, mu, sigma, log_p = parameters(q)
    move = np.stack([np.stack([stay[..., 0], 1 - stay[..., 0]], -1), np.stack([1 - stay[..., 1], stay[..., 1]], -1)], -2)
    alpha = np.full(mu.shape, 0.5)
    for value in y:
        alpha = (alpha[..., None] * move).sum(-2) * norm.pdf(value, mu, sigma[..., None])
        total = alpha.sum(-1)
        log_p = log_p + np.log(total)
        alpha = alpha / total[..., None]
    return log_p


def moments(q):
    stay, mu, sigma, _ = parameters(q)
    return {"stay": (stay, stay**2), "mu": (mu, mu**2), "sigma": (sigma, sigma**2)}


start = [2.0, 1.5, -1.0, 0.9, -0.2]
found, error = integrate(log_density, start, moments, step=0.85, reach=5.6)
write(__file__, {"T": T, "y": y}, "forward algorithm, and quadrature over all coordinates", found, error, log_density,
      points_near(start))
