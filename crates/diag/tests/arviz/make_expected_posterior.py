"""Writes expected_posterior.json: what the R package posterior says where its definitions are not those of ArviZ 0.23.

    apt-get install r-cran-posterior python3-numpy && python3 make_expected_posterior.py

Debian's is version 1.4.0.
"""

import json
import math
import pathlib
import subprocess

from arrays import CASES, make

HERE = pathlib.Path(__file__).parent
NAMES = (
    "rhat",
    "ess_bulk",
    "ess_tail",
    "ess_mean",
    "ess_quantile_10",
    "mcse_mean",
    "mcse_sd",
    "mcse_quantile_75",
)


def plain(text):
    value = math.nan if text == "NA" else float(text)
    return value if math.isfinite(value) else repr(value)


def main():
    cases = [
        {"kind": kind, "chains": chains, "draws": draws, "seed": seed}
        for seed, (kind, chains, draws) in enumerate(CASES, start=1)
        if draws > 3
    ]
    lines = []
    for case in cases:
        values = make(**case).ravel()
        lines.append(" ".join([str(case["chains"]), str(case["draws"]), *(repr(float(v)) for v in values)]))
    command = ["Rscript", "--vanilla", str(HERE / "make_expected_posterior.R")]
    said = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True).stdout.splitlines()
    for case, line in zip(cases, said[1:], strict=True):
        case.update(zip(NAMES, map(plain, line.split()), strict=True))
    text = json.dumps({"posterior": said[0], "cases": cases}, separators=(",", ":")).replace('{"kind"', '\n{"kind"')
    (HERE / "expected_posterior.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
