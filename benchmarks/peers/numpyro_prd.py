"""NumPyro's NUTS on the PRD's model, on whatever device jax finds (the anchor for ours on the same machine).

    python3 numpyro_prd.py --precision f32|f64 [--out FILE.json] [--seconds S] [--quick]

Needs jax and numpyro. The model is non-centered and its likelihood pointwise, as the PRD writes it; chains are
vectorized. Prints a line for each configuration and writes all of them after each one, so that a run that is cut off
keeps what it has; after S seconds no configuration is begun, which is said. `cold` counts compilation, `warm` is the
second call with the compiled code. Leapfrogs are those after warm-up. Effective sample sizes and R-hat are over all
of mu_pop, sigma_pop, sigma_obs, z and mu_group, as ArviZ defines them (diagnostics.py); a diagonal metric does not
converge on this model, which the R-hat shows.
"""

import argparse
import json
import os
import tempfile
import time

import jax

PER_GROUP = 10
# Chains, warm-up iterations, draws, whether the metric is dense. The most telling first.
CONFIGURATIONS = ((4, 1000, 2000, True), (4096, 300, 24, True), (4, 1000, 2000, False), (4096, 300, 24, False))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--precision", choices=["f32", "f64"], required=True)
    parser.add_argument("--out", help="JSON file for the results")
    parser.add_argument("--groups", type=int, default=100, help="groups of ten observations")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no configuration after so many")
    parser.add_argument("--quick", action="store_true", help="few chains and draws: for trying the script out")
    return parser.parse_args()


options = arguments()
jax.config.update("jax_enable_x64", options.precision == "f64")
# Whatever the second call would compile again it finds here; the folder is new, so the first call is cold.
compiled = tempfile.TemporaryDirectory()
jax.config.update("jax_compilation_cache_dir", compiled.name)
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)

import jax.numpy as jnp  # noqa: E402  (after the precision is set)
import numpy as np  # noqa: E402
import numpyro  # noqa: E402
import numpyro.distributions as dist  # noqa: E402
from numpyro.infer import MCMC, NUTS  # noqa: E402

import diagnostics  # noqa: E402


def data():
    """The PRD's data, NumPy's legacy generator with seed 42."""
    np.random.seed(42)
    means = np.random.normal(50, 10, options.groups)
    index = np.repeat(np.arange(options.groups), PER_GROUP)
    return jnp.asarray(index), jnp.asarray(np.random.normal(means[index], 2))


def model(index, y):
    mu_pop = numpyro.sample("mu_pop", dist.Normal(50, 20))
    sigma_pop = numpyro.sample("sigma_pop", dist.HalfNormal(15))
    sigma_obs = numpyro.sample("sigma_obs", dist.HalfNormal(5))
    z = numpyro.sample("z", dist.Normal(0, 1).expand([options.groups]))
    mu_group = numpyro.deterministic("mu_group", mu_pop + sigma_pop * z)
    numpyro.sample("y", dist.Normal(mu_group[index], sigma_obs), obs=y)


def quantities(samples):
    """Each scalar of a posterior, chains x draws, in f64."""
    for values in samples.values():
        values = np.asarray(values, dtype=np.float64)
        yield from np.moveaxis(values.reshape(*values.shape[:2], -1), 2, 0)


def measure(chains, tune, draws, dense):
    sampler = NUTS(model, target_accept_prob=0.95, dense_mass=dense)
    mcmc = MCMC(
        sampler, num_warmup=tune, num_samples=draws, num_chains=chains, chain_method="vectorized", progress_bar=False
    )
    inputs = data()
    seconds = []
    for _ in range(2):
        mcmc.post_warmup_state = None
        began = time.perf_counter()
        mcmc.run(jax.random.PRNGKey(42), *inputs, extra_fields=("num_steps", "diverging"))
        jax.block_until_ready(mcmc.get_samples())
        seconds.append(time.perf_counter() - began)
    # NaN is the worst of all: numpy's minimum and maximum keep it.
    judged = [(diagnostics.ess_bulk(v), diagnostics.rhat(v)) for v in quantities(mcmc.get_samples(group_by_chain=True))]
    extra = mcmc.get_extra_fields()
    min_ess, max_rhat = float(np.min([e for e, _ in judged])), float(np.max([r for _, r in judged]))
    return {
        "groups": options.groups,
        "precision": options.precision,
        "chains": chains,
        "tune": tune,
        "draws": draws,
        "metric": "dense" if dense else "diag",
        "cold_seconds": seconds[0],
        "warm_seconds": seconds[1],
        "min_ess": min_ess,
        "max_rhat": max_rhat,
        "converged": bool(max_rhat < 1.01 and min_ess > 400),
        "quantities": len(judged),
        "divergences": int(np.sum(np.asarray(extra["diverging"]))),
        "leapfrogs": int(np.sum(np.asarray(extra["num_steps"], dtype=np.int64))),
        "device": str(jax.devices()[0].device_kind),
        "platform": jax.devices()[0].platform,
        "jax": jax.__version__,
        "numpyro": numpyro.__version__,
    }


def write(results):
    if not options.out:
        return
    with open(options.out + ".tmp", "w") as file:
        json.dump(results, file, indent=1)
    os.replace(options.out + ".tmp", options.out)


def main():
    began = time.perf_counter()
    results = []
    for chains, tune, draws, dense in CONFIGURATIONS:
        if options.quick:
            chains, tune, draws = min(chains, 8), 300, max(draws // 10, 8)
        if time.perf_counter() - began > options.seconds:
            print(f"not measured, no time left: {chains} chains, {'dense' if dense else 'diag'}", flush=True)
            continue
        results.append(measure(chains, tune, draws, dense))
        print(json.dumps(results[-1]), flush=True)
        write(results)


main()
