"""Octopus on posteriordb: means and sds beside the reference draws, and the cells of a public study of samplers.

    python3 -m venv venv && venv/bin/pip install arviz==0.23.4 h5py 'numpy<2.4'
    venv/bin/python posteriordb.py means CHECKOUT --octopus BIN --into DIR
    venv/bin/python posteriordb.py study CHECKOUT --octopus BIN --into DIR

CHECKOUT is a folder of github.com/stan-dev/posteriordb, whose data are unzipped where they lie. Runs that DIR has are not
repeated: a new binary needs a new folder. Each command prints its table in Markdown.

`means` samples each posterior that has reference draws with the default settings. A mean or sd agrees within 0.05 of the
reference's sd, or within 4 Monte Carlo standard errors (ArviZ's, of both sides). "says so" is what `octopus sample`
failed by its own diagnosis, which its exit code tells too. The checkout that is at hand may lack a file of draws: its
summary (means and mean squares) is then the reference.

`study` is the protocol of STUDIES/posteriordb_bench_v5 of github.com/dhruv575/oWALNUTS: 17 posteriors, seeds 87101 to
87103, four chains, 1000 iterations of warm-up and 1000 draws, else the defaults. A cell passes when of all parameters
of the reference rank R-hat is at most 1.01, bulk and tail ESS are at least 400 (ArviZ 0.23.4), and no draw diverged. ESS per
gradient is the least bulk ESS of all parameters over all leapfrog steps, warm-up's too. The others' figures are the
study's, of its README and `artifacts/results-table.md`.
"""

import argparse
import json
import re
import subprocess
import zipfile
from pathlib import Path

import arviz as az
import h5py
import numpy as np

SEEDS = (87101, 87102, 87103)
# Of each posterior the cells that pass of three, and the median of a thousand times the least bulk ESS per gradient: of
# oWALNUTS, CmdStan 2.39.0, nutpie 0.16.8.
STUDY = {
    "eight_schools-eight_schools_noncentered": ((3, 24.720), (3, 32.978), (0, 42.744)),
    "eight_schools-eight_schools_centered": ((0, 0.349), (0, 0.296), (0, 1.027)),
    "diamonds-diamonds": ((3, 0.191), (3, 0.227), (0, 0.162)),
    "earnings-logearn_interaction": ((3, 0.582), (3, 0.870), (3, 0.954)),
    "mesquite-logmesquite_logvash": ((3, 3.601), (3, 3.983), (3, 4.237)),
    "kidiq-kidscore_momhsiq": ((3, 3.731), (3, 4.043), (3, 6.170)),
    "sblrc-blr": ((3, 5.748), (2, 6.593), (3, 15.602)),
    "nes2000-nes": ((3, 4.239), (3, 4.973), (3, 5.859)),
    "arK-arK": ((3, 8.739), (3, 10.794), (3, 11.492)),
    "arma-arma11": ((3, 14.273), (1, 0.201), (1, 0.278)),
    "garch-garch11": ((3, 19.202), (3, 22.321), (3, 25.609)),
    "gp_pois_regr-gp_pois_regr": ((3, 0.751), (0, 0.995), (0, 0.487)),
    "hmm_example-hmm_example": ((3, 15.506), (3, 21.238), (3, 28.332)),
    "bball_drive_event_0-hmm_drive_0": ((2, 37.607), (2, 39.881), (3, 95.105)),
    "one_comp_mm_elim_abs-one_comp_mm_elim_abs": ((1, 10.131), (1, 10.716), (0, 22.184)),
    "hudson_lynx_hare-lotka_volterra": ((3, 3.136), (3, 3.561), (0, None)),
    "mcycle_gp-accel_gp": ((0, 0.118), (0, 0.251), (0, 0.165)),
}


class Database:
    """A checkout of posteriordb."""

    def __init__(self, checkout):
        self.root = Path(checkout) / "posterior_database"

    def posterior(self, name):
        return json.loads((self.root / "posteriors" / f"{name}.json").read_text())

    def with_references(self):
        names = sorted(path.stem for path in (self.root / "posteriors").glob("*.json"))
        return [name for name in names if self.posterior(name)["reference_posterior_name"]]

    def files(self, name):
        """The program and the data."""
        posterior = self.posterior(name)
        program = self.root / "models" / "stan" / f"{posterior['model_name']}.stan"
        return program, self.root / "data" / "data" / f"{posterior['data_name']}.json"

    def summary(self, name):
        """Names, means, sds and the standard errors of both, from the reference's draws or else its summary."""
        reference = self.posterior(name)["reference_posterior_name"]
        draws = self.root / "reference_posteriors" / "draws" / "draws" / f"{reference}.json.zip"
        if draws.exists():
            with zipfile.ZipFile(draws) as archive:
                chains = json.loads(archive.read(archive.namelist()[0]))
            names = list(chains[0])
            values = np.array([[chain[name] for name in names] for chain in chains], dtype=float)
            return names, *moments(values.transpose(0, 2, 1))
        kinds = ("mean_value", "mean_squared_value")
        folder = self.root / "reference_posteriors" / "summary_statistics"
        mean, square = (json.loads((folder / kind / kind / f"{reference}.json").read_text()) for kind in kinds)
        means = np.array(mean["mean_value"])
        sds = np.sqrt(np.array(square["mean_squared_value"]) - means**2)
        # The draws are 10,000 and nearly independent.
        return mean["names"], means, sds, np.array(mean["mcse_mean"]), sds / np.sqrt(2e4)


def of_each(function, draws, **options):
    """A statistic of ArviZ for each of the columns of chains x draws x columns."""
    return np.asarray(function(az.convert_to_dataset({"x": draws}), **options).x.values, dtype=float)


def moments(draws):
    """Means, sds and their standard errors."""
    flat = draws.reshape(-1, draws.shape[-1])
    errors = (of_each(az.mcse, draws, method=method) for method in ("mean", "sd"))
    return flat.mean(0), flat.std(0, ddof=1), *errors


def sampled(args, name, seed, *options):
    """What `octopus sample` said, with the trace; runs what has not run."""
    args.into.mkdir(parents=True, exist_ok=True)
    trace, record = (args.into / f"{name}-{seed}.{ending}" for ending in ("nc", "json"))
    if not record.exists():
        program, data = Database(args.checkout).files(name)
        run = args.into / f"{name}-{seed}"
        command = [args.octopus, "sample", program, "--data", data, "--out", run, "--seed", str(seed), *options]
        done = subprocess.run(command, capture_output=True, text=True)
        if run.exists():
            subprocess.run([args.octopus, "export", run, "--to", "netcdf", "--out", trace], check=True, capture_output=True)
        failed = re.findall(r"^FAIL +(\w+)", done.stdout, re.MULTILINE)
        error = re.findall(r"^error: .*", done.stderr, re.MULTILINE)
        record.write_text(json.dumps({"exit": done.returncode, "failed": failed, "error": error[:1]}))
    return json.loads(record.read_text()), trace


def columns(trace, names):
    """The draws of these parameters, as chains x draws x parameters."""
    found = []
    with h5py.File(trace) as file:
        for name in names:
            variable, _, index = name.partition("[")
            values = file["posterior"][variable]
            at = tuple(int(k) - 1 for k in index.rstrip("]").split(",")) if index else ()
            found.append(values[(slice(None), slice(None), *at)])
    return np.stack(found, axis=-1)


def means(args):
    print("| posterior | parameters | mean, sd | mean, MCSE | sd, sd | sd, MCSE | agrees | says so |")
    print("|--|--|--|--|--|--|--|--|")
    agreed = tried = 0
    database = Database(args.checkout)
    for name in database.with_references():
        if args.only not in name:
            continue
        record, trace = sampled(args, name, args.seed)
        said = ", ".join(record["failed"] + record["error"]) or "no"
        if not trace.exists():
            print(f"| {name} | | | | | | | {said} |", flush=True)
            continue
        names, mean, sd, mean_error, sd_error = database.summary(name)
        ours = moments(columns(trace, names))
        cells, is_near = [], np.ones(len(names), dtype=bool)
        for k, (value, error) in enumerate(((mean, mean_error), (sd, sd_error))):
            apart = np.abs(ours[k] - value)
            in_sds, in_errors = apart / sd, apart / np.hypot(ours[k + 2], error)
            is_near &= (in_sds <= 0.05) | (in_errors <= 4)
            cells += [f"{in_sds.max():.3f}", f"{in_errors.max():.1f}"]
        far = [name for name, near in zip(names, is_near) if not near]
        verdict = "yes" if not far else "no: " + ", ".join(far[:3]) + (", ..." if len(far) > 3 else "")
        print(f"| {name} | {len(names)} | {' | '.join(cells)} | {verdict} | {said} |", flush=True)
        tried, agreed = tried + 1, agreed + (not far)
    print(f"\n{agreed} of {tried} agree.")


def cell(args, name, seed):
    """Whether a cell passes, a thousand times the least bulk ESS per gradient, and why it fails."""
    options = ("--draws", "1000", "--tune", "1000", "--chains", "4", "--keep-warmup")
    record, trace = sampled(args, name, seed, *options)
    if not trace.exists():
        return False, None, "; ".join(record["error"])
    draws = columns(trace, Database(args.checkout).summary(name)[0])
    rhat = of_each(az.rhat, draws, method="rank").max()
    bulk = of_each(az.ess, draws, method="bulk").min()
    tail = of_each(az.ess, draws, method="tail", prob=(0.05, 0.95)).min()
    with h5py.File(trace) as file:
        divergences = int(file["sample_stats/diverging"][:].sum())
        gradients = sum(int(file[group]["n_steps"][:].sum()) for group in ("sample_stats", "warmup_sample_stats"))
    gates = {
        f"R-hat {rhat:.3f}": rhat <= 1.01,
        f"bulk ESS {bulk:.0f}": bulk >= 400,
        f"tail ESS {tail:.0f}": tail >= 400,
        f"{divergences} divergences": divergences == 0,
        "not finite": np.isfinite(draws).all(),
    }
    return all(gates.values()), 1e3 * bulk / gradients, ", ".join(gate for gate, passes in gates.items() if not passes)


def study(args):
    samplers = ("Octopus", "oWALNUTS", "CmdStan", "nutpie")
    print("| posterior | " + " | ".join(f"{sampler}, of 3" for sampler in samplers), end=" | ")
    print(" | ".join(f"{sampler}, ESS" for sampler in samplers) + " | seeds that fail |")
    print("|--" * 10 + "|")
    passed, wins, ratios = [0] * 4, 0, []
    for name, others in STUDY.items():
        if args.only not in name:
            continue
        cells = [cell(args, name, seed) for seed in SEEDS]
        known = [ess for _, ess, _ in cells if ess is not None]
        ours = (sum(passes for passes, _, _ in cells), float(np.median(known)) if known else None)
        row = (ours, *others)
        for k, (count, _) in enumerate(row):
            passed[k] += count
        if ours[1] is not None:
            ratios.append(ours[1] / others[1][1])
        why = "; ".join(f"{seed}: {why}" for seed, (passes, _, why) in zip(SEEDS, cells) if not passes)
        words = [str(count) for count, _ in row] + ["" if ess is None else f"{ess:.3g}" for _, ess in row]
        print(f"| {name} | {' | '.join(words)} | {why} |", flush=True)
    print(f"| all | {' | '.join(map(str, passed))} | | | | | |")
    print(f"\nESS per gradient over CmdStan's, geometric mean of {len(ratios)}: {np.exp(np.mean(np.log(ratios))):.2f}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["means", "study"])
    parser.add_argument("checkout")
    parser.add_argument("--octopus", required=True, help="the program")
    parser.add_argument("--into", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--only", default="", help="posteriors whose names have this")
    parser.add_argument("--seed", type=int, default=42, help="of `means`")
    args = parser.parse_args()
    {"means": means, "study": study}[args.command](args)


if __name__ == "__main__":
    main()
