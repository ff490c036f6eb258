"""What it costs to end warm-up when it has settled: sweeps programs by several strategies; writes a report.

    python benchmarks/strategies.py target/release/octopus reports/strategies.md [--list PROGRAMS] [--seeds 100]

The programs are those that ship, or those of a list with a line `name TAB program TAB data` for each. What is done is kept
beside the report (`.json`), and the same command goes on. A program that needs more than `--limit` seconds for all seeds is left
out, and counted.
"""

import argparse
import json
import statistics
import subprocess
from pathlib import Path

MODELS = Path(__file__).resolve().parent.parent / "models"
DRAWS = 1000
STRATEGIES = {
    "four-long": ["--strategy", "four-long"],
    "cross-chain": ["--strategy", "cross-chain"],
    "auto": ["--strategy", "auto"],
}


def programs(given):
    if given:
        return [line.split("\t") for line in Path(given).read_text().splitlines()]
    names = sorted(folder.parent.name for folder in MODELS.glob("*/make.py"))
    return [(name, str(MODELS / name / f"{name}.stan"), str(MODELS / name / f"{name}.json")) for name in names]


def sweep(args, program, data, options):
    command = [args.octopus, "sweep", program, "--data", data, "--seeds", str(args.seeds), "--draws", str(DRAWS),
               "--target-accept", str(args.target_accept), *options, "--json", "--quiet"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=args.limit)
    except subprocess.TimeoutExpired:
        return None
    if not told.stdout:
        return None
    found = json.loads(told.stdout)
    draws = found["sampler"]["chains"] * found["sampler"]["draws"]
    kept = ("lost", "unfit", "diverging", "largest_rhat")
    steps = found["sweep"]["warm_up_leapfrogs"] + draws * found["sweep"]["leapfrogs_a_draw"]
    return {**{key: found["sweep"][key] for key in kept}, "leapfrogs": steps}


def row(name, found):
    first = found["four-long"]["leapfrogs"]
    cell = lambda one: f"{one['lost']}, {one['unfit']}, {one['diverging']}"
    cells = [f"{cell(found[key])} | {first / found[key]['leapfrogs']:.2f}" for key in STRATEGIES]
    return f"| {name} | " + " | ".join(cells) + " |"


def report(done, args):
    whole = {name: found for name, found in done.items() if all(found.get(key) for key in STRATEGIES)}
    sums = {key: [sum(found[key][what] for found in whole.values()) for what in ("lost", "unfit", "diverging")]
            for key in STRATEGIES}
    saved = {key: statistics.median(found["four-long"]["leapfrogs"] / found[key]["leapfrogs"] for found in whole.values())
             for key in STRATEGIES}
    head = "program | " + " | ".join(f"{key} | fewer leapfrogs" for key in STRATEGIES)
    total = " | ".join(f"{', '.join(map(str, sums[key]))} | {saved[key]:.2f}" for key in STRATEGIES)
    return "\n".join([
        "# Warm-up that ends when it has settled", "", "```console",
        f"$ python benchmarks/strategies.py target/release/octopus reports/{args.report.name} --seeds {args.seeds} "
        f"--target-accept {args.target_accept}" + (" --list PROGRAMS" if args.list else ""), "```", "",
        f"{args.seeds} seeds of each program, {DRAWS} draws of each of four chains or as many in all, at most 1000 iterations "
        f"of warm-up, target_accept {args.target_accept}.",
        "Each cell has three counts of runs: lost (R-hat above 1.05), R-hat of 1.01 or above, with divergences.",
        "\"Fewer leapfrogs\" is how many times as many leapfrog steps, warm-up's too, four long chains need.", "",
        f"| {head} |", "|" + "--|" * (head.count("|") + 1),
        *(row(name, found) for name, found in sorted(whole.items())),
        f"| all {len(whole)}: sums, and the median | {total} |", "",
        f"{len(done) - len(whole)} others took longer than {args.limit} s by a strategy, or cannot be run by it.", ""])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("octopus")
    parser.add_argument("report", type=Path)
    parser.add_argument("--list", help="a file of programs")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds of a program and strategy")
    parser.add_argument("--target-accept", type=float, default=0.8)
    args = parser.parse_args()
    kept = args.report.with_suffix(".json")
    done = json.loads(kept.read_text()) if kept.exists() else {}
    for name, program, data in programs(args.list):
        found = done.setdefault(name, {})
        for strategy, options in STRATEGIES.items():
            if strategy not in found:
                found[strategy] = sweep(args, program, data, options)
                kept.write_text(json.dumps(done, indent=1) + "\n")
        args.report.write_text(report(done, args))
        print(name, flush=True)


if __name__ == "__main__":
    main()
