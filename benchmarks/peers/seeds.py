"""How often other samplers (Stan, nutpie, NumPyro) lose a chain: one data set of `octopus sweep` under many seeds.

    taskset -c 3 nice -n 10 python3 seeds.py --peer nutpie --parameterization centered --data five_zero --seeds 500

Needs numpy and scipy, and of the peer asked for: pystan (with setuptools and a C++ compiler), nutpie with pymc, or jax
with numpyro.
Four chains, one after the other or vectorized, warm up for 1000 iterations and draw 1000 times; everything else is what
users of the peer get who set nothing. NumPyro computes in f64.

A run is a line of the file that --out names, so one that is cut off loses nothing: the next call goes on with the seeds
that are missing. The sums are in the same place, with `.sums.json` as the ending, and are renewed every minute.

Of each run there are two largest R-hats over mu_pop, sigma_pop, sigma_obs, z, mu_group and the log density:
`rhat` with ArviZ's definition for all, and `swept` as `octopus sweep` judges, which takes elements of z and mu_group
without ranks. A chain is stuck when one of the scalars scatters in it less than a hundredth of what it does in the
median chain.
"""

import argparse
import contextlib
import io
import json
import os
import socket
import tempfile
import time
import tomllib
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(threads, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np  # noqa: E402  (after the number of threads is set)
from scipy.special import ndtri  # noqa: E402

CHAINS, TUNE, DRAWS = 4, 1000, 1000
SCALARS = ("mu_pop", "sigma_pop", "sigma_obs")
PRIOR = {"mu_mean": 50.0, "mu_sd": 20.0, "sigma_pop_scale": 15.0, "sigma_obs_scale": 5.0}
SYNTHETIC = {"groups": 100, "per_group": 10, "mean": 50.0, "between_sd": 10.0, "within_sd": 2.0, "seed": 42}
# Observations with their groups, and what the collapsed likelihood takes of them: the groups' means and sum of squares
# about those.
Data = namedtuple("Data", "groups index y size means squares prior")
# Scalars and effects (z or mu_group) as chains x draws (x groups), and how many transitions diverged.
Draws = namedtuple("Draws", "scalars effects divergences")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", choices=sorted(PEERS), required=True)
    parser.add_argument("--data", default="default", help="name of a file in benchmarks/seeds with synthetic data")
    parser.add_argument("--parameterization", choices=["non-centered", "centered"], default="non-centered")
    help = "collapsed: of the groups' means and sum of squares, the same density as pointwise for less work"
    parser.add_argument("--likelihood", choices=["collapsed", "pointwise"], default="collapsed", help=help)
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--seeds", type=int, default=100, help="how many seeds")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no run after so many")
    parser.add_argument("--out", type=Path, help="file of the runs (default: named after peer, data and so on)")
    return parser.parse_args()


def load(name):
    """The data and priors of a file in benchmarks/seeds, made as octopus makes them."""
    text = (Path(__file__).parent.parent / "seeds" / f"{name}.toml").read_text()
    settings = tomllib.loads(text)
    if "file" in settings.get("data", {}):
        raise SystemExit(f"--data {name}: only synthetic data, and this names a file")
    made = SYNTHETIC | settings.get("data", {}).get("synthetic", {})
    random = np.random.RandomState(made["seed"])
    truth = random.normal(made["mean"], made["between_sd"], made["groups"])
    index = np.repeat(np.arange(made["groups"]), made["per_group"])
    y = random.normal(truth[index], made["within_sd"])
    means = y.reshape(made["groups"], -1).mean(axis=1)
    squares = float(np.sum((y - means[index]) ** 2))
    return Data(made["groups"], index, y, made["per_group"], means, squares, PRIOR | settings.get("prior", {}))


def stan(data, options):
    """Calls what pystan compiles, without its server, which takes longer than the sampler; the draws are the same."""
    # The compiled model is kept there: another one than the user's.
    os.environ.setdefault("XDG_CACHE_HOME", str(Path(tempfile.gettempdir()) / "octopus-peers"))
    import httpstan.models
    import simdjson
    import stan
    from httpstan.services import arguments

    centered = options.parameterization == "centered"
    effects, mu_group = ("mu_group", "mu_group") if centered else ("z", "mu_pop + sigma_pop * z")
    prior = "mu_group ~ normal(mu_pop, sigma_pop);" if centered else "z ~ std_normal();"
    if options.likelihood == "pointwise":
        likelihood = f"vector[G] m = {mu_group}; y ~ normal(m[index], sigma_obs);"
    else:
        likelihood = f"""means ~ normal({mu_group}, sigma_obs / sqrt(size));
            target += -(N - G) * log(sigma_obs) - squares / (2 * square(sigma_obs));"""
    program = f"""
        data {{
            int G; int N; array[N] int index; vector[N] y; real size; vector[G] means; real squares;
            real mu_mean; real mu_sd; real sigma_pop_scale; real sigma_obs_scale;
        }}
        parameters {{ real mu_pop; real<lower=0> sigma_pop; real<lower=0> sigma_obs; vector[G] {effects}; }}
        model {{
            mu_pop ~ normal(mu_mean, mu_sd);
            sigma_pop ~ normal(0, sigma_pop_scale);
            sigma_obs ~ normal(0, sigma_obs_scale);
            {prior}
            {likelihood}
        }}"""
    values = {"G": data.groups, "N": len(data.y), "index": data.index + 1, "y": data.y, "size": float(data.size)}
    values |= {"means": data.means, "squares": data.squares} | data.prior
    with contextlib.redirect_stderr(io.StringIO()):
        model = stan.build(program, data=values)
    compiled = httpstan.models.import_services_extension_module(model.model_name)
    method, sample = arguments.Method["SAMPLE"], "hmc_nuts_diag_e_adapt"
    given = {"data": model.data, "init": {}, "num_warmup": TUNE, "num_samples": DRAWS, "save_warmup": False}
    for name in arguments.function_arguments(sample, compiled):
        if name not in (*given, "chain", "random_seed"):
            given[name] = arguments.lookup_default(method, name)

    def parse(line):
        try:
            return simdjson.loads(line)
        except ValueError:  # It knows no NaN and no infinity.
            return json.loads(line)

    def chain(seed, number):
        """Name and draws of all quantities, Stan's own (which end with __) among them."""
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as door:
            door.bind(f"{folder}/door")
            door.listen(4)
            # Its logger and its writers of starts, draws and diagnostics each connect. It must be in the main thread.
            with ThreadPoolExecutor(4) as threads:
                texts = [threads.submit(read, door) for _ in range(4)]
                code = getattr(compiled, sample + "_wrapper")(f"{folder}/door", random_seed=seed, chain=number, **given)
                texts = [text.result() for text in texts]
            if code != 0:
                raise RuntimeError(f"Stan failed with {code}: {texts}")
        rows = [parse(line) for text in texts for line in text.splitlines() if b'"topic":"sample"' in line]
        rows = [row["values"] for row in rows if isinstance(row["values"], dict)]
        return dict(zip(rows[0], np.array([list(row.values()) for row in rows]).T))

    def draw(seed):
        found = [chain(seed, number) for number in range(1, CHAINS + 1)]
        of = {name: np.array([own[name] for own in found]) for name in found[0]}
        scalars = {name: of[name] for name in SCALARS}
        each = [of[f"{effects}.{j}"] for j in range(1, data.groups + 1)]
        return Draws(scalars, np.stack(each, axis=2), int(of["divergent__"].sum()))

    return draw


def read(door):
    connection, _ = door.accept()
    with connection:
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def nutpie(data, options, low_rank=False):
    import nutpie
    import pymc as pm

    with pm.Model() as model:
        mu_pop = pm.Normal("mu_pop", data.prior["mu_mean"], data.prior["mu_sd"])
        sigma_pop = pm.HalfNormal("sigma_pop", data.prior["sigma_pop_scale"])
        sigma_obs = pm.HalfNormal("sigma_obs", data.prior["sigma_obs_scale"])
        if options.parameterization == "centered":
            mu_group = pm.Normal("mu_group", mu_pop, sigma_pop, shape=data.groups)
        else:
            mu_group = mu_pop + sigma_pop * pm.Normal("z", 0, 1, shape=data.groups)
        if options.likelihood == "pointwise":
            pm.Normal("y", mu_group[data.index], sigma_obs, observed=data.y)
        else:
            pm.Normal("means", mu_group, sigma_obs / np.sqrt(data.size), observed=data.means)
            free = len(data.y) - data.groups
            pm.Potential("scatter", -free * pm.math.log(sigma_obs) - data.squares / (2 * sigma_obs**2))
    effects = "mu_group" if options.parameterization == "centered" else "z"
    compiled = nutpie.compile_pymc_model(model)

    def draw(seed):
        sizes = {"chains": CHAINS, "cores": 1, "tune": TUNE, "draws": DRAWS}
        quick = {"save_warmup": False, "progress_bar": False}
        fit = nutpie.sample(compiled, seed=seed, low_rank_modified_mass_matrix=low_rank, **sizes, **quick)
        scalars = {name: fit.posterior[name].values for name in SCALARS}
        return Draws(scalars, fit.posterior[effects].values, int(fit.sample_stats.diverging.values.sum()))

    return draw


def nutpie_low_rank(data, options):
    return nutpie(data, options, low_rank=True)


def numpyro(data, options):
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS

    def model():
        mu_pop = numpyro.sample("mu_pop", dist.Normal(data.prior["mu_mean"], data.prior["mu_sd"]))
        sigma_pop = numpyro.sample("sigma_pop", dist.HalfNormal(data.prior["sigma_pop_scale"]))
        sigma_obs = numpyro.sample("sigma_obs", dist.HalfNormal(data.prior["sigma_obs_scale"]))
        if options.parameterization == "centered":
            mu_group = numpyro.sample("mu_group", dist.Normal(mu_pop, sigma_pop).expand([data.groups]))
        else:
            mu_group = mu_pop + sigma_pop * numpyro.sample("z", dist.Normal(0, 1).expand([data.groups]))
        if options.likelihood == "pointwise":
            numpyro.sample("y", dist.Normal(mu_group[data.index], sigma_obs), obs=data.y)
        else:
            numpyro.sample("means", dist.Normal(mu_group, sigma_obs / np.sqrt(data.size)), obs=data.means)
            free = len(data.y) - data.groups
            numpyro.factor("scatter", -free * jnp.log(sigma_obs) - data.squares / (2 * sigma_obs**2))

    effects = "mu_group" if options.parameterization == "centered" else "z"
    sizes = {"num_chains": CHAINS, "num_warmup": TUNE, "num_samples": DRAWS}

    # As a whole: otherwise each call compiles again.
    @jax.jit
    def sample(key):
        mcmc = MCMC(NUTS(model), chain_method="vectorized", progress_bar=False, **sizes)
        mcmc.run(key, extra_fields=("diverging",))
        return mcmc.get_samples(group_by_chain=True), mcmc.get_extra_fields()["diverging"].sum()

    def draw(seed):
        samples, divergences = sample(jax.random.PRNGKey(seed))
        samples = {name: np.asarray(values) for name, values in samples.items()}
        return Draws({name: samples[name] for name in SCALARS}, samples[effects], int(divergences))

    return draw


PEERS = {"stan": stan, "nutpie": nutpie, "nutpie-low-rank": nutpie_low_rank, "numpyro": numpyro}
PACKAGES = {
    "stan": ("pystan", "httpstan"),
    "nutpie": ("nutpie", "pymc", "pytensor", "numba"),
    "nutpie-low-rank": ("nutpie", "pymc", "pytensor", "numba"),
    "numpyro": ("numpyro", "jax", "jaxlib"),
}


def quantities(draws, data, centered):
    """Names and draws, quantities x chains x draws; the scalars and the log density first."""
    mu_pop, sigma_pop, sigma_obs = (draws.scalars[name] for name in SCALARS)
    if centered:
        mu_group, z = draws.effects, (draws.effects - mu_pop[..., None]) / sigma_pop[..., None]
    else:
        z, mu_group = draws.effects, mu_pop[..., None] + sigma_pop[..., None] * draws.effects
    # In the peer's own coordinates, with the Jacobian of both logarithms.
    squares = data.squares + data.size * np.sum((data.means - mu_group) ** 2, axis=2)
    lp = (1 - (data.groups if centered else 0)) * np.log(sigma_pop) + (1 - len(data.y)) * np.log(sigma_obs)
    lp -= squares / (2 * sigma_obs**2) + np.sum(z**2, axis=2) / 2
    prior = data.prior
    lp -= ((mu_pop - prior["mu_mean"]) / prior["mu_sd"]) ** 2 / 2
    lp -= (sigma_pop / prior["sigma_pop_scale"]) ** 2 / 2 + (sigma_obs / prior["sigma_obs_scale"]) ** 2 / 2
    names = [*SCALARS, "log density", *(f"{name}[{j}]" for name in ("z", "mu_group") for j in range(data.groups))]
    scalars = np.stack([mu_pop, sigma_pop, sigma_obs, lp])
    return names, np.concatenate([scalars, *(np.moveaxis(values, 2, 0) for values in (z, mu_group))])


def normal_ranks(values):
    """As diagnostics.normal_ranks of each quantity."""
    rows = values.reshape(len(values), -1)
    order = np.argsort(rows, axis=1)
    ordered = np.take_along_axis(rows, order, axis=1)
    # Equal values have the mean of the places from the first of them to the last.
    places, other = np.arange(rows.shape[1]), ordered[:, 1:] != ordered[:, :-1]
    first, last = np.zeros(rows.shape, int), np.full(rows.shape, places[-1])
    first[:, 1:] = np.maximum.accumulate(places[1:] * other, axis=1)
    last[:, :-1] = np.minimum.accumulate(np.where(other, places[:-1], places[-1])[:, ::-1], axis=1)[:, ::-1]
    ranks = np.arange(2 * len(places) - 1) / 2 + 1
    scores = ndtri((ranks - 0.375) / (len(places) + 0.25))
    np.put_along_axis(rows := np.empty_like(rows), order, scores[first + last], axis=1)
    return rows.reshape(values.shape)


def plain_rhat(values):
    """As diagnostics.plain_rhat of each quantity."""
    draws = values.shape[2]
    between = draws * values.mean(axis=2).var(axis=1, ddof=1)
    within = values.var(axis=2, ddof=1).mean(axis=1)
    return np.sqrt((between / within + draws - 1) / draws)


def judge(draws, data, centered):
    """The largest R-hats and how many chains are stuck; infinite where R-hat is not defined."""
    with np.errstate(all="ignore"):
        names, values = quantities(draws, data, centered)
        halves = np.concatenate([values[:, :, : DRAWS // 2], values[:, :, DRAWS // 2 :]], axis=1)
        folded = np.abs(halves - np.median(halves, axis=(1, 2), keepdims=True))
        rhat = np.maximum(plain_rhat(normal_ranks(halves)), plain_rhat(normal_ranks(folded)))
        swept = plain_rhat(halves)
    swept[:4] = rhat[:4]
    found = {}
    for kind, of in (("rhat", rhat), ("swept", swept)):
        of = np.where(np.isfinite(of) & np.isfinite(values).all(axis=(1, 2)), of, np.inf)
        found |= {kind: float(of.max()), f"{kind}_of": names[int(of.argmax())]}
    scatter = np.array([values.std(axis=1) for values in draws.scalars.values()])
    stuck = (scatter < np.median(scatter, axis=1, keepdims=True) / 100) | (scatter == 0)
    return found | {"stuck_chains": int(stuck.any(axis=0).sum()), "divergences": draws.divergences}


def sums(settings, runs):
    runs = sorted(runs, key=lambda run: run["seed"])
    of = {"settings": settings, "runs": len(runs)}
    if not runs:
        return of
    of |= {"first_seed": runs[0]["seed"], "last_seed": runs[-1]["seed"]}
    for kind in ("rhat", "swept"):
        values = np.array([run[kind] for run in runs])
        above = sorted((run for run in runs if run[kind] > 1.05), key=lambda run: -run[kind])
        of[kind] = {
            "median": float(np.median(values)),
            "worst": float(values.max()),
            "at_1.01_or_above": int(np.sum(values >= 1.01)),
            "above_1.05": len(above),
            "above_1.5": int(np.sum(values > 1.5)),
            "seeds_above_1.05": [run["seed"] for run in above],
        }
    divergences = np.array([run["divergences"] for run in runs])
    of |= {"runs_with_divergences": int(np.sum(divergences > 0)), "divergences": int(divergences.sum())}
    of["seeds_with_stuck_chains"] = [run["seed"] for run in runs if run["stuck_chains"]]
    of["median_seconds"] = float(np.median([run["seconds"] for run in runs]))
    return of


def main():
    options = arguments()
    settings = {"chains": CHAINS, "tune": TUNE, "draws": DRAWS}
    settings |= {key: getattr(options, key) for key in ("peer", "data", "parameterization", "likelihood")}
    settings["versions"] = {name: version(name) for name in (*PACKAGES[options.peer], "numpy")}
    name = "-".join((options.peer, options.data, options.parameterization, options.likelihood))
    out = options.out or Path(f"{name}.jsonl")
    lines = out.read_text().splitlines() if out.exists() else []
    runs = [json.loads(line) for line in lines[1:]]
    if not lines:
        out.write_text(json.dumps(settings) + "\n")
    elif json.loads(lines[0]) != settings:
        raise SystemExit(f"{out} has runs of other settings or versions: {lines[0]}")

    def write():
        new = out.with_suffix(".sums.json.tmp")
        new.write_text(json.dumps(sums(settings, runs), indent=1) + "\n")
        new.replace(out.with_suffix(".sums.json"))

    data = load(options.data)
    began = said = time.monotonic()
    draw = PEERS[options.peer](data, options)
    done = {run["seed"] for run in runs}
    with out.open("a") as file:
        for seed in range(options.seed, options.seed + options.seeds):
            if seed in done:
                continue
            if time.monotonic() - began > options.seconds:
                break
            start = time.perf_counter()
            draws = draw(seed)
            seconds = time.perf_counter() - start
            run = {"seed": seed, "seconds": seconds} | judge(draws, data, options.parameterization == "centered")
            runs.append(run)
            print(json.dumps(run), file=file, flush=True)
            if time.monotonic() - said > 60:
                said = time.monotonic()
                write()
    write()
    print(json.dumps(sums(settings, runs)))


if __name__ == "__main__":
    main()
