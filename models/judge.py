"""Sweeps each program that ships over many seeds, and calibrates it; writes a report.

    python models/judge.py target/release/octopus reports/shipped-models.md --seeds 1000 --sets 500

Other options are of `octopus sweep`. `--only poisson hmm` takes these programs alone, `--sets 0` calibrates none. What is
done is kept beside the report (`.json`), and the same command goes on: it does again what was done with another text, other
data or other options.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

MODELS = Path(__file__).resolve().parent
# What is kept of a calibration.
KEPT = ("data_sets", "failed", "high_rhat", "far_apart", "diverging", "divergences", "low_ess", "false_alarm")


def octopus(program, *words):
    told = subprocess.run([program, *words, "--json", "--quiet"], capture_output=True, text=True, cwd=MODELS.parent)
    return told.returncode, json.loads(told.stdout or "null"), told.stderr.strip()


def sweep(program, name, seeds, options):
    _, found, why = octopus(program, "sweep", f"models/{name}/{name}.stan", "--data", f"models/{name}/{name}.json",
                            "--seeds", str(seeds), *options)
    if found is None:
        sys.exit(f"{name}: {why}")
    return found["sweep"]


def calibration(program, name, sets):
    words = ["calibrate", f"models/{name}/{name}.stan", "--data", f"models/{name}/{name}.json"]
    simulator = simulator_of(name)
    if simulator.exists():
        words += ["--simulator", f"models/{name}/simulator.stan"]
    with tempfile.TemporaryDirectory() as folder:
        code, found, why = octopus(program, *words, "--datasets", str(sets), "--out", f"{folder}/out")
    if found is None:
        sys.exit(f"{name}: {why or code}")
    ranks = found["ranks"]
    worst = min(ranks["quantities"], key=lambda one: one["adjusted_p"])
    smallest = min(min(one["ecdf_p"], one["chi_square_p"]) for one in ranks["quantities"])
    return {"calibrated": found["calibrated"], "by": "simulator.stan" if simulator.exists() else "its statements",
            "simulator": fingerprint([simulator]),
            **{what: ranks[what] for what in KEPT}, "quantities": len(ranks["quantities"]),
            "worst": worst["name"], "smallest_p": smallest, "adjusted_p": worst["adjusted_p"]}


def table(head, rows):
    return [f"| {head} |", "|" + "--|" * (head.count("|") + 1), *rows, ""]


def report(done, command, options):
    swept, calibrated = [], []
    for name, one in sorted(done.items()):
        if "sweep" in one:
            found = one["sweep"]
            lost = "; ".join(f"seed {run['seed']}: {run['rhat']:.2f} of {run['quantity']}" for run in found["worst"][:5])
            swept.append(f"| {name} | {found['runs']} | {found['lost']} | {found['largest_rhat']:.3f} | {found['unfit']} | "
                         f"{found['diverging']} ({found['divergences']}) | {found['leapfrogs_a_draw']:.1f} | {lost} |")
        found = one.get("calibration")
        if found:
            verdict = "calibrated" if found["calibrated"] else "**not calibrated**"
            calibrated.append(f"| {name} | {found['by']} | {verdict} | {found['data_sets']} | "
                              f"{found['smallest_p']:.2g} of {2 * found['quantities']}, {found['adjusted_p']:.2g} | "
                              f"{found['high_rhat']} | {found['far_apart']} | {found['diverging']} ({found['divergences']}) |")
    settings = " ".join(options) or "default settings"
    return "\n".join([
        "# The programs that ship, under many seeds and for many data sets", "", "```console", f"$ {command}", "```", "",
        f"Each is sampled under many seeds with its own data ({settings}), as `octopus sweep` does.",
        "A run is lost when an R-hat is above 1.05: a chain has stuck or is elsewhere.",
        "One at 1.01 or above has fewer effective draws than others, and is not lost.", "",
        *table("program | seeds | lost | largest R-hat | at 1.01 or above | runs with divergences (divergences) | "
               "leapfrogs of a draw | which are lost", swept),
        "Each is calibrated as `octopus calibrate` does: the ranks of true values among the draws must be uniform, where "
        "parameters come from the prior and data from the parameters.",
        "Data are drawn by the program's statements or, where these do not say how, by `simulator.stan` beside the program.",
        "The verdict is of all p-values together (Holm), at a rate of false alarms of 0.001.",
        "With R-hat above 1.05 are data sets on which the short chains of a calibration have not agreed; on at most 1 % of "
        "the data sets they may be far apart.", "",
        *table("program | data drawn by | verdict | data sets | smallest p-value, the same adjusted | R-hat above 1.05 | "
               "far apart | data sets with divergences (divergences)", calibrated),
        "Means and standard deviations of all are within 4 standard errors of the truth, which nobody sampled:", "",
        "```console", "$ cargo test --release -p octopus --test shipped draws_have_the_moments_of_the_truth", "```", ""])


def simulator_of(name):
    return MODELS / name / "simulator.stan"


def fingerprint(files, options=()):
    """Of what a result depends on, but for Octopus itself."""
    parts = [file.read_bytes() for file in files if file.exists()] + [" ".join(options).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("octopus")
    parser.add_argument("report", type=Path)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--sets", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[])
    args, options = parser.parse_known_args()
    program, kept = str(Path(args.octopus).resolve()), args.report.with_suffix(".json")
    done = json.loads(kept.read_text()) if kept.exists() else {}
    command = f"python models/judge.py target/release/octopus reports/{args.report.name} --seeds {args.seeds}"
    command += (f" --sets {args.sets}" if args.sets else "") + "".join(f" {option}" for option in options)

    def keep():
        kept.write_text(json.dumps(done, indent=1) + "\n")
        args.report.write_text(report(done, command, options))

    for name in args.only or sorted(folder.parent.name for folder in MODELS.glob("*/make.py")):
        made = fingerprint([MODELS / name / f"{name}.stan", MODELS / name / f"{name}.json"], options)
        if done.get(name, {}).get("sha256") != made:
            done[name] = {"sha256": made}
        one = done[name]
        if one.get("sweep", {}).get("runs") != args.seeds:
            one["sweep"] = sweep(program, name, args.seeds, options)
            keep()
        done_with = [one.get("calibration", {}).get(what) for what in ("data_sets", "simulator")]
        if args.sets and done_with != [args.sets, fingerprint([simulator_of(name)])]:
            one["calibration"] = calibration(program, name, args.sets)
        keep()
        print(name, one["sweep"]["lost"], one.get("calibration", {}).get("calibrated", ""), flush=True)


main()
