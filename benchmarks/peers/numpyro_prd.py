"""NumPyro's NUTS on the PRD's model, on whatever device jax finds (the anchor for ours on the same machine).

    python3 numpyro_prd.py --precision f32|f64 [--out FILE.json] [--quick]

Needs jax and numpyro. Prints a line for each configuration and writes all of them after each one, so that
a run that is cut off keeps what it has. `cold` counts compilation, `warm` is the second call. Effective
sample sizes are NumPyro's own; a diagonal metric does not converge on this model (see TARGETS), which the
R-hat beside it shows.
"""

import argparse
import json
import os
import time

import jax

GROUPS, PER_GROUP = 100, 10


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--precision", choices=["f32", "f64"], required=True)
    parser.add_argument("--out", help="JSON file for the results")
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws: for trying the script out")
    return parser.parse_args()


options = arguments()
jax.config.update("jax_enable_x64", options.precision == "f64")

import jax.numpy as jnp  # noqa: E402  (after the precision is set)
import numpy as np  # noqa: E402
import numpyro  # noqa: E402
import numpyro.distributions as dist  # noqa: E402
from numpyro.diagnostics import summary  # noqa: E402
from numpyro.infer import MCMC, NUTS  # noqa: E402


def data():
    """The PRD's data, NumPy's legacy generator with seed 42."""
    np.random.seed(42)
    means = np.random.normal(50, 10, GROUPS)
    index = np.repeat(np.arange(GROUPS), PER_GROUP)
    return jnp.asarray(index), jnp.asarray(np.random.normal(means[index], 2))


def model(index, y):
    mu_pop = numpyro.sample("mu_pop", dist.Normal(50, 20))
    sigma_pop = numpyro.sample("sigma_pop", dist.HalfNormal(15))
    sigma_obs = numpyro.sample("sigma_obs", dist.HalfNormal(5))
    z = numpyro.sample("z", dist.Normal(0, 1).expand([GROUPS]))
    mu_group = numpyro.deterministic("mu_group", mu_pop + sigma_pop * z)
    numpyro.sample("y", dist.Normal(mu_group[index], sigma_obs), obs=y)


def measure(chains, tune, draws, dense):
    sampler = NUTS(model, target_accept_prob=0.95, dense_mass=dense)
    mcmc = MCMC(
        sampler, num_warmup=tune, num_samples=draws, num_chains=chains, chain_method="vectorized", progress_bar=False
    )
    seconds = []
    for _ in range(2):
        mcmc.post_warmup_state = None
        began = time.perf_counter()
        mcmc.run(jax.random.PRNGKey(42), *data(), extra_fields=("num_steps", "diverging"))
        jax.block_until_ready(mcmc.get_samples())
        seconds.append(time.perf_counter() - began)
    table = summary(mcmc.get_samples(group_by_chain=True)).values()
    extra = mcmc.get_extra_fields()
    return {
        "precision": options.precision,
        "chains": chains,
        "tune": tune,
        "draws": draws,
        "metric": "dense" if dense else "diag",
        "cold_seconds": seconds[0],
        "warm_seconds": seconds[1],
        "min_ess": min(float(np.min(row["n_eff"])) for row in table),
        "max_rhat": max(float(np.max(row["r_hat"])) for row in table),
        "divergences": int(np.sum(np.asarray(extra["diverging"]))),
        "leapfrogs": int(np.sum(np.asarray(extra["num_steps"]))),
        "device": str(jax.devices()[0]),
        "jax": jax.__version__,
        "numpyro": numpyro.__version__,
    }


def main():
    scale = 10 if options.quick else 1
    results = []
    for chains, tune, draws, dense in ((4, 1000, 2000, False), (4, 1000, 2000, True), (4096, 300, 8, True)):
        if options.quick and chains > 4:
            continue
        results.append(measure(chains, tune // scale, draws // scale, dense))
        print(json.dumps(results[-1]), flush=True)
        if options.out:
            with open(options.out + ".tmp", "w") as file:
                json.dump(results, file, indent=1)
            os.replace(options.out + ".tmp", options.out)


main()
