"""PyMC: the programs of models.py by its NUTS and HMC, and the polynomial by sequential Monte Carlo."""

import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import protocol

first = protocol.begin()

import pytensor  # noqa: E402  (after the threads are set)

pytensor.config.floatX = "float64" if first["precision"] == "f64" else "float32"

import models  # noqa: E402
import numpy as np  # noqa: E402
import pymc as pm  # noqa: E402

warnings.filterwarnings("ignore")


CAN = {"hmc": tuple(models.MODELS), "nuts": tuple(models.MODELS), "smc": ("polynomial",)}


class Case:
    def __init__(self, request):
        self.method, self.program = protocol.check(request, CAN, only=("cpu", "f64", "f32")), request["program"]
        began = time.perf_counter()
        self.model, self.threads = models.made(self.program, protocol.data(request)), request["threads"]
        self.prepare()
        seconds = time.perf_counter() - began
        self.facts = protocol.facts(request, ("pymc", "pytensor", "numba"), seconds, self.settings)

    def log_density(self, points):
        return models.log_density(self.model, self.program, points, protocol.split)

    def values(self):
        names = protocol.PARAMETERS[self.program]
        samples = {name: np.stack(self.trace.get_values(name, combine=False, squeeze=False)) for name in names}
        return protocol.flatten(self.program, samples)


class Chains(Case):
    def prepare(self):
        self.start = self.model.initial_point()
        self.step = self.nuts() if self.method["name"] == "nuts" else self.hmc()
        self.sample(0, tune=1, draws=1)
        self.settings = f"PyMC's own sampler, {min(self.threads, self.method['chains'])} processes, one compiled step"

    def nuts(self):
        """What pm.sample makes by itself: a diagonal metric that is adapted."""
        return pm.init_nuts(model=self.model, target_accept=self.method["target_accept"], progressbar=False)[1]

    def hmc(self):
        step, size = self.method["step_size"], sum(np.size(value) for value in self.start.values())
        adapted = self.method.get("metric", "identity") == "adapted"
        return pm.HamiltonianMC(
            model=self.model,
            path_length=step * (self.method["leapfrogs"] + 0.5),
            step_scale=step * size**0.25,
            adapt_step_size=False,
            step_rand=None,
            # By default a step that gains 1000 is rejected like one that loses them, and no chain comes from afar.
            Emax=np.inf,
            scaling=None if adapted else np.ones(size),
        )

    def sample(self, seed, tune, draws):
        chains, random = self.method["chains"], np.random.default_rng(seed)
        # As pm.sample does, which would compile a function for it.
        jittered = [{n: v + random.uniform(-1, 1, np.shape(v)) for n, v in self.start.items()} for _ in range(chains)]
        return pm.sample(
            draws,
            tune=tune,
            chains=chains,
            cores=min(self.threads, chains),
            step=self.step,
            initvals=jittered,
            random_seed=seed,
            model=self.model,
            nuts_sampler="pymc",
            progressbar=False,
            quiet=True,
            compute_convergence_checks=False,
            return_inferencedata=False,
        )

    def run(self, seed):
        began = time.perf_counter()
        self.trace = self.sample(seed, self.method["tune"], self.method["draws"])
        return time.perf_counter() - began

    def draws(self):
        divergences = np.sum(self.trace.get_sampler_stats("diverging"))
        return protocol.Draws(self.values(), None, {"divergences": divergences} | protocol.gradients(self.method))


class Smc(Case):
    settings = "pm.sample_smc, which compiles a little in each run"

    def prepare(self):
        self.run(0)

    def run(self, seed):
        began = time.perf_counter()
        self.trace = pm.sample_smc(
            self.method["particles"],
            chains=1,
            cores=1,
            random_seed=seed,
            model=self.model,
            progressbar=False,
            compute_convergence_checks=False,
            return_inferencedata=False,
        )
        return time.perf_counter() - began

    def draws(self):
        return protocol.Draws(self.values(), None, {"log_evidence": self.trace.report.log_marginal_likelihood[-1]})


protocol.serve(lambda request: (Smc if request["method"]["name"] == "smc" else Chains)(request))
