"""Judges every sampler over many seeds, calibrates it, and measures its effective draws for each gradient; writes a report.

    python benchmarks/samplers.py target/release/octopus reports/samplers.md

What is done is kept beside the report (`.json`), and the same command goes on. `--only mams` takes these samplers alone.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CHAINS = ("nuts", "hmc", "chees", "mams", "walnuts")
# They have no gradients to count, and no transition that Geweke's test could make.
POPULATIONS = ("importance", "smc", "pathfinder")
# The PRD's hierarchy, and eight schools in two kinds of coordinates.
MODELS = {
    "eight schools, non-centered": ("eight-schools", "--parameterization", "non-centered"),
    "eight schools": ("eight-schools",),
    "hierarchy of 100 groups": ("hierarchical-normal",),
}
CALIBRATED = {"eight schools": ("eight-schools",), "hierarchy of 20 groups": ("hierarchical-normal", "--groups", "20")}
# Geweke's test of 20 groups has too few effective draws to decide.
GEWEKE = {"eight schools": ("eight-schools",)}
SEEDS = range(1, 6)


def octopus(program, *words):
    told = subprocess.run([program, *words, "--json", "--quiet"], capture_output=True, text=True)
    if not told.stdout:
        sys.exit(f"{' '.join(words)}: {told.stderr.strip()}")
    return json.loads(told.stdout)


def efficiency(program, words):
    """The least bulk-ESS of all parameters for 1000 gradients, warm-up's too; the median, least and most of five seeds."""
    found = []
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as folder:
            run = octopus(program, "sample", *words, "--draws", "1000", "--tune", "1000", "--seed", str(seed), "--out",
                          f"{folder}/run")
            found.append(1000 * run["diagnosis"]["min_ess_bulk"] / run["leapfrogs"])
    return [statistics.median(found), min(found), max(found)]


def judge(program, sampler):
    # The target of acceptance is the sampler's own, and for NUTS that of the public studies.
    own = ("--algorithm", sampler, *(("--target-accept", "0.8") if sampler == "nuts" else ()))
    found = {"efficiency": {}, "swept": {}, "calibrated": {}, "geweke": {}}
    for name, words in MODELS.items():
        if sampler in CHAINS:
            found["efficiency"][name] = efficiency(program, (*words, *own))
        swept = octopus(program, "sweep", *words, *own, "--draws", "1000", "--seeds", "1000")["sweep"]
        found["swept"][name] = {key: swept[key] for key in ("lost", "largest_rhat", "diverging", "divergences")}
    for name, words in CALIBRATED.items():
        with tempfile.TemporaryDirectory() as folder:
            ranks = octopus(program, "calibrate", *words, *own, "--datasets", "1000", "--out", f"{folder}/sbc")
        worst = min(ranks["ranks"]["quantities"], key=lambda one: one["adjusted_p"])
        found["calibrated"][name] = [ranks["calibrated"], worst["adjusted_p"], len(ranks["ranks"]["quantities"])]
    for name, words in GEWEKE.items() if sampler in CHAINS else ():
        with tempfile.TemporaryDirectory() as folder:
            moments = octopus(program, "calibrate", *words, *own, "--geweke", "--out", f"{folder}/geweke")["geweke"]
        found["geweke"][name] = [moments["calibrated"], max(abs(one["z"]) for one in moments["moments"]), moments["limit"]]
    return found


def table(head, rows):
    return [f"| {head} |", "|" + "--|" * (head.count("|") + 1), *rows, ""]


def report(done):
    text = ["# Samplers, judged", "", "```console", "$ python benchmarks/samplers.py target/release/octopus reports/samplers.md",
            "```", "",
            "## Effective draws for 1000 gradients", "",
            "The least bulk-ESS of all parameters over all gradients, warm-up's too (four chains, 1000 iterations of warm-up, "
            "1000 draws, each sampler with its own target of acceptance, NUTS 0.8): the median of five seeds, and their range.",
            ""]
    cell = lambda three: f"{three[0]:.0f} ({three[1]:.0f} to {three[2]:.0f})"
    chains = {sampler: one for sampler, one in done.items() if sampler in CHAINS}
    text += table("model | " + " | ".join(chains),
                  [f"| {name} | " + " | ".join(cell(one["efficiency"][name]) for one in chains.values()) + " |"
                   for name in MODELS])
    text += ["Public figures for eight schools, non-centered (oWALNUTS' study posteriordb_bench_v5): oWALNUTS 24.7, CmdStan "
             "32.9, nutpie 42.6.", "",
             "## 1000 seeds", "",
             "A run is lost when an R-hat is above 1.05.", ""]
    text += table("model | sampler | lost | largest R-hat | runs with divergences (divergences)",
                  [f"| {name} | {sampler} | {s['lost']} | {s['largest_rhat']:.3f} | {s['diverging']} ({s['divergences']}) |"
                   for name in MODELS for sampler, one in done.items() for s in [one["swept"][name]]])
    text += ["## Calibration", "",
             "Ranks of the true values among the draws of 1000 data sets (SBC), and Geweke's test. Pathfinder is an approximation "
             "and says so: it need not be calibrated.", ""]
    verdict = lambda good: "calibrated" if good else "**not calibrated**"
    text += table("model | sampler | ranks: smallest p-value, adjusted for all",
                  [f"| {name} | {sampler} | {verdict(s[0])}: {s[1]:.2g} of {s[2]} |"
                   for name in CALIBRATED for sampler, one in done.items() for s in [one["calibrated"][name]]])
    text += table("model | sampler | Geweke: largest z-score, and its limit",
                  [f"| {name} | {sampler} | {verdict(g[0])}: {g[1]:.2f}, {g[2]:.2f} |"
                   for name in GEWEKE for sampler, one in chains.items() for g in [one["geweke"][name]]])
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("octopus")
    parser.add_argument("report", type=Path)
    parser.add_argument("--only", nargs="*", default=(*CHAINS, *POPULATIONS))
    args = parser.parse_args()
    kept = args.report.with_suffix(".json")
    done = json.loads(kept.read_text()) if kept.exists() else {}
    for sampler in args.only:
        if sampler not in done:
            done[sampler] = judge(args.octopus, sampler)
            kept.write_text(json.dumps(done, indent=1) + "\n")
            args.report.write_text(report(done))
            print(sampler, flush=True)


if __name__ == "__main__":
    main()
