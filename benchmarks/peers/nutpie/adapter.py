"""nutpie: the programs of PyMC's models.py by its NUTS in Rust."""

import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "pymc")]

import protocol

protocol.begin()

import models  # noqa: E402  (after the threads are set)
import numpy as np  # noqa: E402
import nutpie  # noqa: E402


class Case:
    def __init__(self, request):
        self.method = protocol.check(request, {"nuts": tuple(models.MODELS)}, only=("cpu", "f64"))
        self.program, self.threads = request["program"], request["threads"]
        self.model = models.made(self.program, protocol.data(request))
        began = time.perf_counter()
        self.compiled = nutpie.compile_pymc_model(self.model)
        seconds = time.perf_counter() - began
        self.run(request["seed"])
        settings = f"{min(self.threads, self.method['chains'])} threads, diagonal metric"
        self.facts = protocol.facts(request, ("nutpie", "pymc", "pytensor", "numba"), seconds, settings)

    def log_density(self, points):
        return models.log_density(self.model, self.program, points, protocol.split)

    def run(self, seed):
        method = self.method
        began = time.perf_counter()
        self.trace = nutpie.sample(
            self.compiled,
            draws=method["draws"],
            tune=method["tune"],
            chains=method["chains"],
            cores=min(self.threads, method["chains"]),
            target_accept=method["target_accept"],
            seed=seed,
            progress_bar=False,
        )
        return time.perf_counter() - began

    def draws(self):
        names = protocol.PARAMETERS[self.program]
        samples = {name: self.trace.posterior[name].values for name in names}
        stats = self.trace.sample_stats
        divergences = np.sum(stats["diverging"].values)
        return protocol.Draws(protocol.flatten(self.program, samples), None, {"divergences": divergences})


protocol.serve(Case)
