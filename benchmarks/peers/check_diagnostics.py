"""Compares diagnostics.py with ArviZ on chains of many kinds; ends with 1 when they differ.

    python3 check_diagnostics.py
"""

import sys

import numpy as np

import diagnostics


def chains(random, count, draws, kind):
    noise = random.standard_normal((count, draws))
    if kind == "independent":
        return noise
    if kind == "apart":
        return noise + np.arange(count)[:, None]
    sign = 0.9 if kind == "slow" else -0.6
    for t in range(1, draws):
        noise[:, t] += sign * noise[:, t - 1]
    return noise


def main():
    try:
        import arviz
    except ImportError:
        print("SKIPPED: no arviz here")
        return 0
    random = np.random.default_rng(1)
    worst = 0.0
    for count, draws in ((4, 500), (2, 101), (300, 24), (64, 12)):
        for kind in ("independent", "slow", "antithetic", "apart"):
            values = chains(random, count, draws, kind)
            for own, theirs in (
                (diagnostics.ess_bulk(values), arviz.ess(values, method="bulk")),
                (diagnostics.rhat(values), arviz.rhat(values, method="rank")),
            ):
                worst = max(worst, abs(own / float(theirs) - 1))
    print(f"largest relative difference from ArviZ {arviz.__version__}: {worst:.1e}")
    return 0 if worst < 1e-9 else 1


sys.exit(main())
