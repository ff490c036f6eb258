"""NumPyro: the programs of models.py by its NUTS and HMC, and the polynomial by importance sampling from the prior.

MCMC.run is called within a compiled function. By itself it compiles and traces anew in each call, of seconds where the
draws take a twentieth of one.
"""

import math
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from jax_peer import Compiled, each  # isort: skip  (it sets threads and precision)
import jax
import jax.numpy as jnp
import protocol
from jax.scipy.special import logsumexp
from models import MODELS
from numpyro.infer import HMC, MCMC, NUTS, Predictive, log_likelihood
from numpyro.infer.util import initialize_model


class Case(Compiled):
    can = {"importance": ("polynomial",), "hmc": tuple(MODELS), "nuts": tuple(MODELS)}
    packages = ("numpyro", "jax", "jaxlib")

    def prepare(self):
        self.model = MODELS[self.program]
        return self.importance() if self.method["name"] == "importance" else self.chains()

    def log_density(self, points):
        found = initialize_model(jax.random.key(0), self.model, model_kwargs=self.data)
        shapes = {name: value.shape for name, value in found.param_info.z.items()}
        potential = jax.jit(found.potential_fn)
        return [-potential(protocol.split(self.program, shapes, point)) for point in points]

    def chains(self):
        method = self.method
        if method["name"] == "nuts":
            kernel = NUTS(self.model, target_accept_prob=method["target_accept"])
        else:
            step = {"step_size": method["step_size"], "adapt_step_size": False, "num_steps": method["leapfrogs"]}
            adapted = method.get("metric", "identity") == "adapted"
            kernel = HMC(self.model, trajectory_length=None, adapt_mass_matrix=adapted, **step)
        counts = {"num_warmup": method["tune"], "num_samples": method["draws"], "num_chains": method["chains"]}

        def run(key):
            mcmc = MCMC(kernel, chain_method=lambda chain: partial(each, chain), progress_bar=False, **counts)
            mcmc.run(key, extra_fields=("diverging",), **self.data)
            return mcmc.get_samples(group_by_chain=True), mcmc.get_extra_fields()["diverging"].sum()

        return run

    def importance(self):
        if self.method["proposal"] != "prior":
            raise protocol.Cannot(f"no proposal {self.method['proposal']} here")
        particles, covariates = self.method["particles"], {name: self.data[name] for name in ("N", "x", "noise")}
        self.settings = "Predictive and log_likelihood"

        def run(key):
            prior = Predictive(self.model, num_samples=particles, return_sites=list("abc"), parallel=True)
            theta = prior(key, **covariates)
            log_weights = log_likelihood(self.model, theta, parallel=True, **self.data)["y"].sum(-1)
            return theta, log_weights, logsumexp(log_weights) - math.log(particles)

        return run

    def draws(self):
        if self.method["name"] == "importance":
            theta, log_weights, log_evidence = self.result
            return protocol.Draws(
                jnp.stack([theta[name] for name in "abc"], 1)[None], log_weights, {"log_evidence": log_evidence}
            )
        samples, divergences = self.result
        facts = {"divergences": divergences} | protocol.gradients(self.method)
        return protocol.Draws(protocol.flatten(self.program, samples), None, facts)


protocol.serve(Case)
