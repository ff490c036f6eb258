"""Chebyshev coefficients of e^-x I0(x) and e^-x I1(x) / x on [0, 8], and of both times sqrt(x) above, for `bessel.rs`."""
import numpy as np
from scipy import special

POINTS = 200


def coefficients(function):
    angles = np.pi * (np.arange(POINTS) + 0.5) / POINTS
    values = np.array([function(t) for t in np.cos(angles)], dtype=np.longdouble)
    found = [float(2 / POINTS * np.sum(values * np.cos(j * angles))) for j in range(40)]
    found[0] /= 2
    last = next(j for j, x in enumerate(found) if abs(x) < 1e-16)
    return found[: last + 1]


def near(t):
    return 4 * (t + 1)


def far(t):
    return 16 / (t + 1)


for name, function in [
    ("NEAR_0", lambda t: special.i0e(near(t))),
    ("NEAR_1", lambda t: special.i1e(near(t)) / near(t)),
    ("FAR_0", lambda t: special.i0e(far(t)) * np.sqrt(far(t))),
    ("FAR_1", lambda t: special.i1e(far(t)) * np.sqrt(far(t))),
]:
    numbers = coefficients(function)
    print(f"const {name}: [f64; {len(numbers)}] = [")
    print("".join(f"    {x!r},\n" for x in numbers) + "];")
