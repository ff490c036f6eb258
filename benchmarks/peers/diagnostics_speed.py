"""Our diagnostics beside ArviZ's, one after the other on the same machine: seconds, ratio, our peak memory over the data.

    cargo build --release -p octopus-diag --example diagnostics_time
    python diagnostics_speed.py ../../target/release/examples/diagnostics_time

Needs arviz. The arrays are of the same shape and kind, not the same numbers. Ends with 1 when a target is missed: 50 times
ArviZ's speed (summary and LOO; WAIC has no target), memory under twice the data, 4096 chains of 1000 draws of 10 variables
under 2 s.
"""

import json
import subprocess
import sys
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")


def theirs(task):
    """Seconds of ArviZ; none for what it would take minutes over."""
    import arviz as az

    random = np.random.default_rng(1)
    if task.startswith("summary_4096"):
        return None
    if task.startswith("summary"):
        width = int(task.removeprefix("summary_"))
        noise = random.standard_normal((4, 2000, width))
        for t in range(1, 2000):
            noise[:, t] += 0.5 * noise[:, t - 1]
        data = az.convert_to_dataset({"x": noise})
        run = lambda: az.summary(data, hdi_prob=0.89)
    else:
        likelihood = -1.0 - 0.1 * random.standard_normal((4, 2000, 1000)) ** 2
        posterior = {"x": random.standard_normal((4, 2000, 9))}
        data = az.from_dict(posterior=posterior, log_likelihood={"y": likelihood})
        run = lambda: (az.loo if task == "loo" else az.waic)(data, pointwise=True)
    best = float("inf")
    for _ in range(2):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def main(program):
    good = True
    print(f"{'task':22}{'ours s':>10}{'ArviZ s':>10}{'ratio':>8}{'memory / data':>15}")
    for task in ("summary_203", "summary_2003", "loo", "waic", "summary_4096", "summary_4096_nested"):
        ours = json.loads(subprocess.run([program, task], check=True, capture_output=True, text=True).stdout)
        peer = theirs(task)
        memory = ours["peak_bytes"] / ours["data_bytes"]
        ratio = peer / ours["seconds"] if peer else float("nan")
        # The program itself takes some memory: of small data more than the data.
        fine = (ratio >= 50 or task == "waic" if peer else ours["seconds"] < 2) and (memory < 2 or ours["data_bytes"] < 2**25)
        good &= fine
        shown = f"{peer:10.3f}{ratio:8.0f}" if peer else f"{'':10}{'':8}"
        print(f"{task:22}{ours['seconds']:10.4f}{shown}{memory:15.2f}{'' if fine else '  MISSED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
