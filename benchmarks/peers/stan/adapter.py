"""Stan: NUTS and static HMC as CmdStan calls them (sample.cpp), of any program.

Executables are kept in .venv/built by the hash of the program, with the CPU seconds that stanc and the compiler took.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import protocol

protocol.begin()

import numpy as np  # noqa: E402  (after the threads are set)
import stan  # noqa: E402  (benchmarks/peers/stan.py)
from compiler import Compiler  # noqa: E402


class Case:
    def __init__(self, request):
        method = protocol.check(request, {"nuts": None, "hmc": None}, only=("cpu", "f64"))
        if method.get("metric", "identity") != "identity":
            raise protocol.Cannot("Stan adapts no metric with the step fixed")
        executable, seconds = Compiler().executable(request["stan"])
        self.process = subprocess.Popen(
            [executable, request["data"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.shape, processes = (method["chains"], method["draws"]), min(method["chains"], request["threads"])
        own = ("target_accept",) if method["name"] == "nuts" else ("step_size", "leapfrogs")
        self.words = [*self.shape[:1], processes, method["tune"], method["draws"], *(method[key] for key in own)]
        self.method = method
        self.run(request["seed"])
        settings = f"g++ {' '.join(stan.FAST)}, {processes} processes"
        self.facts = protocol.facts(request, ("httpstan",), seconds, settings)
        header = (stan.wheel() / "include/stan/version.hpp").read_text()
        parts = re.findall(r"define STAN_(?:MAJOR|MINOR|PATCH) (\d+)", header)
        self.facts["versions"]["stan"] = ".".join(parts)

    def peak(self, forked):
        """The most memory of Stan's process and of those that it forks, which have some pages in common."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        own = int(re.search(r"VmHWM:\s+(\d+)", status)[1])
        return 1024 * (own + (self.words[1] * forked if self.words[1] > 1 else 0))

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        answer = self.process.stdout.readline().split()
        if not answer or answer[0] == "error":
            raise RuntimeError(" ".join(answer[1:]) or "Stan's program has ended")
        return float(answer[1]) if len(answer) == 2 else [float(word) for word in answer[1:]]

    def log_density(self, points):
        return [self.ask("point", *map(repr, map(float, point))) for point in points]

    def run(self, seed):
        # Its peak is that of this run.
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        seconds, forked = self.ask(self.method["name"], seed, *self.words)
        self.child_bytes = self.peak(int(forked))
        return seconds

    def draws(self):
        with tempfile.NamedTemporaryFile() as file:
            divergences = int(self.ask("draws", file.name))
            values = np.fromfile(file.name).reshape(*self.shape, -1)
        facts = {"divergences": divergences} if self.method["name"] == "nuts" else protocol.gradients(self.method)
        return protocol.Draws(values, None, facts)


protocol.serve(Case)
