"""BlackJAX: NUTS with window adaptation, HMC, and tempered SMC (smc.py), on the log densities of NumPyro's models.

What users of BlackJAX write around its kernels is a scan, and a map over chains.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "numpyro")]

from jax_peer import Compiled, each  # isort: skip  (it sets threads and precision)
import blackjax
import jax
import jax.numpy as jnp
import protocol
from blackjax.adaptation.base import get_filter_adapt_info_fn
from models import MODELS
from numpyro.infer.util import initialize_model
from smc import tempered


class Case(Compiled):
    # The random walk of SMC does not get through hierarchies.
    can = {"hmc": tuple(MODELS), "nuts": tuple(MODELS), "smc": ("polynomial",)}
    packages = ("blackjax", "numpyro", "jax", "jaxlib")

    def prepare(self):
        found = initialize_model(jax.random.key(0), MODELS[self.program], model_kwargs=self.data)
        self.shapes = {name: value.shape for name, value in found.param_info.z.items()}
        self.log_p, self.constrained = lambda x: -found.potential_fn(x), found.postprocess_fn
        if self.method["name"] == "smc":
            return self.smc()
        chain = self.nuts if self.method["name"] == "nuts" else self.hmc
        return lambda key: each(chain, jax.random.split(key, self.method["chains"]))

    def log_density(self, points):
        log_p = jax.jit(self.log_p)
        return [log_p(protocol.split(self.program, self.shapes, point)) for point in points]

    def start(self, key):
        keys = dict(zip(self.shapes, jax.random.split(key, len(self.shapes))))
        return {n: jax.random.uniform(keys[n], shape, minval=-2.0, maxval=2.0) for n, shape in self.shapes.items()}

    def scan(self, kernel, state, key, count):
        """Constrained draws, and how many diverged."""

        def one(state, key):
            state, info = kernel.step(key, state)
            return state, (state.position, info.is_divergent)

        state, (draws, diverged) = jax.lax.scan(one, state, jax.random.split(key, count))
        return state, (jax.vmap(self.constrained)(draws), diverged.sum())

    def nuts(self, key):
        keys, method = jax.random.split(key, 3), self.method
        adaptation = blackjax.window_adaptation(
            blackjax.nuts,
            self.log_p,
            target_acceptance_rate=method["target_accept"],
            adaptation_info_fn=get_filter_adapt_info_fn(),
        )
        (state, parameters), _ = adaptation.run(keys[0], self.start(keys[1]), method["tune"])
        return self.scan(blackjax.nuts(self.log_p, **parameters), state, keys[2], method["draws"])[1]

    def hmc(self, key):
        keys, method = jax.random.split(key, 3), self.method
        if method.get("metric", "identity") != "identity":
            raise protocol.Cannot("BlackJAX adapts the step with the metric")
        metric = jnp.ones(sum(jnp.zeros(shape).size for shape in self.shapes.values()))
        kernel = blackjax.hmc(self.log_p, method["step_size"], metric, method["leapfrogs"])
        state, _ = self.scan(kernel, kernel.init(self.start(keys[0])), keys[1], method["tune"])
        return self.scan(kernel, state, keys[2], method["draws"])[1]

    def smc(self):
        self.settings = "adaptively tempered, ten steps of a random walk"
        run = tempered(MODELS[self.program], self.data, self.method["particles"], self.shapes)

        def constrained(key):
            particles, log_evidence = run(key)
            return jax.tree.map(lambda one: one[None], jax.vmap(self.constrained)(particles)), log_evidence

        return constrained

    def draws(self):
        if self.method["name"] == "smc":
            samples, log_evidence = self.result
            return protocol.Draws(protocol.flatten(self.program, samples), None, {"log_evidence": log_evidence})
        samples, divergences = self.result
        facts = {"divergences": divergences.sum()} | protocol.gradients(self.method)
        return protocol.Draws(protocol.flatten(self.program, samples), None, facts)


protocol.serve(Case)
