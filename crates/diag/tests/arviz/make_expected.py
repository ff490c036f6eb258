"""Writes expected.json and eight_schools.f64: what ArviZ 0.23.4 says about arrays that the tests make again.

    python3.11 -m venv venv && venv/bin/pip install -r requirements.txt && venv/bin/python make_expected.py

The arrays come from SplitMix64 through exactly rounded operations only (+ - * / floor), so that the Rust
tests regenerate them bit for bit and only the numbers are stored. ArviZ's two bundled posteriors of the
eight schools are stored as they are, little-endian f64.
"""

import json
import math
import pathlib
import warnings

import arviz as az
import numpy as np

warnings.filterwarnings("ignore")
HERE = pathlib.Path(__file__).parent
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


def plain(value):
    """NaN and infinities as words, all else as the shortest decimal that reads back the same."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v) for v in value]
    value = float(value)
    return value if math.isfinite(value) else repr(value)


def bits(value):
    """The 64 bits in hexadecimal: readers of JSON may round decimals by a bit."""
    return np.float64(value).tobytes()[::-1].hex()


def interval(function):
    try:
        return plain(function())
    except ValueError:
        return None


def estimates(x):
    dataset = az.convert_to_dataset({"x": x[None] if x.ndim == 1 else x})
    table = az.summary(dataset, hdi_prob=0.89, round_to="none")
    flat = x.ravel()
    return {
        "rhat": plain(az.rhat(x, method="rank")),
        "rhat_split": plain(az.rhat(x, method="split")),
        "rhat_folded": plain(az.rhat(x, method="folded")),
        "rhat_identity": plain(az.rhat(x, method="identity")),
        "ess_bulk": plain(az.ess(x, method="bulk")),
        "ess_tail": plain(az.ess(x, method="tail")),
        "ess_mean": plain(az.ess(x, method="mean")),
        "ess_sd": plain(az.ess(x, method="sd")),
        "ess_median": plain(az.ess(x, method="median")),
        "ess_quantile_10": plain(az.ess(x, method="quantile", prob=0.1)),
        "ess_quantile_75": plain(az.ess(x, method="quantile", prob=0.75)),
        "mcse_mean": plain(az.mcse(x, method="mean")),
        "mcse_sd": plain(az.mcse(x, method="sd")),
        "mcse_median": plain(az.mcse(x, method="median")),
        "mcse_quantile_10": plain(az.mcse(x, method="quantile", prob=0.1)),
        "mcse_quantile_75": plain(az.mcse(x, method="quantile", prob=0.75)),
        "hdi_89": interval(lambda: az.hdi(flat, hdi_prob=0.89)),
        "hdi_50": interval(lambda: az.hdi(flat, hdi_prob=0.5)),
        "hdi_94": interval(lambda: az.hdi(flat, hdi_prob=0.94)),
        "eti_89": plain(np.quantile(flat, [(1 - 0.89) / 2, 1 - (1 - 0.89) / 2])),
        "bfmi": plain(az.bfmi(x)) if x.shape[1] > 1 else None,
        "autocov": plain(az.autocov(x[0])[:5]),
        "autocorr": plain(az.autocorr(x[0])[:5]),
        "summary": plain(table.iloc[0].to_numpy()),
    }


def main():
    cases = []
    for seed, (kind, chains, draws) in enumerate(CASES, start=1):
        x = make(kind, chains, draws, seed)
        cases.append(
            {"kind": kind, "chains": chains, "draws": draws, "seed": seed, "last": bits(x[-1, -1]), **estimates(x)}
        )
    schools, arrays = [], []
    for name in ("centered_eight", "non_centered_eight"):
        data = az.load_arviz_data(name)
        for variable in ("mu", "tau", "theta"):
            values = data.posterior[variable].to_numpy()
            values = values.reshape(values.shape[0], values.shape[1], -1)
            for element in range(values.shape[2]):
                x = np.ascontiguousarray(values[:, :, element])
                arrays.append(x)
                schools.append({"name": f"{name}.{variable}[{element}]", **estimates(x)})
        x = data.sample_stats["energy"].to_numpy()
        arrays.append(x)
        schools.append({"name": f"{name}.energy", **estimates(x)})
    stored = np.stack(arrays).astype("<f8")
    (HERE / "eight_schools.f64").write_bytes(stored.tobytes())
    document = {
        "arviz": az.__version__,
        "summary_columns": ["mean", "sd", "hdi_low", "hdi_high", "mcse_mean", "mcse_sd", "ess_bulk", "ess_tail", "rhat"],
        "cases": cases,
        "eight_schools": {"chains": stored.shape[1], "draws": stored.shape[2], "arrays": schools},
    }
    lines = json.dumps(document, indent=None).replace('{"kind"', '\n{"kind"').replace('{"name"', '\n{"name"')
    (HERE / "expected.json").write_text(lines + "\n")


if __name__ == "__main__":
    main()
