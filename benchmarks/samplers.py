"""Judges every sampler over many seeds, calibrates it, and measures its effective draws for each gradient; writes a report.

    python benchmarks/samplers.py target/release/octopus reports/samplers.md

Each figure is kept as soon as it is found, beside the report (`.json`), and the same command goes on; seeds are counted in
blocks of 20. `--only mams` takes these samplers alone.
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
# Seeds of a sweep, and how many are kept at a time.
SWEPT, BLOCK, FIRST = 1000, 20, 42


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


def add_seeds(program, words, total):
    """Adds a block of seeds to what a sweep has counted."""
    first = FIRST + total.get("runs", 0)
    block = octopus(program, "sweep", *words, "--draws", "1000", "--seed", str(first), "--seeds", str(BLOCK))["sweep"]
    for key, add in (("runs", int.__add__), ("lost", int.__add__), ("largest_rhat", max), ("diverging", int.__add__),
                     ("divergences", int.__add__)):
        total[key] = add(total[key], block[key]) if key in total else block[key]


def calibrated(program, words):
    with tempfile.TemporaryDirectory() as folder:
        ranks = octopus(program, "calibrate", *words, "--datasets", "1000", "--out", f"{folder}/sbc")["ranks"]
    worst = min(ranks["quantities"], key=lambda one: one["adjusted_p"])
    return [ranks["calibrated"], worst["adjusted_p"], len(ranks["quantities"])]


def geweke(program, words):
    with tempfile.TemporaryDirectory() as folder:
        moments = octopus(program, "calibrate", *words, "--geweke", "--out", f"{folder}/geweke")["geweke"]
    return [moments["calibrated"], max(abs(one["z"]) for one in moments["moments"]), moments["limit"]]


def judge(program, sampler, found):
    """Adds to `found` what it lacks, and yields what was added each time."""
    # The target of acceptance is the sampler's own, and for NUTS that of the public studies.
    own = ("--algorithm", sampler, *(("--target-accept", "0.8") if sampler == "nuts" else ()))
    moves = sampler in CHAINS
    for kind, models, measure in (("efficiency", MODELS if moves else {}, efficiency), ("calibrated", CALIBRATED, calibrated),
                                  ("geweke", GEWEKE if moves else {}, geweke)):
        for name, words in models.items():
            if name not in found.setdefault(kind, {}):
                found[kind][name] = measure(program, (*words, *own))
                yield kind, name
    for name, words in MODELS.items():
        total = found.setdefault("swept", {}).setdefault(name, {})
        while total.get("runs", 0) < SWEPT:
            add_seeds(program, (*words, *own), total)
            yield f"{total['runs']} seeds", name


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
    of = lambda kind, name: [(sampler, done[sampler][kind][name]) for sampler in (*CHAINS, *POPULATIONS)
                             if name in done.get(sampler, {}).get(kind, {})]
    text += table("model | " + " | ".join(CHAINS),
                  [f"| {name} | " + " | ".join(cell(found[sampler]) if sampler in found else "" for sampler in CHAINS) + " |"
                   for name in MODELS for found in [dict(of("efficiency", name))]])
    text += ["Public figures for eight schools, non-centered (oWALNUTS' study posteriordb_bench_v5): oWALNUTS 24.7, CmdStan "
             "32.9, nutpie 42.6.", "",
             "## Many seeds", "",
             "A run is lost when an R-hat is above 1.05. Importance, smc and pathfinder draw in standardised coordinates, "
             "whichever are asked for, so that their two rows of eight schools are of the same runs.", ""]
    text += table("model | sampler | seeds | lost | largest R-hat | runs with divergences (divergences)",
                  [f"| {name} | {sampler} | {s['runs']} | {s['lost']} | {s['largest_rhat']:.3f} | "
                   f"{s['diverging']} ({s['divergences']}) |" for name in MODELS for sampler, s in of("swept", name) if s])
    text += ["## Calibration", "",
             "Ranks of the true values among the draws of 1000 data sets (SBC), and Geweke's test. Pathfinder is an approximation "
             "and says so: it need not be calibrated.", ""]
    verdict = lambda good: "calibrated" if good else "**not calibrated**"
    text += table("model | sampler | ranks: smallest p-value, adjusted for all",
                  [f"| {name} | {sampler} | {verdict(s[0])}: {s[1]:.2g} of {s[2]} |"
                   for name in CALIBRATED for sampler, s in of("calibrated", name)])
    text += table("model | sampler | Geweke: largest z-score, and its limit",
                  [f"| {name} | {sampler} | {verdict(g[0])}: {g[1]:.2f}, {g[2]:.2f} |"
                   for name in GEWEKE for sampler, g in of("geweke", name)])
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
        for kind, name in judge(args.octopus, sampler, done.setdefault(sampler, {})):
            kept.write_text(json.dumps(done, indent=1) + "\n")
            args.report.write_text(report(done))
            print(sampler, kind, name, flush=True)
    args.report.write_text(report(done))


if __name__ == "__main__":
    main()
