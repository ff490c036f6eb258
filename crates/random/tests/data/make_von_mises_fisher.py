"""Writes von_mises_fisher.json: log densities of unit vectors at 100 digits, for octopus_random::VonMisesFisher.

    python make_von_mises_fisher.py

Needs mpmath 1.3. Directions and vectors are exactly the numbers that are written, whatever their length.
"""

import json
import random
from pathlib import Path

from mpmath import besseli, log, mp, mpf, pi, sqrt

HERE = Path(__file__).parent
mp.dps = 100


def log_density(direction, concentration, x):
    """ln of kappa^(d/2 - 1) / ((2 pi)^(d/2) I(kappa)) e^(kappa cos), or one over the sphere's surface."""
    d, kappa = mpf(len(direction)), mpf(concentration)
    direction, x = [mpf(v) for v in direction], [mpf(v) for v in x]
    dot = sum(a * b for a, b in zip(direction, x))
    cosine = dot / sqrt(sum(a * a for a in direction) * sum(b * b for b in x))
    if kappa == 0:
        return log(mp.gamma(d / 2) / (2 * pi ** (d / 2)))
    order = d / 2 - 1
    return order * log(kappa) - d / 2 * log(2 * pi) - log(besseli(order, kappa)) + kappa * cosine


def rows():
    generator = random.Random(2026)
    for d in [2, 3, 4, 10, 100]:
        axis = [0.0] * d
        axis[d // 2] = 2.0
        tilted = [generator.gauss(0, 1) for _ in range(d)]
        for concentration in [0.0, 1e-8, 1e-4, 0.1, 1.0, 5.0, 100.0, 1e4, 1e6, 1e8, 1e12]:
            # Beyond, the rounding of a direction that is no axis is seen.
            for direction in [axis] + ([tilted] if concentration <= 1e6 else []):
                spread = 1 / max(concentration, 1.0) ** 0.5
                noise = [generator.gauss(0, 1) for _ in range(d)]
                near = [m + spread * v for m, v in zip(direction, noise)]
                opposite = [-m + 0.1 * v for m, v in zip(direction, noise)]
                for x in [direction, near, noise, opposite]:
                    value = log_density(direction, concentration, x)
                    yield {"direction": direction, "concentration": concentration, "x": x, "value": float(value)}


if __name__ == "__main__":
    lines = [" " + json.dumps(row) for row in rows()]
    (HERE / "von_mises_fisher.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
