"""The PRD's model by Octopus and by nuts-rs, its density centered by hand: one run, the same data, chains and cores.

    python nuts_rs.py ../../target/release/octopus TABLE.md [--groups 100 500 1000] [--seeds 5] [--target 0.95]

Builds `nuts_rs/` with target-cpu=native, fat LTO and one codegen unit (its lock file has the versions). Each seed is run by
all programs in turn, so that each meets the same machine; smallest bulk-ESS of all numbers by `octopus diagnose` for both.
Seconds are warm-up and sampling, without start, data and files. Needs numpy and arviz 0.23.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
CHAINS, TUNE, DRAWS = 4, 1000, 2000


def build():
    """Builds the peer; returns its program."""
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(HERE, "nuts_rs", "target"))
    environment = dict(os.environ, RUSTFLAGS="-C target-cpu=native", CARGO_TARGET_DIR=target)
    command = ["cargo", "build", "--release", "--locked", "--quiet"]
    subprocess.run(command, cwd=os.path.join(HERE, "nuts_rs"), env=environment, check=True)
    return os.path.join(target, "release", "nuts-rs-peer")


def data(folder, groups):
    """Writes the PRD's data with this many groups of ten."""
    import numpy as np

    np.random.seed(42)
    means = np.random.normal(50.0, 10.0, groups)
    path = os.path.join(folder, f"{groups}.csv")
    with open(path, "w") as file:
        file.write("group,y\n")
        for group, mean in enumerate(means):
            file.writelines(f"{group},{y!r}\n" for y in np.random.normal(mean, 2.0, 10).tolist())
    return path


def octopus(program, path, form, seed, threads, target, strategy):
    """Seconds, all and of warm-up; leapfrog steps a draw, warm-up's too, seconds each; smallest bulk-ESS, largest R-hat."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run")
        command = [program, "sample", "hierarchical-normal", "--data", path, "--group", "group", "--value", "y",
                   "--likelihood", form, "--seed", str(seed), "--threads", str(threads), "--target-accept", str(target),
                   "--chains", str(CHAINS), "--tune", str(TUNE), "--draws", str(DRAWS), "--strategy", strategy, "--out", out, "--json",
                   "--quiet"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    found = json.loads(done.stdout)
    timing, diagnosis = found["timing"], found["diagnosis"]
    seconds, steps = timing["warmup_s"] + timing["sampling_s"], found["leapfrogs"]
    return {"warm_up": timing["warmup_s"], "seconds": seconds, "leapfrog": seconds * threads / steps,
            "steps": steps / CHAINS / DRAWS, "ess": diagnosis["min_ess_bulk"], "rhat": diagnosis["max_rhat"]}


# The rows of Octopus: its default, and the chains that it takes for as many draws where it may choose.
STRATEGIES = {"octopus": "cross-chain", "octopus, four-long": "four-long", "octopus, auto": "auto"}


def nuts_rs(program, judge, path, form, seed, threads, target, known):
    """The same; draws are judged once, since they do not depend on the threads."""
    import arviz as az
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "draws")
        command = [program, path, form, *map(str, (CHAINS, TUNE, DRAWS, target, seed, threads)), out]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        seconds, warm_up, steps = map(float, done.stdout.split())
        key = (path, form, seed, target)
        if key not in known:
            draws = np.fromfile(out).reshape(CHAINS, DRAWS, -1)
            mu, between, groups = draws[..., :1], draws[..., 1:2], draws[..., 3:]
            scalars = {"mu_pop": draws[..., 0], "sigma_pop": draws[..., 1], "sigma_obs": draws[..., 2]}
            whole = az.from_dict(posterior={**scalars, "z": (groups - mu) / between, "mu_group": groups})
            file = os.path.join(folder, "draws.nc")
            whole.to_netcdf(file, engine="h5netcdf")
            told = subprocess.run([judge, "diagnose", file, "--json"], stdout=subprocess.PIPE, check=False)
            told = json.loads(told.stdout)
            known[key] = told["min_ess_bulk"], told["max_rhat"]
    ess, rhat = known[key]
    return {"warm_up": warm_up, "seconds": seconds, "leapfrog": seconds * threads / steps,
            "steps": steps / CHAINS / DRAWS, "ess": ess, "rhat": rhat}


def middle(values, digits=3):
    """Median, and the smallest and the largest."""
    values = sorted(values)
    return f"{statistics.median(values):.{digits}g} ({values[0]:.{digits}g} to {values[-1]:.{digits}g})"


def main():
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("octopus")
    parser.add_argument("table")
    parser.add_argument("--groups", type=int, nargs="+", default=[100, 500, 1000])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--target", type=float, default=0.95)
    asked = parser.parse_args()
    program, peer = os.path.abspath(asked.octopus), build()
    known, lines = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for groups in asked.groups:
            path = data(folder, groups)
            one_core = None
            for threads in (1, 2):
                runs = {}
                for seed in range(1, asked.seeds + 1):
                    for form in ("collapsed", "pointwise"):
                        for name, strategy in STRATEGIES.items():
                            runs.setdefault((name, form), []).append(
                                octopus(program, path, form, seed, threads, asked.target, strategy))
                        runs.setdefault(("nuts-rs", form), []).append(
                            nuts_rs(peer, program, path, form, seed, threads, asked.target, known))
                one_core = one_core or runs
                for (who, form), found in runs.items():
                    of_peer = runs["nuts-rs", form]
                    per_second = [run["ess"] / run["seconds"] for run in found]
                    ratio = [own / (run["ess"] / run["seconds"]) for own, run in zip(per_second, of_peer)]
                    faster = [one["seconds"] / two["seconds"] for one, two in zip(one_core[who, form], found)]
                    column = lambda key, scale=1.0: middle([run[key] * scale for run in found])
                    cells = [groups, threads, form, who, column("seconds", 1e3), column("warm_up", 1e3), column("steps"),
                             column("leapfrog", 1e9), column("ess", 1e-3), f"{max(run['rhat'] for run in found):.4f}",
                             middle(per_second), middle(ratio), middle(faster)]
                    lines.append("| " + " | ".join(map(str, cells)) + " |")
                    print(lines[-1], flush=True)
    names = ["groups", "cores", "likelihood", "program", "ms", "ms of warm-up", "leapfrogs a draw, warm-up's too", "ns a leapfrog",
             "min bulk-ESS, 1000", "max R-hat", "ESS/s", "over nuts-rs", "one core over this"]
    with open(asked.table, "w") as file:
        file.write(f"{CHAINS} chains, {TUNE} tune and {DRAWS} draws, target_accept {asked.target}, {asked.seeds} seeds: "
                   f"medians (smallest to largest). {platform.processor() or platform.machine()}, {os.cpu_count()} cores.\n\n")
        file.write("| " + " | ".join(names) + " |\n" + "|--" * len(names) + "|\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
