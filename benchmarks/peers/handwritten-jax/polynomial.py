"""Polynomial regression by importance sampling and HMC."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import protocol
from jax import lax, random
from jax.scipy.special import logsumexp
from jax_peer import each

LOG_2PI = math.log(2 * math.pi)


class Polynomial:
    """y ~ normal(a + b x + c x^2, noise), a, b, c ~ normal(0, 1)."""

    def __init__(self, data):
        self.x, self.y = data["x"], data["y"]
        self.noise, self.n = data["noise"], data["N"]
        self.columns = jnp.stack([jnp.ones(self.n), self.x, self.x**2])

    def of_squares(self, squares):
        return -0.5 * squares / self.noise**2 - self.n * (math.log(self.noise) + 0.5 * LOG_2PI)

    def log_likelihood(self, theta):
        """Of particles, 3 x particles."""
        a, b, c = theta
        if jax.default_backend() != "cpu":
            residuals = self.y[:, None] - (a + self.x[:, None] * (b + self.x[:, None] * c))
            return self.of_squares((residuals**2).sum(0))

        # On a CPU a loop over the data is faster: the particles fill the vectors, and stay in the cache.
        def add(squares, point):
            x, y = point
            return squares + (y - (a + x * (b + x * c))) ** 2, None

        return self.of_squares(lax.scan(add, jnp.zeros_like(a), (self.x, self.y), unroll=5)[0])

    def value_and_gradient(self, theta):
        """Of the log density, at one point."""
        residuals = self.y - theta @ self.columns
        value = self.of_squares(residuals @ residuals) - 0.5 * (theta @ theta) - 1.5 * LOG_2PI
        return value, self.columns @ residuals / self.noise**2 - theta

    def laplace(self):
        """Mode and Cholesky factor of the covariance: exact for this model."""
        precision = jnp.eye(3) + self.columns @ self.columns.T / self.noise**2
        factor = jnp.linalg.cholesky(jnp.linalg.inv(precision))
        return factor @ (factor.T @ (self.columns @ self.y / self.noise**2)), factor


def importance(model, method):
    """Particles (3 x particles), their log weights and the log evidence, as a function of a key."""
    particles = method["particles"]
    if method["proposal"] not in ("prior", "laplace"):
        raise protocol.Cannot(f"no proposal {method['proposal']} here")

    def run(key):
        z = random.normal(key, (3, particles))
        if method["proposal"] == "prior":
            theta, log_weights = z, model.log_likelihood(z)
        else:
            mode, factor = model.laplace()
            theta = mode[:, None] + (factor[:, :, None] * z).sum(1)
            log_proposal = -0.5 * (z**2).sum(0) - 1.5 * LOG_2PI - jnp.log(jnp.diag(factor)).sum()
            log_prior = -0.5 * (theta**2).sum(0) - 1.5 * LOG_2PI
            log_weights = log_prior + model.log_likelihood(theta) - log_proposal
        return theta, log_weights, logsumexp(log_weights) - math.log(particles)

    def draws(result):
        theta, log_weights, log_evidence = result
        return protocol.Draws(theta.T[None], log_weights, {"log_evidence": log_evidence})

    return run, draws


def hmc(model, method):
    """HMC with a fixed step and the identity metric: tune iterations are as the others, and thrown away."""
    if method.get("metric", "identity") != "identity":
        raise protocol.Cannot("no metric but the identity here")
    step, leapfrogs, chains = method["step_size"], method["leapfrogs"], method["chains"]
    iterations = method["tune"] + method["draws"]

    def iteration(state, random_numbers):
        position, log_p, gradient = state
        momentum, log_uniform = random_numbers
        q, p, g = position, momentum + 0.5 * step * gradient, gradient
        for k in range(leapfrogs):
            q = q + step * p
            value, g = model.value_and_gradient(q)
            p = p + (step if k < leapfrogs - 1 else 0.5 * step) * g
        change = value - log_p - 0.5 * (p @ p - momentum @ momentum)
        accepted = log_uniform < change
        state = jax.tree.map(lambda new, old: jnp.where(accepted, new, old), (q, value, g), (position, log_p, gradient))
        return state, (state[0], ~(change > -1000.0))

    def chain(key):
        keys = random.split(key, 3)
        position = random.uniform(keys[0], (3,), minval=-2.0, maxval=2.0)
        numbers = random.normal(keys[1], (iterations, 3)), jnp.log(random.uniform(keys[2], (iterations,)))
        _, (draws, diverged) = lax.scan(iteration, (position, *model.value_and_gradient(position)), numbers)
        return draws[method["tune"] :], diverged[method["tune"] :].sum()

    def draws(result):
        facts = {"divergences": np.sum(result[1])} | protocol.gradients(method)
        return protocol.Draws(result[0], None, facts)

    return lambda key: each(chain, random.split(key, chains)), draws
