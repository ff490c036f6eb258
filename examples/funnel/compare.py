"""The funnel's table by Octopus, Stan, nutpie and PyMC: do the means agree, and how long does each take?

    python3 -m venv venv && venv/bin/pip install pymc nutpie pystan
    venv/bin/python compare.py --octopus ../../target/release/octopus --rounds 3

Stan and Octopus run funnel.stan as it is; nutpie and PyMC have the same model below. All draw 4 chains of 1000 warm-up
iterations and 1000 draws on the same cores, in turn, each in a process of its own. Seconds are of sampling, without
compiling (which is told apart), imports and diagnostics; those of Octopus are of the whole command: reading, binding,
sampling, generated quantities, the run folder and the summary.
"""

import argparse
import contextlib
import csv
import io
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")
warnings.simplefilter("ignore")

import numpy as np  # noqa: E402  (after the number of threads is set)

HERE = Path(__file__).parent
CHAINS, TUNE, DRAWS, CORES = 4, 1000, 1000, 2
NAMES = ("typical", "spread", "correlation", "level")
COUNTS = ("sends", "opens", "clicks", "conversions")


def table():
    rows = list(csv.DictReader((HERE / "campaigns.csv").open()))
    return {name: np.array([int(row[name]) for row in rows]) for name in COUNTS}


def cpu():
    """Seconds of CPU of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class Clock:
    """Times what is done inside: `seconds` by the clock, `cpu` of processors."""

    def __enter__(self):
        self.begun, self.used = time.perf_counter(), cpu()
        return self

    def __exit__(self, *_):
        self.seconds, self.cpu = time.perf_counter() - self.begun, cpu() - self.used


def pymc_model():
    import pymc as pm

    data = table()
    with pm.Model() as model:
        typical = pm.Normal("typical", [-1.5, -2.0, -3.0], 0.7, shape=3)
        spread = pm.LogNormal.dist(-1, 0.5, shape=3)
        chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2, sd_dist=spread)
        level = pm.MvNormal("level", typical, chol=chol, shape=(len(data["sends"]), 3))
        for stage, (of, on) in enumerate(zip(COUNTS, COUNTS[1:])):
            pm.Binomial(on, data[of], logit_p=level[:, stage], observed=data[on])
    return model


def of_pymc(posterior):
    correlation = posterior["chol_corr"].values[:, :, [0, 0, 1], [1, 2, 2]]
    found = {"typical": "typical", "spread": "chol_stds", "level": "level"}
    return {name: posterior[own].values for name, own in found.items()} | {"correlation": correlation}


def nutpie(seed, accept, _):
    import nutpie

    with Clock() as build:
        compiled = nutpie.compile_pymc_model(pymc_model())
    with Clock() as run:
        keywords = {"draws": DRAWS, "tune": TUNE, "chains": CHAINS, "cores": CORES, "seed": seed}
        trace = nutpie.sample(compiled, **keywords, target_accept=accept, progress_bar=False)
    return build, run, of_pymc(trace.posterior), int(trace.sample_stats.diverging.sum())


def pymc(seed, accept, _):
    import pymc as pm

    with Clock() as build:
        model = pymc_model()
        with model:
            step = pm.NUTS(target_accept=accept)
    with Clock() as run, model:
        keywords = {"draws": DRAWS, "tune": TUNE, "chains": CHAINS, "cores": CORES, "random_seed": seed}
        trace = pm.sample(**keywords, step=step, progressbar=False, compute_convergence_checks=False)
    return build, run, of_pymc(trace.posterior), int(trace.sample_stats.diverging.sum())


def stan(seed, accept, _):
    import httpstan.services_stub
    import stan

    data = {name: values.tolist() for name, values in table().items()}
    count = len(data["sends"])
    data |= {"N": count, "C": count, "campaign": list(range(1, count + 1)), "new_sends": 20000}
    with Clock() as build:
        posterior = stan.build((HERE / "funnel.stan").read_text(), data=data, random_seed=seed)
    with Clock() as run:
        fit = posterior.sample(num_chains=CHAINS, num_warmup=TUNE, num_samples=DRAWS, delta=accept)
        # Seconds of processes are known once they have ended.
        httpstan.services_stub.executor.shutdown()
    # Elements, then draws and chains, which take turns.
    found = {name: np.moveaxis(fit[name].reshape(*fit[name].shape[:-1], DRAWS, CHAINS), (-1, -2), (0, 1)) for name in NAMES}
    return build, run, found, int(fit["divergent__"].sum())


def octopus(seed, accept, program):
    import arviz as az

    with tempfile.TemporaryDirectory() as folder, Clock() as run:
        command = [program, "sample", "funnel.stan", "--data", "campaigns.csv", "--set", "new_sends=20000"]
        command += ["--chains", CHAINS, "--tune", TUNE, "--draws", DRAWS, "--target-accept", accept, "--seed", seed]
        shutil.rmtree(f"{folder}/run", ignore_errors=True)
        subprocess.run([str(word) for word in [*command, "--out", f"{folder}/run"]], cwd=HERE, capture_output=True, check=False)
        run.__exit__()
        seconds = run.seconds, run.cpu
        export = [program, "export", f"{folder}/run", "--to", "netcdf", "--out", f"{folder}/run.nc"]
        subprocess.run(export, capture_output=True, check=True)
        trace = az.from_netcdf(f"{folder}/run.nc")
        found = {name: trace.posterior[name].values for name in NAMES}
        diverging = int(trace.sample_stats.diverging.sum())
    run.seconds, run.cpu = seconds
    return None, run, found, diverging


# Each with the acceptance that its users get who set nothing.
SAMPLERS = {"octopus": (octopus, 0.95), "stan": (stan, 0.8), "nutpie": (nutpie, 0.8), "pymc": (pymc, 0.8)}


def one(args):
    """Runs one sampler; prints JSON, and keeps the draws."""
    sampler, accept = SAMPLERS[args.one]
    with contextlib.redirect_stdout(io.StringIO()):
        build, run, found, divergences = sampler(args.seed, args.accept or accept, args.octopus)
    np.savez(args.out, **found)
    told = {"seconds": run.seconds, "cpu": run.cpu, "divergences": divergences}
    print(json.dumps(told | {"build": build.cpu if build else 0.0}))


def judged(path):
    """Means, their Monte Carlo errors and bulk effective sample sizes of all numbers that are not fixed."""
    import arviz as az

    found = np.load(path)
    flat = np.concatenate([found[name].reshape(*found[name].shape[:2], -1) for name in NAMES], axis=2)
    flat = flat[:, :, flat.std(axis=(0, 1)) > 1e-9]
    trace = az.convert_to_dataset({"x": flat})
    mcse, ess = az.mcse(trace).x.values, az.ess(trace).x.values
    return flat.mean(axis=(0, 1)), mcse, ess


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--octopus", default="octopus", help="the program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samplers", default=",".join(SAMPLERS))
    parser.add_argument("--accept", type=float, help="the same target acceptance for all")
    parser.add_argument("--one", choices=SAMPLERS, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--out", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.octopus = str(Path(args.octopus).resolve()) if "/" in args.octopus else args.octopus
    if args.one:
        return one(args)
    names, results, folder = args.samplers.split(","), {}, tempfile.mkdtemp()
    for seed in range(1, args.rounds + 1):
        for name in names:
            out = f"{folder}/{name}-{seed}.npz"
            command = [sys.executable, __file__, "--one", name, "--seed", str(seed), "--out", out, "--octopus", args.octopus]
            command += ["--accept", str(args.accept)] if args.accept else []
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"{name}: {done.stderr[-2000:]}")
            told = json.loads(done.stdout.splitlines()[-1])
            told["mean"], told["mcse"], told["ess"] = judged(out)
            results.setdefault(name, []).append(told)
            least = told["ess"].min()
            print(f"{name:8} seed {seed}: {told['seconds']:7.2f} s, {told['cpu']:7.2f} s of CPU (build {told['build']:.1f}), "
                  f"{told['divergences']} divergences, least ESS {least:.0f}, {least / told['cpu']:.1f} a second of CPU", flush=True)
    pooled = {}
    for name, runs in results.items():
        mcse = np.sqrt(sum(run["mcse"] ** 2 for run in runs)) / len(runs)
        pooled[name] = sum(run["mean"] for run in runs) / len(runs), mcse
    mean, mcse = pooled[names[0]]
    for name in names[1:]:
        z = (pooled[name][0] - mean) / np.sqrt(mcse**2 + pooled[name][1] ** 2)
        ratio = np.median([run["cpu"] for run in results[name]]) / np.median([run["cpu"] for run in results[names[0]]])
        clock = np.median([run["seconds"] for run in results[name]]) / np.median([run["seconds"] for run in results[names[0]]])
        print(f"{names[0]} and {name}: {len(z)} means differ by {np.abs(z).max():.2f} standard errors at the most, "
              f"{np.sqrt(np.mean(z**2)):.2f} in the root mean square; {name} takes {ratio:.1f} times the CPU, {clock:.1f} times the time")
    packages = {"stan": ["pystan", "httpstan"], "nutpie": ["nutpie", "pymc"], "pymc": ["pymc", "pytensor"]}
    used = sorted({package for name in names for package in packages.get(name, [])})
    print(", ".join(f"{package} {version(package)}" for package in used))


if __name__ == "__main__":
    main()
