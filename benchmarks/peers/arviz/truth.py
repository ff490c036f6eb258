"""Makes benchmarks/suites/diagnostics.json: ArviZ's statistics of the draws of the suite `diagnostics`.

    octopus bench run diagnostics --export-data DRAWS
    .venv/bin/python truth.py DRAWS > ../../suites/diagnostics.json

The summary is of the first parameters, which are the same in all draws of as many chains.
"""

import json
import sys
from pathlib import Path

import numpy as np
from measures import OPERATIONS

# Parameters whose summary is kept.
FIRST = 40
# Of many chains a summary takes long.
FEW = 2


def main(folder):
    found = {name: {} for name in OPERATIONS}
    for path in sorted(Path(folder).glob("draws-*.npy")):
        draws = np.load(path)
        shape = "x".join(map(str, draws.shape))
        first = draws[..., : FIRST if len(draws) < 100 else FEW]
        found["summary"]["x".join(map(str, draws.shape[:2]))] = OPERATIONS["summary"](first)().ravel().tolist()
        for name in ("loo", "waic"):
            found[name][shape] = OPERATIONS[name](draws)().ravel().tolist()
    print(json.dumps(found, indent=1))


main(sys.argv[1])
