"""Hand-written JAX: polynomial regression by importance sampling and HMC, and bootstrap particle filters.

Written for speed: everything between a key and the draws is one compiled function, which makes the random numbers, too;
loops are scans, and leapfrogs are unrolled. Each form was the fastest of several on a CPU (jax 0.12.0.1).
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import protocol

first = protocol.begin()

import jax  # noqa: E402  (after the threads are set)

jax.config.update("jax_enable_x64", first["precision"] == "f64")

import jax.numpy as jnp  # noqa: E402
from filters import particle_filter  # noqa: E402
from polynomial import Polynomial, hmc, importance  # noqa: E402

CAN = {"importance": ("polynomial",), "hmc": ("polynomial",), "filter": ("state-space", "hmm")}


class Case:
    def __init__(self, request):
        method, data = protocol.check(request, CAN), protocol.data(request)
        if request["program"] == "polynomial":
            self.model = Polynomial(data)
            run, self.of = (importance if method["name"] == "importance" else hmc)(self.model, method)
        else:
            self.model = None
            run, self.of = particle_filter(request["program"], data, method)
        began = time.perf_counter()
        self.compiled = jax.jit(run).lower(jax.random.key(0)).compile()
        seconds = time.perf_counter() - began
        self.run(request["seed"])
        self.facts = protocol.facts(request, ("jax", "jaxlib"), seconds, "one compiled function")

    def log_density(self, points):
        if self.model is None:
            raise protocol.Cannot("a filter sums its states out")
        return jax.vmap(self.model.value_and_gradient)(jnp.asarray(points, float))[0]

    def run(self, seed):
        key = jax.block_until_ready(jax.random.key(seed))
        began = time.perf_counter()
        self.result = jax.block_until_ready(self.compiled(key))
        return time.perf_counter() - began

    def draws(self):
        return self.of(self.result)


protocol.serve(Case)
