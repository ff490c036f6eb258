"""Adaptively tempered SMC of a NumPyro model without discrete or improper parameters.

Steps keep half of the effective particles, resampling is systematic, and particles move by ten random-walk steps along
the covariance of all, scaled as is best for a normal posterior.
"""

import blackjax
import jax
import jax.numpy as jnp
from blackjax.smc import extend_params
from jax.flatten_util import ravel_pytree
from numpyro import handlers
from numpyro.infer import Predictive
from numpyro.infer.util import potential_energy, unconstrain_fn

STEPS = 10


def tempered(model, data, particles, shapes):
    """A function of a key: particles by coordinate, and the log evidence."""
    _, unravel = ravel_pytree({name: jnp.zeros(shape) for name, shape in shapes.items()})
    prior = handlers.block(model, hide_fn=lambda site: site.get("is_observed", False))

    def log_prior(x):
        return -potential_energy(prior, (), data, unravel(x))

    def log_likelihood(x):
        return -potential_energy(model, (), data, unravel(x)) - log_prior(x)

    walk = blackjax.additive_step_random_walk.build_kernel()

    def move(key, state, log_density, factor):
        return walk(key, state, log_density, lambda key, _: factor @ jax.random.normal(key, factor.shape[:1]))

    def tuned(particles):
        count = particles.shape[1]
        scaled = jnp.atleast_2d(jnp.cov(particles, rowvar=False)) * (2.38**2 / count)
        return extend_params({"factor": jnp.linalg.cholesky(scaled + 1e-12 * jnp.eye(count))})

    def run(key):
        start_key, key = jax.random.split(key)
        start = Predictive(model, num_samples=particles, return_sites=list(shapes), parallel=True)(start_key, **data)
        start = jax.vmap(lambda one: ravel_pytree(unconstrain_fn(model, (), data, one))[0])(start)
        algorithm = blackjax.inner_kernel_tuning(
            smc_algorithm=blackjax.adaptive_tempered_smc,
            logprior_fn=log_prior,
            loglikelihood_fn=log_likelihood,
            mcmc_step_fn=move,
            mcmc_init_fn=blackjax.additive_step_random_walk.init,
            resampling_fn=blackjax.smc.resampling.systematic,
            mcmc_parameter_update_fn=lambda _, state, __: tuned(state.particles),
            initial_parameter_value=tuned(start),
            num_mcmc_steps=STEPS,
            target_ess=0.5,
        )

        def step(carry):
            key, state, log_evidence = carry
            key, own = jax.random.split(key)
            state, info = algorithm.step(own, state)
            return key, state, log_evidence + info.log_likelihood_increment

        def unfinished(carry):
            return carry[1].sampler_state.tempering_param < 1

        carry = jax.lax.while_loop(unfinished, step, (key, algorithm.init(start), jnp.zeros(())))
        # The particles are weighted, and have moved at the temperature before: once more, by the posterior.
        _, state, log_evidence = step(carry)
        return jax.vmap(unravel)(state.sampler_state.particles), log_evidence

    return run
