"""Writes expected_stats.json: what arviz-stats 0.8.0 says where its definitions are not those of ArviZ 0.23.

    python3.12 -m venv venv && venv/bin/pip install arviz-stats==0.8.0 && venv/bin/python make_expected_stats.py
"""

import json
import math
import pathlib
import warnings

import numpy as np
from arrays import CASES, make
from arviz_stats.base import array_stats

warnings.filterwarnings("ignore")
HERE = pathlib.Path(__file__).parent


def plain(value):
    value = float(value)
    return value if math.isfinite(value) else repr(value)


def estimates(x):
    axes = {"chain_axis": 0, "draw_axis": 1}
    return {
        "rhat": plain(array_stats.rhat(x, method="rank", **axes)),
        "ess_bulk": plain(array_stats.ess(x, method="bulk", **axes)),
        "ess_tail": plain(array_stats.ess(x, method="tail", prob=(0.05, 0.95), **axes)),
        "ess_mean": plain(array_stats.ess(x, method="mean", **axes)),
        "ess_quantile_10": plain(array_stats.ess(x, method="quantile", prob=0.1, **axes)),
        "mcse_mean": plain(array_stats.mcse(x, method="mean", **axes)),
        "mcse_sd": plain(array_stats.mcse(x, method="sd", **axes)),
        "mcse_quantile_75": plain(array_stats.mcse(x, method="quantile", prob=0.75, **axes)),
    }


def cases():
    return [
        {"kind": kind, "chains": chains, "draws": draws, "seed": seed, **estimates(make(kind, chains, draws, seed))}
        for seed, (kind, chains, draws) in enumerate(CASES, start=1)
        if draws > 3
    ]


def main():
    lines = json.dumps({"cases": cases()}, separators=(",", ":")).replace('{"kind"', '\n{"kind"')
    (HERE / "expected_stats.json").write_text(lines + "\n")


if __name__ == "__main__":
    main()
