"""The arrays of the tests: made by SplitMix64 and exactly rounded operations only (+ - * / floor), so that the Rust tests make
them again bit for bit and only the numbers found from them are stored."""

import math

import numpy as np

MASK = (1 << 64) - 1


class SplitMix:
    """Steele, Lea, Flood (2014)."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def uniform(self):
        return (self.next() >> 11) * 2.0**-53

    def bell(self):
        """The sum of twelve uniforms less 6: mean 0, variance 1."""
        total = 0.0
        for _ in range(12):
            total += self.uniform()
        return total - 6.0

    def cauchy(self):
        """Ratio of uniforms."""
        while True:
            u, v = 2.0 * self.uniform() - 1.0, self.uniform()
            if v > 0.0 and u * u + v * v <= 1.0:
                return u / v


def autoregressive(rng, phi, draws):
    x, row = rng.bell(), []
    for _ in range(draws):
        x = phi * x + rng.bell()
        row.append(x)
    return row


def sticky(rng, draws):
    """Most proposals are rejected: runs of equal values."""
    x, row = rng.bell(), []
    for _ in range(draws):
        if rng.uniform() < 0.2:
            x = rng.bell()
        row.append(x)
    return row


def make(kind, chains, draws, seed):
    rng = SplitMix(seed)
    rows = []
    for chain in range(chains):
        if kind in ("iid", "nan", "inf", "all_nan"):
            row = [rng.bell() for _ in range(draws)]
        elif kind == "shifted":
            row = [rng.bell() + 0.5 * chain for _ in range(draws)]
        elif kind == "scaled":
            row = [rng.bell() * (1.0 + 2.0 * chain) for _ in range(draws)]
        elif kind == "far":
            row = [1e6 + rng.bell() for _ in range(draws)]
        elif kind == "tiny":
            row = [1e-9 * rng.bell() for _ in range(draws)]
        elif kind == "ar_plus":
            row = autoregressive(rng, 0.9, draws)
        elif kind == "ar_slow":
            row = autoregressive(rng, 0.99, draws)
        elif kind == "ar_minus":
            row = autoregressive(rng, -0.9, draws)
        elif kind == "cauchy":
            row = [rng.cauchy() for _ in range(draws)]
        elif kind == "constant":
            row = [2.5] * draws
        elif kind == "constant_tenth":
            row = [0.1] * draws
        elif kind == "constant_each":
            row = [float(chain)] * draws
        elif kind == "discrete":
            row = [float(math.floor(rng.uniform() * 7.0)) for _ in range(draws)]
        elif kind == "rare":
            row = [1.0 if rng.uniform() < 0.03 else 0.0 for _ in range(draws)]
        elif kind == "sticky":
            row = sticky(rng, draws)
        elif kind == "trend":
            row = [rng.bell() + 0.01 * i for i in range(draws)]
        rows.append(row)
    if kind == "nan":
        rows[chains - 1][draws // 3] = math.nan
    if kind == "inf":
        rows[0][draws // 2] = math.inf
    if kind == "all_nan":
        rows = [[math.nan] * draws for _ in range(chains)]
    return np.array(rows)


CASES = [
    ("iid", 4, 1000),
    ("iid", 4, 501),
    ("iid", 1, 200),
    ("iid", 1, 201),
    ("iid", 2, 1),
    *[("iid", chains, draws) for chains in (1, 2, 4) for draws in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11)],
    ("iid", 64, 50),
    ("iid", 64, 51),
    ("iid", 3, 333),
    ("shifted", 4, 300),
    ("scaled", 4, 300),
    ("far", 4, 400),
    ("tiny", 4, 400),
    ("ar_plus", 4, 1000),
    ("ar_plus", 1, 777),
    ("ar_slow", 4, 700),
    ("ar_slow", 2, 2000),
    ("ar_minus", 4, 1000),
    ("ar_minus", 2, 99),
    ("cauchy", 4, 1000),
    ("cauchy", 64, 33),
    ("constant", 4, 100),
    ("constant", 1, 101),
    ("constant_tenth", 4, 100),
    ("constant_each", 4, 100),
    ("nan", 4, 100),
    ("all_nan", 2, 50),
    ("inf", 4, 100),
    ("discrete", 4, 500),
    ("discrete", 3, 101),
    ("rare", 4, 500),
    ("sticky", 4, 1000),
    ("sticky", 64, 40),
    ("trend", 4, 500),
]

# The middle draw of an odd number lies in neither half of a chain.
ODD_DRAWS = [
    (kind, chains, draws)
    for kind in ("iid", "shifted", "scaled", "ar_plus", "ar_minus", "cauchy", "discrete", "sticky")
    for chains in (1, 2, 4)
    for draws in (4, 5, 6, 7, 9, 11, 13, 15, 21, 51)
]


def matrix(rows, columns, seed):
    """Bells, row-major."""
    rng = SplitMix(seed)
    return np.array([[rng.bell() for _ in range(columns)] for _ in range(rows)])


def bells(seeds, count):
    """SplitMix.bell for many seeds at once, seeds x count: the state of SplitMix64 is its seed plus a multiple."""
    steps = np.arange(1, 12 * count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = np.asarray(seeds, dtype=np.uint64)[:, None] + steps
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    uniform = ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
    total = np.zeros((len(seeds), count))
    for k in range(12):
        total += uniform[:, k::12]
    return total - 6.0


def many(variables, chains, draws):
    """Variables of differing correlation, chains x draws x variables: variable i is that of make with seed 1000 + i."""
    out = np.empty((chains, draws, variables))
    for first, phi in enumerate((0.0, 0.9, -0.9)):
        seeds = 1000 + np.arange(first, variables, 3)
        noise = bells(seeds, chains * draws if phi == 0.0 else chains * (draws + 1)).reshape(len(seeds), chains, -1)
        if phi != 0.0:
            x = noise[:, :, 0]
            for t in range(1, draws + 1):
                x = phi * x + noise[:, :, t]
                noise[:, :, t] = x
            noise = noise[:, :, 1:]
        out[:, :, first::3] = noise.transpose(1, 2, 0)
    for i in range(3):
        assert (out[:, :, i] == make(("iid", "ar_plus", "ar_minus")[i], chains, draws, 1000 + i)).all()
    return out


# Log weights: kind, chains, draws, scale, relative effective sample size.
PSIS = [
    ("iid", 4, 1000, 1.0, 1.0),
    ("iid", 4, 1000, 3.0, 0.5),
    ("iid", 1, 30, 1.0, 1.0),
    ("iid", 2, 11, 1.0, 1.0),
    ("iid", 1, 2, 1.0, 1.0),
    ("ar_plus", 4, 500, 1.0, 0.1),
    ("ar_minus", 4, 501, 0.2, 3.0),
    ("cauchy", 4, 1000, 1.0, 1.0),
    ("cauchy", 64, 33, 0.1, math.nan),
    ("discrete", 4, 500, 1.0, 1.0),
    ("rare", 4, 500, 1.0, 1.0),
    ("sticky", 4, 1000, 1.0, 1.0),
    ("trend", 4, 500, 1.0, 1.0),
    ("constant", 4, 100, 1.0, 1.0),
    ("nan", 4, 100, 1.0, 1.0),
    ("inf", 4, 100, 1.0, 1.0),
    ("far", 4, 400, 1.0, 1.0),
    # Weights that differ by 1e-9 keep but 7 digits of their differences: no two programs agree on their tail.
    ("tiny", 4, 400, 1e7, 1.0),
]

DENSITIES = [
    ("iid", 4, 1000),
    ("iid", 2, 5),
    ("shifted", 4, 300),
    ("scaled", 4, 300),
    ("ar_plus", 4, 1000),
    ("ar_minus", 2, 99),
    ("cauchy", 4, 1000),
    ("discrete", 4, 500),
    ("rare", 4, 500),
    ("sticky", 4, 1000),
    ("far", 4, 400),
    ("tiny", 4, 400),
    ("nan", 4, 100),
    ("inf", 4, 100),
    ("trend", 4, 500),
]

CURVES = [("iid", 4, 501), ("ar_plus", 4, 1000), ("sticky", 64, 40), ("cauchy", 1, 333)]
