"""What the Python peers of `octopus bench` share: a JSON object a line in, one out (docs/decisions/41).

An adapter calls `begin` before it imports anything heavy, and `serve` at its end:

    first = protocol.begin()      # reads the first request, and keeps the process to its threads and device
    import jax                    # ...
    protocol.serve(start)

`start(request)` returns a case, an object with `facts` (what is answered), `log_density(points)`, `run(seed)`, which
returns seconds, and `draws()`, which returns a `Draws`; or it raises `Cannot`. A case that computes in processes of its own
keeps their peak memory in `child_bytes`.
"""

import json
import math
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

# Parameters of the programs in their order.
PARAMETERS = {
    "polynomial": ("a", "b", "c"),
    "beta-bernoulli": ("mu", "kappa", "theta"),
    "eight-schools-stan": ("mu", "tau", "theta"),
    "state-space": ("phi", "q", "r", "level"),
    "hmm": ("stay", "mu", "sigma"),
    "logistic-hierarchy": ("mu", "tau", "slope", "alpha"),
    "hierarchical-normal-stan": ("mu_pop", "sigma_pop", "mu_group", "sigma_obs"),
}
# What each method may be told.
SETTINGS = {
    "importance": {"proposal", "particles"},
    "hmc": {"step_size", "leapfrogs", "tune", "draws", "chains", "metric"},
    "nuts": {"tune", "draws", "chains", "target_accept"},
    "smc": {"particles"},
    "filter": {"particles"},
}
# The particle filters' parameters: what a suite cannot choose.
FILTERED = {
    "state-space": {"phi": 0.9, "q": 0.5, "r": 0.5},
    "hmm": {"stay": [0.9, 0.9], "mu": [-1.0, 1.0], "sigma": 0.7},
}
# Package, the first and the first mended version, fault.
BUGS = [
    ("jaxlib", (0, 10, 2), (0, 11, 1), "adding f32 numbers by index on a GPU is up to 450x slower (openxla/xla 46225)"),
]


class Cannot(Exception):
    """Why the peer has no such method, program or device: a result, not a fault."""


class Draws(NamedTuple):
    values: Any = None  # constrained, chains x draws x parameters
    log_weights: Any = None
    facts: dict = {}


class _Pipe:
    """The real stdout, and the request that `begin` has read but not answered."""

    answers = None
    first = None


def begin():
    """Reads the first request, and limits the process to its threads and device."""
    # What frameworks print goes to stderr.
    _Pipe.answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    sys.excepthook = lambda kind, error, trace: (_answer(_error(error)), sys.__excepthook__(kind, error, trace))
    _Pipe.first = json.loads(sys.stdin.readline() or sys.exit(0))
    threads, device = _Pipe.first.get("threads", 1), _Pipe.first.get("device", "cpu")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON"):
        os.environ[f"{name}_NUM_THREADS"] = str(threads)
    flags = [os.environ.get("XLA_FLAGS", "")]
    if threads == 1:
        flags.append("--xla_cpu_multi_thread_eigen=false")
    else:
        flags.append(f"--xla_force_host_platform_device_count={threads}")
    os.environ["XLA_FLAGS"] = " ".join(flags).strip()
    os.environ["CUDA_VISIBLE_DEVICES"] = device.removeprefix("cuda:") if device.startswith("cuda:") else ""
    os.environ["JAX_PLATFORMS"] = "cuda" if device.startswith("cuda:") else "cpu"
    return _Pipe.first


def serve(start):
    """Answers requests until stdin ends."""
    sys.excepthook = sys.__excepthook__
    case, request = None, _Pipe.first
    while True:
        try:
            if request["do"] == "start":
                case = None
                case = start(request)
                answer = case.facts
            else:
                answer = _do(case, request)
        except Cannot as why:
            answer = {"cannot": str(why)}
        except Exception as error:
            answer = _error(error)
        _answer(answer)
        line = sys.stdin.readline()
        if not line:
            return
        try:
            request = json.loads(line)
        except ValueError:
            request = {"do": line.strip()}


def _do(case, request):
    if case is None:
        raise RuntimeError("nothing has been started")
    if request["do"] == "log_density":
        return {"values": [_number(value) for value in case.log_density(request["points"])]}
    if request["do"] == "run":
        seconds = case.run(request["seed"])
        # The runner measures this process alone.
        children = getattr(case, "child_bytes", None)
        return {"seconds": seconds} | ({} if children is None else {"child_bytes": children})
    if request["do"] == "draws":
        return _write(Path(request["to"]), case.draws())
    raise ValueError(f"no such request: {request['do']}")


def _write(folder, draws):
    import numpy as np

    for name, values in (("draws", draws.values), ("log_weights", draws.log_weights)):
        if values is not None:
            np.save(folder / f"{name}.npy", np.ascontiguousarray(values, dtype=np.float64))
    return {name: _number(np.asarray(value).item()) for name, value in draws.facts.items()}


def _number(value):
    """JSON has no infinity, and no NaN: none."""
    value = value if isinstance(value, int) else float(value)
    return value if math.isfinite(value) else None


def _answer(answer):
    _Pipe.answers.write(json.dumps(answer) + "\n")


def _error(error):
    return {"error": f"{type(error).__name__}: {error}"}


def check(request, can, only=()):
    """The method of a request, if `can`, which has the programs of each method, and its settings allow it.

    `can` has `None` for a method of any program. `only` has the devices and precisions of a peer that has not all.
    """
    for what in ("device", "precision"):
        if only and request[what] not in only:
            raise Cannot(f"no {what} {request[what]} here: only {' and '.join(only)}")
    if request["device"] != "cpu" and not request["device"].startswith("cuda:"):
        raise Cannot(f"no device {request['device']} here: cpu, or cuda:0")
    method, program = request["method"], request["program"]
    name = method["name"]
    if name not in can:
        raise Cannot(f"no method {name} here")
    if can[name] is not None and program not in can[name]:
        raise Cannot(f"no {name} of {program} here")
    for key in sorted(method.keys() - SETTINGS[name] - {"name"}):
        raise Cannot(f"no setting {key} of {name} here")
    # The metric of HMC is the identity unless it is given.
    if lacks := sorted(SETTINGS[name] - {"metric"} - method.keys()):
        raise Cannot(f"{name} needs {' and '.join(lacks)} here, which the suite does not give")
    return method


def gradients(method):
    """How many HMC takes with a fixed number of leapfrogs; of NUTS they are not known here."""
    if method["name"] != "hmc":
        return {}
    return {"gradients": method["chains"] * (method["tune"] + method["draws"]) * method["leapfrogs"]}


def data(request):
    """The data block, lists as arrays; group numbers count from one."""
    import numpy as np

    read = json.loads(Path(request["data"]).read_text())
    return {name: np.array(value) if isinstance(value, list) else value for name, value in read.items()}


def facts(request, packages, seconds, settings="", gpu=""):
    """What a start answers; `gpu` is the name of the device, if it is one."""
    versions = {name: version(name) for name in packages}
    bugs = [f"{name} {versions[name]}: {what}" for name, *between, what in BUGS if _has(versions, name, *between)]
    found = {
        "versions": versions,
        "device": f"{request['device']}: {gpu or cpu()}",
        "compile_seconds": seconds,
        "settings": settings,
    }
    return found | {"known_bugs": bugs}


def _has(versions, name, since, until):
    if name not in versions:
        return False
    own = tuple(int(part) for part in versions[name].split(".")[:3])
    return since <= own < until


def cpu():
    names = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return names[0] if names else "unknown"


def flatten(program, samples):
    """Draws by name, chains x draws x own shape, as chains x draws x parameters."""
    import numpy as np

    parts = [np.asarray(samples[name], dtype=np.float64) for name in PARAMETERS[program]]
    return np.concatenate([part.reshape(*part.shape[:2], -1) for part in parts], axis=2)


def split(program, shapes, point):
    """A point of all coordinates by name, in the shapes given."""
    import numpy as np

    named, at, point = {}, 0, np.asarray(point)
    for name in PARAMETERS[program]:
        size = int(np.prod(shapes[name], dtype=int))
        named[name] = point[at : at + size].reshape(shapes[name])
        at += size
    return named
