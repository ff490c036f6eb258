"""nuts-rs: hierarchical-normal-stan by `../nuts_rs`, which has its density by hand, row by row as the program has it.

The program is started for each run; its seconds are its own, of warm-up and draws.
"""

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import protocol

protocol.begin()

import numpy as np  # noqa: E402  (after the threads are set)

PROGRAM = HERE.parent / "nuts_rs/target/release/nuts-rs-peer"
FOLDER = tempfile.TemporaryDirectory()
DATA, DRAWS = Path(FOLDER.name) / "data.csv", Path(FOLDER.name) / "draws"


class Case:
    def __init__(self, request):
        method = protocol.check(request, {"nuts": ("hierarchical-normal-stan",)}, only=("cpu", "f64"))
        data = protocol.data(request)
        sizes = np.bincount(data["group"])[1:]
        if np.any(np.diff(data["group"]) < 0) or np.any(sizes != sizes[0]):
            raise protocol.Cannot("only groups of one size, in their order")
        DATA.write_text("group,y\n" + "".join(f"{g},{y!r}\n" for g, y in zip(data["group"], data["value"].tolist())))
        self.method, self.threads = method, request["threads"]
        self.run(request["seed"])
        lock = tomllib.loads((PROGRAM.parents[2] / "Cargo.lock").read_text())
        found = protocol.facts(request, (), 0.0, "density by hand, row by row; native code, fat LTO")
        versions = {one["name"]: one["version"] for one in lock["package"] if one["name"] == "nuts-rs"}
        self.facts = found | {"versions": versions}

    def log_density(self, points):
        # The program has the groups' means first.
        own = np.asarray(points)[:, [*range(2, len(points[0]) - 1), 0, 1, len(points[0]) - 1]]
        text = "\n".join(" ".join(map(repr, map(float, point))) for point in own)
        command = [PROGRAM, DATA, "pointwise"]
        told = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        return told.stdout.split()

    def run(self, seed):
        counts = [self.method[name] for name in ("chains", "tune", "draws", "target_accept")]
        command = [PROGRAM, DATA, "pointwise", *map(str, (*counts, seed, self.threads)), DRAWS]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            told = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"nuts-rs ended with {process.returncode}")
        self.child_bytes = used.ru_maxrss * 1024
        seconds, _, self.gradients = told.split()
        return float(seconds)

    def draws(self):
        values = np.fromfile(DRAWS).reshape(self.method["chains"], self.method["draws"], -1)
        # mu_pop, sigma_pop, sigma_obs and the groups' means.
        values = np.concatenate([values[..., :2], values[..., 3:], values[..., 2:3]], axis=-1)
        return protocol.Draws(values, None, {"gradients": int(self.gradients)})


protocol.serve(Case)
