"""GenJAX: polynomial regression by importance sampling from the prior and HMC.

Its HMC moves the choices themselves, without transforms, so that a program must have no bounds.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from jax_peer import Compiled, each  # isort: skip  (it sets threads and precision)
import jax
import jax.numpy as jnp
import protocol
from genjax import const, gen, normal, seed, sel
from genjax.inference import chain, hmc, init


@gen
def polynomial(x, noise):
    a = normal(0.0, 1.0) @ "a"
    b = normal(0.0, 1.0) @ "b"
    c = normal(0.0, 1.0) @ "c"
    return normal.vmap(in_axes=(0, None))(a + b * x + c * x**2, noise) @ "y"


class Case(Compiled):
    can = {"importance": ("polynomial",), "hmc": ("polynomial",)}
    packages = ("genjax", "jax", "jaxlib")

    def prepare(self):
        self.args, self.seen = (self.data["x"], self.data["noise"]), {"y": self.data["y"]}
        return self.importance() if self.method["name"] == "importance" else self.chains()

    def log_density(self, points):
        assess = jax.jit(lambda theta: polynomial.assess({**dict(zip("abc", theta)), **self.seen}, *self.args)[0])
        return [assess(jnp.asarray(point, float)) for point in points]

    def importance(self):
        if self.method["proposal"] != "prior":
            raise protocol.Cannot(f"no proposal {self.method['proposal']} here")
        particles = const(self.method["particles"])

        def run():
            found = init(polynomial, self.args, particles, self.seen)
            return found.traces.get_choices(), found.log_weights, found.log_marginal_likelihood()

        return seed(run)

    def chains(self):
        method, selection = self.method, sel("a") | sel("b") | sel("c")
        if method.get("metric", "identity") != "identity":
            raise protocol.Cannot("no metric but the identity here")
        kernel = chain(lambda trace: hmc(trace, selection, method["step_size"], method["leapfrogs"]))
        counts = {"n_steps": const(method["tune"] + method["draws"]), "burn_in": const(method["tune"])}

        def one():
            start, _ = polynomial.generate(self.seen, *self.args)
            return kernel(start, **counts).traces.get_choices()

        return lambda key: each(seed(one), jax.random.split(key, method["chains"]))

    def draws(self):
        if self.method["name"] == "importance":
            choices, log_weights, log_evidence = self.result
            values = jnp.stack([choices[name] for name in "abc"], axis=1)[None]
            return protocol.Draws(values, log_weights, {"log_evidence": log_evidence})
        return protocol.Draws(protocol.flatten(self.program, self.result), None, protocol.gradients(self.method))


protocol.serve(Case)
