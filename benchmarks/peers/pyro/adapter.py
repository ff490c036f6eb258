"""Pyro: the programs of models.py by its NUTS and HMC, and the polynomial by importance sampling from the prior.

Log densities are traced by torch's JIT. Chains come one after the other: Pyro's own processes would trace anew in each.
"""

import math
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import protocol

first = protocol.begin()

import torch  # noqa: E402  (after the threads are set)

torch.set_default_dtype(torch.float64 if first["precision"] == "f64" else torch.float32)
torch.set_num_threads(first["threads"])
if first["device"] != "cpu" and torch.cuda.is_available():
    torch.set_default_device("cuda")

import pyro  # noqa: E402
from models import MODELS  # noqa: E402
from pyro.infer import HMC, MCMC, NUTS  # noqa: E402
from pyro.infer.autoguide.initialization import init_to_uniform  # noqa: E402
from pyro.infer.importance import vectorized_importance_weights  # noqa: E402
from pyro.infer.mcmc.util import initialize_model  # noqa: E402
from torch.distributions import biject_to  # noqa: E402

warnings.filterwarnings("ignore")


def placed(value):
    if isinstance(value, (int, float)):
        return value
    return torch.tensor(value, dtype=None if value.dtype.kind in "iu" else torch.get_default_dtype())


def first_value(site):
    """Where initialize_model begins; Pyro's own way would draw from improper priors."""
    if isinstance(site["fn"], pyro.distributions.ImproperUniform):
        return biject_to(site["fn"].support)(torch.zeros(site["fn"].shape()))
    return init_to_uniform(site)


def barrier():
    if torch.get_default_device().type == "cuda":
        torch.cuda.synchronize()


class Case:
    can = {"importance": ("polynomial",), "hmc": tuple(MODELS), "nuts": tuple(MODELS)}

    def __init__(self, request):
        if request["device"] != "cpu" and not torch.cuda.is_available():
            raise protocol.Cannot("torch sees no GPU")
        self.method, self.program = protocol.check(request, self.can), request["program"]
        self.model = MODELS[self.program]
        self.data = {name: placed(value) for name, value in protocol.data(request).items()}
        # Densities of observed outcomes are of floats here.
        for name in {"success", "recovered"} & self.data.keys():
            self.data[name] = self.data[name].to(torch.get_default_dtype())
        began = time.perf_counter()
        self.start, self.potential, self.transforms, _ = initialize_model(
            self.model,
            model_kwargs=self.data,
            jit_compile=True,
            skip_jit_warnings=True,
            max_plate_nesting=0,
            init_strategy=first_value,
        )
        self.prepare()
        seconds = time.perf_counter() - began
        gpu = torch.cuda.get_device_name() if request["device"] != "cpu" else ""
        self.facts = protocol.facts(request, ("pyro-ppl", "torch"), seconds, self.settings, gpu)

    def log_density(self, points):
        shapes = {name: value.shape for name, value in self.start.items()}
        named = (protocol.split(self.program, shapes, point) for point in points)
        return [-self.potential({name: torch.tensor(x) for name, x in point.items()}).item() for point in named]

    def run(self, seed):
        pyro.set_rng_seed(seed)
        began = time.perf_counter()
        self.sample(self.method)
        barrier()
        return time.perf_counter() - began


class Chains(Case):
    settings = "chains one after the other, torch.jit"

    def prepare(self):
        tiny = {"tune": 5, "draws": 5, "chains": 1}
        self.sample(self.method | tiny)

    def kernel(self, method):
        if method["name"] == "nuts":
            return NUTS(potential_fn=self.potential, target_accept_prob=method["target_accept"])
        return HMC(
            potential_fn=self.potential,
            step_size=method["step_size"],
            num_steps=method["leapfrogs"],
            adapt_step_size=False,
            adapt_mass_matrix=method.get("metric", "identity") == "adapted",
        )

    def sample(self, method):
        self.samples, self.divergences = [], 0
        for _ in range(method["chains"]):
            start = {name: torch.empty_like(value).uniform_(-2.0, 2.0) for name, value in self.start.items()}
            mcmc = MCMC(
                self.kernel(method),
                num_samples=method["draws"],
                warmup_steps=method["tune"],
                initial_params=start,
                transforms=self.transforms,
                disable_progbar=True,
            )
            mcmc.run()
            self.samples.append(mcmc.get_samples())
            self.divergences += sum(map(len, mcmc.diagnostics().get("divergences", {}).values()))

    def draws(self):
        samples = {name: torch.stack([one[name] for one in self.samples]).cpu() for name in self.samples[0]}
        facts = {"divergences": self.divergences} | protocol.gradients(self.method)
        return protocol.Draws(protocol.flatten(self.program, samples), None, facts)


class Importance(Case):
    settings = "vectorized_importance_weights, the prior as the guide"

    def prepare(self):
        if self.method["proposal"] != "prior":
            raise protocol.Cannot(f"no proposal {self.method['proposal']} here")
        self.sample(self.method)

    def sample(self, method):
        def guide(**data):
            for name in "abc":
                pyro.sample(name, pyro.distributions.Normal(0.0, 1.0))

        with torch.no_grad():
            found = vectorized_importance_weights(
                self.model,
                guide,
                num_samples=method["particles"],
                max_plate_nesting=0,
                normalized=False,
                **self.data,
            )
        self.log_weights, trace, _ = found
        self.theta = torch.stack([trace.nodes[name]["value"] for name in "abc"], dim=-1)
        self.log_evidence = torch.logsumexp(self.log_weights, 0) - math.log(method["particles"])

    def draws(self):
        facts = {"log_evidence": self.log_evidence.cpu()}
        return protocol.Draws(self.theta.reshape(1, -1, 3).cpu(), self.log_weights.cpu(), facts)


protocol.serve(lambda request: (Importance if request["method"]["name"] == "importance" else Chains)(request))
