"""The time of a draw: Octopus beside NumPy, SciPy and JAX, in one run.

    cargo build --release
    python benchmarks/peers/random_speed.py target/release/octopus

Ours are those of `octopus bench random`. Each figure is the least of 15 passes over a million draws (of unit vectors:
over a million numbers), in nanoseconds. NumPy and SciPy use one core; JAX, where it is
installed, uses all. JAX itself has no von Mises draws: what is timed is Best and Fisher's loop over whole arrays in f32,
written as TFP and NumPyro have it.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
import subprocess
import sys
import time

import numpy as np
from scipy import stats

DRAWS = 1_000_000
PASSES = 15


def least(draw, draws=DRAWS):
    best = float("inf")
    draw()
    for _ in range(PASSES):
        begin = time.perf_counter()
        draw()
        best = min(best, time.perf_counter() - begin)
    return best * 1e9 / draws


def peers(generator):
    rows = {
        "uniform": (lambda: generator.random(DRAWS), None),
        "normal": (lambda: generator.standard_normal(DRAWS), None),
        "exponential": (lambda: generator.standard_exponential(DRAWS), None),
        "gamma 3": (lambda: generator.standard_gamma(3.0, DRAWS), None),
        "gamma 0.5": (lambda: generator.standard_gamma(0.5, DRAWS), None),
        "beta 2 3": (lambda: generator.beta(2.0, 3.0, DRAWS), None),
        "student-t 4": (lambda: generator.standard_t(4.0, DRAWS), None),
    }
    for concentration in (0.1, 1.0, 5.0, 10000.0):
        rows[f"von-mises {concentration:g}"] = (
            lambda k=concentration: generator.vonmises(0.0, k, DRAWS),
            lambda k=concentration: stats.vonmises.rvs(k, size=DRAWS, random_state=generator),
        )
    for dimensions, concentration in ((3, 0.1), (3, 5.0), (3, 10000.0), (100, 5.0)):
        law = stats.vonmises_fisher(np.ones(dimensions) / dimensions**0.5, concentration)
        count = DRAWS // dimensions
        rows[f"von-mises-fisher {dimensions} {concentration:g}"] = (
            None,
            lambda law=law, count=count: law.rvs(count, random_state=generator),
            count,
        )
    return rows


def jax_rows():
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        print("SKIPPED: jax is not installed")
        return {}

    def von_mises(key, concentration):
        """Best and Fisher's loop over whole arrays, as TFP and NumPyro do it, in f32."""
        tau = 1.0 + jnp.sqrt(1.0 + 4.0 * concentration**2)
        rho = (tau - jnp.sqrt(2.0 * tau)) / (2.0 * concentration)
        s = (1.0 + rho**2) / (2.0 * rho)

        def body(state):
            i, key, done, w = state
            key, first, second = jax.random.split(key, 3)
            z = jnp.cos(jnp.pi * jax.random.uniform(first, (DRAWS,)))
            proposed = (1.0 + s * z) / (s + z)
            y = concentration * (s - proposed)
            u = jax.random.uniform(second, (DRAWS,))
            accept = (y * (2.0 - y) - u > 0) | (jnp.log(y / u) + 1.0 - y >= 0)
            return i + 1, key, done | accept, jnp.where(done, w, jnp.where(accept, proposed, w))

        def more(state):
            return jnp.any(~state[2]) & (state[0] < 100)

        key, sign = jax.random.split(key)
        state = (0, key, jnp.zeros(DRAWS, bool), jnp.zeros(DRAWS))
        w = jax.lax.while_loop(more, body, state)[3]
        return jnp.sign(jax.random.uniform(sign, (DRAWS,)) - 0.5) * jnp.arccos(jnp.clip(w, -1, 1))

    compiled = jax.jit(von_mises)
    key = jax.random.key(0)
    normal = jax.jit(lambda key: jax.random.normal(key, (DRAWS,)))
    rows = {"normal": lambda: normal(key).block_until_ready()}
    for concentration in (0.1, 1.0, 5.0, 10000.0):
        rows[f"von-mises {concentration:g}"] = lambda k=concentration: compiled(key, k).block_until_ready()
    return rows


def main():
    ours = {}
    command = [sys.argv[1], "bench", "random", "--json", "--quiet"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for row in json.loads(text)["rows"]:
        ours[row["distribution"], row["dtype"]] = (row["one_core_ns"], row["all_cores_ns"])
    generator = np.random.default_rng(1)
    jax = jax_rows()
    print("| ns a draw | f64 | f32 | NumPy | SciPy | JAX f32 | f64 all cores | f32 all cores |")
    print("|--|--|--|--|--|--|--|--|")
    for name, (numpy, scipy, *draws) in peers(generator).items():
        double, single = ours[name, "float64"], ours[name, "float32"]
        words = [f"{double[0]:.1f}", f"{single[0]:.1f}", f"{least(numpy):.1f}" if numpy else ""]
        words.append(f"{least(scipy, *draws):.1f}" if scipy else "")
        words.append(f"{least(jax[name]):.1f}" if name in jax else "")
        print(f"| {name} | " + " | ".join(words) + f" | {double[1]:.1f} | {single[1]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
