"""Bootstrap particle filters."""

import math

import jax
import jax.numpy as jnp
import protocol
from jax import lax, random

LOG_2PI = math.log(2 * math.pi)


def running_sum(values):
    """A scan: faster than jnp.cumsum on a CPU, which makes a tree of it."""
    if jax.default_backend() != "cpu":
        return jnp.cumsum(values)
    return lax.scan(lambda total, value: (total + value,) * 2, jnp.zeros((), values.dtype), values, unroll=16)[1]


def systematic(u, log_weights):
    """Ancestors of all particles by systematic resampling; the log of the mean weight."""
    count, largest = log_weights.size, log_weights.max()
    sums = running_sum(jnp.exp(log_weights - largest))
    # A particle's children begin at the first of the evenly spaced positions that is not before its interval.
    begins = jnp.ceil(sums * (count / sums[-1]) - u).astype(jnp.int32)
    marks = jnp.zeros(count, jnp.int32).at[begins[:-1]].add(1, mode="drop", indices_are_sorted=True)
    return running_sum(marks), largest + jnp.log(sums[-1] / count)


def particle_filter(program, y, method):
    particles, given, start = method["particles"], protocol.FILTERED[program], jnp.arange(len(y)) == 0

    def state_space(state, first, z):
        moved = jnp.where(first, z, given["phi"] * state + given["q"] * z)
        return moved, moved, given["r"]

    def hmm(state, first, u):
        stay, mu = jnp.asarray(given["stay"]), jnp.asarray(given["mu"])
        # Both states are as likely before the first observation, and it comes after a step.
        before = jnp.where(first, jnp.arange(particles) % 2, state)
        moved = jnp.where(u < stay[before], before, 1 - before)
        return moved, mu[moved], given["sigma"]

    step = state_space if program == "state-space" else hmm
    draw, zero = (random.normal, 0.0) if program == "state-space" else (random.uniform, 0)

    def run(key):
        keys = random.split(key)
        numbers, uniforms = draw(keys[0], (len(y), particles)), random.uniform(keys[1], (len(y),))

        def one(state, inputs):
            value, first, random_numbers, u = inputs
            moved, mean, sd = step(state, first, random_numbers)
            log_weights = -0.5 * ((value - mean) / sd) ** 2 - jnp.log(sd) - 0.5 * LOG_2PI
            ancestors, log_mean = systematic(u, log_weights)
            return moved[ancestors], log_mean

        return lax.scan(one, jnp.full(particles, zero), (y, start, numbers, uniforms))[1].sum()

    return run, lambda result: protocol.Draws(facts={"log_evidence": result})
