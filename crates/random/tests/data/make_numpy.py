"""Writes numpy.json and glibc_log.txt: what NumPy and glibc give, for the tests of octopus_random::numpy.

    pip install numpy==2.3.5 mpmath==1.4.1
    python make_numpy.py

Run on x86-64 Linux with glibc >= 2.28 and a processor with FMA: elsewhere the last bits of log differ, and with
them those of the normal numbers.
"""

import hashlib
import json
import math
import os
import pathlib
import struct
import subprocess
import sys

import mpmath
import numpy as np

HERE = pathlib.Path(__file__).parent
SEEDS = [0, 1, 42, 1234, 20261121, 2**32 - 1]
# Found by search: the log of each has another last bit where a coefficient of glibc's is off by its own, where
# the square near 1 is split elsewhere, or where an interval ends a number earlier or later.
TELLING = """
    3ff1f765dd07f816 3ff184c5f35658ef 3ff13ffceb33da28 3ff11ffaeca90230 3ff1038eec976ace 3ff0fdf8b8e83945
    3ff0fd4f697c6289 3ff0f5a232ab4972 3ff0fc26e1fffe2a 3ff0fd2d005d545c 3ff0f9b29daeaf10 3ff0fb631a4c7e65
    3ff1052b6b077303 3ff10076405f49fd 3ff105c479e9e621 3ff10042b6345da6 3ff106a726a39529 4005ffffffffffff
    0b1b000000000000 3ff13e790d3b99ec
""".split()


def digest(values):
    return hashlib.sha256(np.asarray(values, dtype="<f8").tobytes()).hexdigest()


def summary(values):
    values = np.asarray(values)
    return {"n": len(values), "sha256": digest(values), "head": values[:8].tolist(), "last": float(values[-1])}


def one(seed):
    uniform = np.random.RandomState(seed).random_sample(20_000)
    normal = np.random.RandomState(seed).normal(50.0, 10.0, 200_001)
    # Uniform numbers between the two of a polar pair, and a normal with another scale after the odd one.
    random = np.random.RandomState(seed)
    mixed = []
    for k in range(999):
        mixed += [random.normal(-1.0, 0.25), random.random_sample(), *random.normal(k, 3.0, 2)]
    return {"seed": seed, "uniform": summary(uniform), "normal": summary(normal), "mixed": summary(mixed)}


def logs():
    """Arguments as the polar method meets them, all those among them that tell glibc's log from others, the
    neighbourhood of 1, and arguments that tell its coefficients."""
    pairs = 2.0 * np.random.RandomState(7).random_sample((400_000, 2)) - 1.0
    squares = pairs[:, 0] * pairs[:, 0] + pairs[:, 1] * pairs[:, 1]
    squares = squares[(squares < 1.0) & (squares > 0.0)]
    ours = c_logs(squares)
    mpmath.mp.prec = 160
    exact = np.array([float(mpmath.log(float(x))) for x in squares])
    without_fma = np.array(
        json.loads(
            subprocess.run(
                [sys.executable, __file__, "--logs"],
                input=json.dumps(squares.tolist()),
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-AVX2_Usable,-AVX2"},
            ).stdout
        )
    )
    rounded, plain = ours != exact, ours != without_fma
    chosen = np.flatnonzero(rounded | plain).tolist() + list(range(200))
    near = np.concatenate([1.0 - np.arange(1, 101) * 2.0**-53, 1.0 - np.arange(1, 101) * 0.0625 / 99.5,
                           np.arange(1, 101) * 2.0**-104, 2.0 ** -np.arange(1.0, 61.0)])
    telling = [struct.unpack(">d", bytes.fromhex(x))[0] for x in TELLING]
    xs = np.concatenate([squares[chosen], near, telling])
    print(f"{len(squares)} logs: {rounded.sum()} not correctly rounded, {plain.sum()} other without FMA")
    return xs, c_logs(xs)


def c_logs(xs):
    return np.array([math.log(x) for x in xs])


def bits(x):
    return struct.pack(">d", x).hex()


if __name__ == "__main__":
    if sys.argv[1:] == ["--logs"]:
        print(json.dumps(c_logs(json.load(sys.stdin)).tolist()))
        sys.exit()
    record = {"numpy": np.__version__, "cases": [one(seed) for seed in SEEDS]}
    (HERE / "numpy.json").write_text(json.dumps(record, indent=1) + "\n")
    lines = ["# x and log(x) as bits; made by make_numpy.py"]
    lines += [f"{bits(x)} {bits(y)}" for x, y in zip(*logs())]
    (HERE / "glibc_log.txt").write_text("\n".join(lines) + "\n")
