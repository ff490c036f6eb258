"""What the scripts `models/NAME/make.py` share: transforms, quadrature, and how data and truths are written.

Each script simulates the data (or has them, with their source), states the density by scipy.stats, and computes
posterior means and standard deviations without sampling. Run one with NumPy 2.4.6 and SciPy 1.17.1:

    python models/polynomial/make.py

It writes NAME.json, the data, and truth.json: moments by variable, and the log density at points of the unconstrained
coordinates in the order of the program's parameters, up to a constant.
"""

import json
from itertools import product
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit


# Transforms: each returns the value and the log of its derivative by the coordinate.


def positive(x):
    return np.exp(x), x


def between(x, low=0.0, high=1.0):
    return low + (high - low) * expit(x), np.log(high - low) + log_expit(x) + log_expit(-x)


def ordered(x):
    """The first coordinate, and the exponentials of the others added to it. The last axis has the coordinates."""
    steps = np.concatenate([x[..., :1], np.exp(x[..., 1:])], axis=-1)
    return np.cumsum(steps, axis=-1), x[..., 1:].sum(-1)


# Quadrature


def gradient_and_hessian(f, x, h=1e-3):
    n = len(x)
    steps = np.eye(n) * h
    hessian = np.empty((n, n))
    for i, j in product(range(n), range(n)):
        at = [x + steps[i] + steps[j], x + steps[i] - steps[j], x - steps[i] + steps[j], x - steps[i] - steps[j]]
        a, b, c, d = (f(point[None])[0] for point in at)
        hessian[i, j] = (a - b - c + d) / (4 * h * h)
    return hessian


def laplace(log_density, start):
    """The mode, and the Cholesky factor of the covariance there."""
    start = np.asarray(start, float)
    found = minimize(lambda x: -log_density(x[None])[0], start, method="Nelder-Mead",
                     options={"maxiter": 40000, "maxfev": 40000, "xatol": 1e-6, "fatol": 1e-9, "adaptive": True})
    hessian = gradient_and_hessian(log_density, found.x)
    return found.x, np.linalg.cholesky(np.linalg.inv(-hessian))


def grid(log_density, center, factor, step, reach, shift, chunk):
    """A lattice around the center: the trapezoidal rule, which is exact to rounding for smooth densities once steps are
    small."""
    one = np.arange(-reach, reach + 1e-9, step) + shift * step
    z = np.stack(np.meshgrid(*[one] * len(center), indexing="ij"), axis=-1).reshape(-1, len(center))
    # What is far out in several directions weighs nothing.
    z = z[(z**2).sum(-1) < (reach + step) ** 2]
    return weighted(log_density, center + z @ factor.T, chunk)


def weighted(log_density, x, chunk):
    """Points of a lattice that weigh anything, with their weights."""
    log_p = np.concatenate([log_density(part) for part in np.array_split(x, max(1, len(x) // chunk))])
    log_p[np.isnan(log_p)] = -np.inf
    weights = np.exp(log_p - log_p.max())
    weights /= weights.sum()
    kept = weights > 1e-14
    return x[kept], weights[kept] / weights[kept].sum()


def integrate(log_density, start, moments, step=0.5, reach=7.0, chunk=20000):
    """Means and standard deviations by quadrature over all coordinates of `log_density`.

    `moments(x)` returns for points x, by variable, the mean and the mean square given x: arrays with the points first.
    The lattice is laid along the posterior's own covariance. It is laid twice, half a step apart and with different ends:
    the difference is the error.
    """
    center, factor = laplace(log_density, start)
    for _ in range(2):
        x, w = grid(log_density, center, factor, 2 * step, reach, 0.0, chunk)
        center = w @ x
        away = x - center
        factor = np.linalg.cholesky((away * w[:, None]).T @ away)

    def of(step, reach, shift):
        return expectations(moments, *grid(log_density, center, factor, step, reach, shift, chunk), chunk)

    return compared(of(step, reach, 0.0), of(step * 0.97, reach + 1.0, 0.5))


def integrate_box(log_density, axes, moments, chunk=20000):
    """The same over a box with sides along the axes, each (low, high, step): for densities with a long tail."""

    def of(factor, shift):
        sides = [np.arange(low, high, step * factor) + shift * step for low, high, step in axes]
        x = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, len(axes))
        return expectations(moments, *weighted(log_density, x, chunk), chunk)

    return compared(of(1.0, 0.0), of(0.93, 0.5))


def expectations(moments, x, w, chunk):
    sums = {}
    for part in np.array_split(np.arange(len(x)), max(1, len(x) // chunk)):
        for name, (mean, square) in moments(x[part]).items():
            add = np.array([np.tensordot(w[part], mean, 1), np.tensordot(w[part], square, 1)])
            sums[name] = sums.get(name, 0.0) + add
    return {name: {"mean": mean, "sd": np.sqrt(square - mean**2)} for name, (mean, square) in sums.items()}


def compared(first, second):
    """The second of two results, and the largest difference between them in posterior standard deviations."""
    errors = [np.max(np.abs(first[name][what] - second[name][what]) / second[name]["sd"])
              for name in first for what in ("mean", "sd")]
    return second, float(max(errors))


def plain(**values):
    """Moments of what is known given the point."""
    return {name: (value, value**2) for name, value in values.items()}


# Files


def rounded(value, digits):
    if isinstance(value, dict):
        return {key: rounded(inner, digits) for key, inner in value.items()}
    array = np.asarray(value)
    if array.dtype.kind in "fc":
        return np.vectorize(lambda one: float(f"%.{digits}g" % one))(array).tolist()
    return array.tolist()


def write(script, data, method, moments, error, log_density, points, **more):
    """Writes the data, if any, and the truth beside the script. `error` is the largest error of a moment, in posterior sds;
    what else is known of the posterior is written with 12 digits."""
    folder = Path(script).resolve().parent

    def save(name, value):
        lines = [f"  {json.dumps(key)}: {json.dumps(inner)}" for key, inner in value.items()]
        (folder / name).write_text("{\n" + ",\n".join(lines) + "\n}\n" if lines else "{}\n")

    if data is not None:
        save(f"{folder.name}.json", {key: rounded(value, 17) for key, value in data.items()})
    at = [{"x": rounded(x, 17), "log_density": float(log_density(np.asarray(x)))} for x in points]
    save("truth.json", {"method": method, "error": float("%.1e" % error), "moments": rounded(moments, 8), "points": at,
                        **rounded(more, 12)})
    print(f"{folder.name}: error {error:.1e} sd")
    for name, one in moments.items():
        print(f"  {name}: {np.round(np.ravel(one['mean'])[:6], 4)} ± {np.round(np.ravel(one['sd'])[:6], 4)}")


def points_near(center, seed=1, spread=0.3, count=4):
    """Points at which the density is stated."""
    random = np.random.default_rng(seed)
    center = np.asarray(center, float)
    return np.round(center + spread * random.standard_normal((count, len(center))), 3)
