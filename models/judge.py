"""Sweeps each program that ships over many seeds, and calibrates it where it can be drawn from; writes a report.

    python models/judge.py target/release/octopus reports/shipped-models.md --seeds 1000 --sets 500

With `--sets 0` nothing is calibrated. What is done is kept beside the report (`.json`), and the same command goes on.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def octopus(program, *words):
    told = subprocess.run([program, *words, "--json", "--quiet"], capture_output=True, text=True)
    return told.returncode, json.loads(told.stdout or "null"), told.stderr.strip()


def sweep(program, name, seeds, options):
    _, found, why = octopus(program, "sweep", name, "--seeds", str(seeds), *options)
    if found is None:
        sys.exit(f"{name}: {why}")
    return found["sweep"]


def calibration(program, name, sets):
    with tempfile.TemporaryDirectory() as folder:
        code, found, why = octopus(program, "calibrate", name, "--datasets", str(sets), "--out", f"{folder}/out")
    return {0: "calibrated", 1: "NOT calibrated"}.get(code, f"not possible: {why.splitlines()[0] if why else code}")


def report(done, command, seeds, options):
    rows = []
    for name, one in done.items():
        found = one["sweep"]
        lost = "; ".join(f"seed {run['seed']}: {run['rhat']:.2f} of {run['quantity']}" for run in found["worst"][:5])
        rows.append(f"| {name} | {found['runs']} | {found['lost']} | {found['largest_rhat']:.3f} | {found['unfit']} | "
                    f"{found['diverging']} | {found['leapfrogs_a_draw']:.1f} | {one.get('calibration', '')} | {lost} |")
    settings = " ".join(options) or "default settings"
    return "\n".join([
        "# The programs that ship, under many seeds", "", "```console", f"$ {command}", "```", "",
        f"Each is sampled under {seeds} seeds with its own data ({settings}).",
        "A run is lost when an R-hat is above 1.05: a chain has stuck or is elsewhere.", "",
        "| program | runs | lost | largest R-hat | at 1.01 or above | runs with divergences | leapfrogs of a draw | SBC | "
        "which are lost |", "|--|--|--|--|--|--|--|--|--|", *rows, ""])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("octopus")
    parser.add_argument("report", type=Path)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--sets", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[])
    args, options = parser.parse_known_args()
    kept = args.report.with_suffix(".json")
    done = json.loads(kept.read_text()) if kept.exists() else {}
    names = args.only or sorted(folder.parent.name for folder in (ROOT / "models").glob("*/make.py"))
    for name in names:
        one = done.setdefault(name, {})
        if one.get("sweep", {}).get("runs") != args.seeds:
            one["sweep"] = sweep(args.octopus, name, args.seeds, options)
        if args.sets and "calibration" not in one:
            one["calibration"] = calibration(args.octopus, name, args.sets)
        command = f"python models/judge.py target/release/octopus {args.report} --seeds {args.seeds}"
        command += (f" --sets {args.sets}" if args.sets else "") + "".join(f" {option}" for option in options)
        kept.write_text(json.dumps(done, indent=1) + "\n")
        args.report.write_text(report(done, command, args.seeds, options))
        print(name, one["sweep"]["lost"], one.get("calibration", ""), flush=True)


main()
