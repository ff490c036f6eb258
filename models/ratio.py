"""How much faster are the two models written in Rust than the programs of the same? CPU time of whole runs with default
settings, by turns, three times.

    python models/ratio.py target/release/octopus
"""

import json
import resource
import subprocess
import sys

DRAWS = 8000
PAIRS = [("eight-schools", "eight-schools-stan", 10), ("hierarchical-normal", "hierarchical-normal-stan", 4)]


def measured(octopus, name, seeds):
    """CPU seconds of a run and of a leapfrog, and leapfrogs of a draw."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    words = ["sweep", name, "--seeds", str(seeds), "--threads", "1", "--json", "--quiet"]
    told = subprocess.run([octopus, *words], capture_output=True, text=True)
    seconds = (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before) / seeds
    sweep = json.loads(told.stdout)["sweep"]
    leapfrogs = sweep["warm_up_leapfrogs"] + DRAWS * sweep["leapfrogs_a_draw"]
    return seconds, seconds / leapfrogs, sweep["leapfrogs_a_draw"]


for written, program, seeds in PAIRS:
    for _ in range(3):
        a, b = measured(sys.argv[1], written, seeds), measured(sys.argv[1], program, seeds)
        print(f"{program}: {b[0]:.4f} s a run against {a[0]:.4f} s ({b[0] / a[0]:.1f}x), {1e9 * b[1]:.0f} ns a leapfrog "
              f"against {1e9 * a[1]:.0f} ns ({b[1] / a[1]:.1f}x), {b[2]:.1f} leapfrogs a draw against {a[2]:.1f}")
