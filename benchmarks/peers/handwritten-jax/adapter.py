"""Hand-written JAX: polynomial regression by importance sampling and HMC, bootstrap particle filters, arrays and draws.

Each form was the fastest of several on a CPU (jax 0.12.0.1).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from jax_peer import Compiled  # isort: skip  (it sets threads and precision)
import jax
import jax.numpy as jnp
import protocol
import work_case
from filters import particle_filter
from polynomial import Polynomial, hmc, importance


class Case(Compiled):
    can = {"importance": ("polynomial",), "hmc": ("polynomial",), "filter": ("state-space", "hmm")}
    model = None

    def prepare(self):
        if self.method["name"] == "filter":
            run, self.draws_of = particle_filter(self.program, self.data["y"], self.method)
        else:
            self.model = Polynomial(self.data)
            run, self.draws_of = {"importance": importance, "hmc": hmc}[self.method["name"]](self.model, self.method)
        return run

    def log_density(self, points):
        if self.model is None:
            raise protocol.Cannot("a filter sums its states out")
        return jax.vmap(self.model.value_and_gradient)(jnp.asarray(points, float))[0]

    def draws(self):
        return self.draws_of(self.result)


KINDS = {"arrays": work_case.Arrays, "random": work_case.Random}
protocol.serve(lambda request: KINDS.get(request["program"], Case)(request))
