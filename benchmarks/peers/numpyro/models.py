"""The programs in NumPyro: parameters and priors as in models/NAME/NAME.stan."""

import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax import lax
from jax.scipy.special import logsumexp
from numpyro import sample
from numpyro.distributions import constraints


def polynomial(N, x, noise, y=None):
    a, b, c = (sample(name, dist.Normal(0.0, 1.0)) for name in "abc")
    sample("y", dist.Normal(a + b * x + c * x**2, noise), obs=y)


def beta_bernoulli(N, J, group, success):
    mu = sample("mu", dist.Beta(2.0, 2.0))
    kappa = sample("kappa", dist.LogNormal(2.0, 1.0))
    theta = sample("theta", dist.Beta(mu * kappa, (1 - mu) * kappa).expand([J]))
    sample("success", dist.Bernoulli(probs=theta[group - 1]), obs=success)


def eight_schools(J, y, sigma):
    mu = sample("mu", dist.Normal(0.0, 5.0))
    tau = sample("tau", dist.HalfCauchy(5.0))
    theta = sample("theta", dist.Normal(mu, tau).expand([J]))
    sample("y", dist.Normal(theta, sigma), obs=y)


def state_space(T, y):
    phi = sample("phi", dist.TruncatedNormal(0.5, 0.5, low=-1.0, high=1.0))
    q = sample("q", dist.LogNormal(-0.5, 0.5))
    r = sample("r", dist.LogNormal(-0.5, 0.5))
    # All steps at once are faster than a scan over them.
    level = sample("level", dist.ImproperUniform(constraints.real, (), (T,)))
    numpyro.factor("start", dist.Normal(0.0, 1.0).log_prob(level[0]))
    numpyro.factor("steps", dist.Normal(phi * level[:-1], q).log_prob(level[1:]).sum())
    sample("y", dist.Normal(level, r), obs=y)


def hmm(T, y):
    stay = sample("stay", dist.Beta(8.0, 2.0).expand([2]))
    mu = sample("mu", dist.ImproperUniform(constraints.ordered_vector, (), (2,)))
    numpyro.factor("prior of mu", dist.Normal(jnp.array([-2.0, 2.0]), 1.0).log_prob(mu).sum())
    sigma = sample("sigma", dist.LogNormal(0.0, 0.5))
    move = jnp.log(jnp.stack([jnp.stack([stay[0], 1 - stay[0]]), jnp.stack([1 - stay[1], stay[1]])]))
    seen = dist.Normal(mu, sigma).log_prob(y[:, None])

    def forward(log_alpha, log_seen):
        return logsumexp(log_alpha[:, None] + move, axis=0) + log_seen, None

    numpyro.factor("y", logsumexp(lax.scan(forward, jnp.full(2, -jnp.log(2.0)), seen)[0]))


def logistic_hierarchy(N, J, clinic, age, recovered):
    mu = sample("mu", dist.Normal(0.0, 1.5))
    tau = sample("tau", dist.HalfNormal(1.0))
    slope = sample("slope", dist.Normal(0.0, 1.0))
    alpha = sample("alpha", dist.Normal(mu, tau).expand([J]))
    sample("recovered", dist.Bernoulli(logits=alpha[clinic - 1] + slope * age), obs=recovered)


def hierarchical_normal(N, J, group, value):
    mu_pop = sample("mu_pop", dist.Normal(50.0, 20.0))
    sigma_pop = sample("sigma_pop", dist.HalfNormal(15.0))
    mu_group = sample("mu_group", dist.Normal(mu_pop, sigma_pop).expand([J]))
    sigma_obs = sample("sigma_obs", dist.HalfNormal(5.0))
    sample("value", dist.Normal(mu_group[group - 1], sigma_obs), obs=value)


MODELS = {
    "polynomial": polynomial,
    "beta-bernoulli": beta_bernoulli,
    "eight-schools-stan": eight_schools,
    "state-space": state_space,
    "hmm": hmm,
    "logistic-hierarchy": logistic_hierarchy,
    "hierarchical-normal-stan": hierarchical_normal,
}
