"""ArviZ: summaries of draws, LOO and WAIC, on one core."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import protocol

protocol.begin()

import numpy as np  # noqa: E402  (after the threads are set)
from measures import OPERATIONS  # noqa: E402
from work import Work  # noqa: E402


class Diagnostics(Work):
    packages, rows = ("arviz", "numpy", "scipy", "xarray"), True

    def prepare(self, request):
        if request["program"] != "diagnostics":
            raise protocol.Cannot(f"no {request['program']} here: only diagnostics")
        if request["threads"] > 1 or request["device"] != "cpu" or request["precision"] != "f64":
            raise protocol.Cannot("ArviZ computes in f64 on one core")
        if request["problem"]["chains"] > 100 and self.method["name"] == "summary":
            raise protocol.Cannot("summaries of so many chains take minutes")
        run = OPERATIONS[self.method["name"]](np.load(self.data))
        return lambda _: run()


protocol.serve(Diagnostics)
