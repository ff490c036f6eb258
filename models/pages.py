"""Samples each program that ships with default settings, and writes what comes out beside the truth into its page.

    python models/pages.py target/release/octopus [NAME...]

A page is docs/models/NAME.md; its table stands between the two comments that name this script.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- table: models/pages.py -->", "<!-- end -->"
# Elements of an array that are shown.
SHOWN = 3


def elements(name, moment):
    """Names of elements as a summary has them without the labels, with their moments."""
    if isinstance(moment["mean"], list):
        return [((name, k), mean, sd) for k, (mean, sd) in enumerate(zip(moment["mean"], moment["sd"]))]
    return [((name, 0), moment["mean"], moment["sd"])]


def table(octopus, name):
    truth = json.loads((ROOT / "models" / name / "truth.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        run, files = f"{folder}/run", ROOT / "models" / name / name
        words = ["sample", f"{files}.stan", "--data", f"{files}.json", "--out", run, "--device", "cpu", "--quiet"]
        subprocess.run([octopus, *words], capture_output=True)
        told = subprocess.run([octopus, "diagnose", run, "--json"], capture_output=True, text=True)
    found = json.loads(told.stdout)
    of_variable = {}
    for one in found["parameters"]:
        of_variable.setdefault(one["name"].split("[")[0], []).append(one)
    lines = ["| | truth: mean | sd | draws: mean | sd | MCSE of the mean | bulk ESS |", "|--|--|--|--|--|--|--|"]
    largest, count = 0.0, 0
    for variable, moment in truth["moments"].items():
        for k, ((_, at), mean, sd) in enumerate(elements(variable, moment)):
            one = of_variable[variable][at]
            for value, expected, mcse in [(one["mean"], mean, one["mcse_mean"]), (one["sd"], sd, one["mcse_sd"])]:
                largest = max(largest, abs(value - expected) / (mcse**2 + (truth["error"] * sd) ** 2) ** 0.5)
                count += 1
            if k < SHOWN:
                numbers = [mean, sd, one["mean"], one["sd"]]
                cells = [f"{value:.4g}" for value in numbers] + [f"{one['mcse_mean']:.2g}", f"{one['ess_bulk']:.0f}"]
                lines.append(f"| `{one['name']}` | " + " | ".join(cells) + " |")
    rhat = max(one["rhat"] for one in found["parameters"])
    text = (f"The truth is by {truth['method']}, with an error of at most {truth['error']:.0e} posterior standard "
            f"deviations.\nOf {count} means and standard deviations the farthest is {largest:.1f} standard errors off; "
            f"the largest R-hat is {rhat:.4f}.")
    return "\n".join([*lines, "", text])


def main():
    octopus, names = sys.argv[1], sys.argv[2:]
    for page in sorted((ROOT / "docs/models").glob("*.md")):
        if names and page.stem not in names:
            continue
        text = page.read_text()
        before, rest = text.split(BEGIN)
        after = rest.split(END)[-1].lstrip("\n")
        page.write_text(f"{before}{BEGIN}\n{table(octopus, page.stem)}\n{END}\n\n{after}")
        print(page.stem)


main()
