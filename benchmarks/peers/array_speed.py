"""Our arrays beside NumPy's, on one thread of the same machine, in f64 where nothing else is said: microseconds and ratio.

    cargo build --release -p octopus-fitness --example array_speed
    python array_speed.py ../../target/release/examples/array_speed

A ratio above 1 is our speed over NumPy's. Both sides are measured twice, in turns, and the faster run counts.
"""

import json
import os
import subprocess
import sys
import time

for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]:
    os.environ[name] = "1"

import numpy as np

ELEMENTS, SIDES, PRODUCT = 1_000_000, (1000, 1000), 512


def ramp(length, step):
    return np.fmod(step * np.arange(length), 1.0) + 1.5


x, y = ramp(ELEMENTS, 0.37), ramp(ELEMENTS, -0.725)
x32, y32, x16 = x.astype(np.float32), y.astype(np.float32), x.astype(np.float16)
a = x.reshape(SIDES)
a32 = a.astype(np.float32)
row, column = a[0].copy(), a[:, :1].copy()
left, right = (ramp(PRODUCT * PRODUCT, step).reshape(PRODUCT, PRODUCT) for step in (0.37, -0.725))
short = row[:1000].copy()

operations = {
    "zeros": lambda: np.full(ELEMENTS, 0.0),
    "add": lambda: x + y,
    "add f32": lambda: x32 + y32,
    "div": lambda: x / y,
    "scale": lambda: 1.5 * x,
    "exp": lambda: np.exp(x),
    "exp f32": lambda: np.exp(x32),
    "ln": lambda: np.log(x),
    "sqrt": lambda: np.sqrt(x),
    "tanh": lambda: np.tanh(x),
    "tanh f32": lambda: np.tanh(x32),
    "sigmoid": lambda: 1 / (1 + np.exp(-x)),
    "relu": lambda: np.maximum(x, 0),
    "clip": lambda: np.clip(x, 1.6, 2.0),
    "select": lambda: np.where(x, x, y),
    "add row": lambda: a + row,
    "add column": lambda: a + column,
    "outer": lambda: np.outer(row, row),
    "transpose": lambda: np.ascontiguousarray(a.T),
    "concatenate": lambda: np.concatenate([a, a], axis=1),
    "to_f16 of f32": lambda: x32.astype(np.float16),
    "to_f32 of f16": lambda: x16.astype(np.float32),
    "sum": lambda: x.sum(),
    "sum f32": lambda: x32.sum(),
    "max": lambda: x.max(),
    "dot": lambda: x @ y,
    "norm": lambda: np.linalg.norm(x),
    "std": lambda: x.std(),
    "sum axis 0": lambda: a.sum(axis=0),
    "sum axis 1": lambda: a.sum(axis=1),
    "sum axis 0 f32": lambda: a32.sum(axis=0),
    "sum axis 1 f32": lambda: a32.sum(axis=1),
    "max axis 0": lambda: a.max(axis=0),
    "max axis 1": lambda: a.max(axis=1),
    "std axis 0": lambda: a.std(axis=0),
    "std axis 1": lambda: a.std(axis=1),
    "matmul": lambda: left @ right,
    "add of 1000": lambda: short + short,
    "tanh of 1000": lambda: np.tanh(short),
    "sum of 1000": lambda: short.sum(),
}


def theirs(run):
    """The median microseconds of a call, of samples of a millisecond or more."""
    run()
    begun = time.perf_counter()
    run()
    calls = max(1, int(2e-3 / (time.perf_counter() - begun)))
    samples = []
    for _ in range(15):
        begun = time.perf_counter()
        for _ in range(calls):
            run()
        samples.append((time.perf_counter() - begun) / calls)
    return 1e6 * float(np.median(samples))


def ours(program):
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    return {row["name"]: row["microseconds"] for row in map(json.loads, lines)}


def main():
    rounds = [(ours(sys.argv[1]), {name: theirs(run) for name, run in operations.items()}) for _ in range(2)]
    print(f"NumPy {np.__version__}, one thread\n{'operation':18}{'ours us':>12}{'NumPy us':>12}{'ratio':>8}")
    for name in operations:
        mine, numpy = (min(side[k][name] for side in rounds) for k in (0, 1))
        print(f"{name:18}{mine:12.2f}{numpy:12.2f}{numpy / mine:8.2f}")


main()
