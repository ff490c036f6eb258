"""NumPy and SciPy: operations on arrays, and draws of distributions, on one core."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import protocol

protocol.begin()

import numpy as np  # noqa: E402  (after the threads are set)
from scipy import stats  # noqa: E402
from work import Work, chosen, inputs  # noqa: E402


class Arrays(Work):
    packages = ("numpy",)

    def prepare(self, request):
        function, takes = chosen(np, request)
        x, y, a, b = inputs(self.n, np.float32 if request["precision"] == "f32" else np.float64)
        taken = [{"x": x, "y": y, "a": a, "b": b}[name] for name in takes]
        return lambda _: function(*taken)


class Random(Work):
    packages = ("numpy", "scipy")

    def begin(self, seed):
        return np.random.default_rng(seed)

    def prepare(self, request):
        if request["threads"] > 1:
            raise protocol.Cannot("NumPy draws on one core")
        method, n = self.method, self.n
        kind = {"dtype": np.float32} if request["precision"] == "f32" else {}
        both = {
            "uniform": lambda g: g.random(n, **kind),
            "normal": lambda g: g.standard_normal(n, **kind),
            "exponential": lambda g: g.standard_exponential(n, **kind),
            "gamma": lambda g: g.standard_gamma(method["shape"], n, **kind),
        }
        double = {
            "beta": lambda g: g.beta(method["a"], method["b"], n),
            "student-t": lambda g: g.standard_t(method["df"], n),
            "von-mises": lambda g: g.vonmises(0.0, method["concentration"], n),
        }
        name = method["name"]
        if name == "von-mises-fisher" and not kind:
            self.rows, self.settings = True, "scipy.stats.vonmises_fisher"
            dimensions = method["dimensions"]
            law = stats.vonmises_fisher(np.full(dimensions, dimensions**-0.5), method["concentration"])
            return lambda g: law.rvs(max(1, n // dimensions), random_state=g)
        if name in double and kind:
            raise protocol.Cannot(f"NumPy draws {name} in f64 alone")
        if name not in both and name not in double:
            raise protocol.Cannot(f"no {name} {'in f32 ' if kind else ''}here")
        return (both | double)[name]


def start(request):
    if request["device"] != "cpu":
        raise protocol.Cannot(f"no device {request['device']} here: only cpu")
    kinds = {"arrays": Arrays, "random": Random}
    if request["program"] not in kinds:
        raise protocol.Cannot(f"no {request['program']} here: only arrays and random")
    return kinds[request["program"]](request)


protocol.serve(start)
