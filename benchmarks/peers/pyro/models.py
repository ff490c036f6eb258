"""The programs in Pyro: parameters and priors as in models/NAME/NAME.stan. Imported once the precision is set."""

import math

import pyro
import pyro.distributions as dist
import torch
from pyro import sample
from pyro.distributions import constraints


def polynomial(N, x, noise, y=None):
    a, b, c = (sample(name, dist.Normal(0.0, 1.0)).unsqueeze(-1) for name in "abc")
    sample("y", dist.Normal(a + b * x + c * x**2, noise).to_event(1), obs=y)


def beta_bernoulli(N, J, group, success):
    mu = sample("mu", dist.Beta(2.0, 2.0))
    kappa = sample("kappa", dist.LogNormal(2.0, 1.0))
    theta = sample("theta", dist.Beta(mu * kappa, (1 - mu) * kappa).expand([J]).to_event(1))
    sample("success", dist.Bernoulli(theta[group - 1]).to_event(1), obs=success)


def eight_schools(J, y, sigma):
    mu = sample("mu", dist.Normal(0.0, 5.0))
    tau = sample("tau", dist.HalfCauchy(5.0))
    theta = sample("theta", dist.Normal(mu, tau).expand([J]).to_event(1))
    sample("y", dist.Normal(theta, sigma).to_event(1), obs=y)


def state_space(T, y):
    # A normal of phi between -1 and 1: Pyro has no truncated one.
    phi = sample("phi", dist.Uniform(-1.0, 1.0))
    pyro.factor("prior of phi", dist.Normal(0.5, 0.5).log_prob(phi))
    q = sample("q", dist.LogNormal(-0.5, 0.5))
    r = sample("r", dist.LogNormal(-0.5, 0.5))
    # All steps at once are faster than a loop over them.
    level = sample("level", dist.ImproperUniform(constraints.real_vector, (), (T,)))
    pyro.factor("start", dist.Normal(0.0, 1.0).log_prob(level[0]))
    pyro.factor("steps", dist.Normal(phi * level[:-1], q).log_prob(level[1:]).sum())
    sample("y", dist.Normal(level, r).to_event(1), obs=y)


def hmm(T, y):
    stay = sample("stay", dist.Beta(8.0, 2.0).expand([2]).to_event(1))
    mu = sample("mu", dist.ImproperUniform(constraints.ordered_vector, (), (2,)))
    pyro.factor("prior of mu", dist.Normal(torch.tensor([-2.0, 2.0]), 1.0).log_prob(mu).sum())
    sigma = sample("sigma", dist.LogNormal(0.0, 0.5))
    move = torch.stack([torch.stack([stay[0], 1 - stay[0]]), torch.stack([1 - stay[1], stay[1]])]).log()
    seen = dist.Normal(mu, sigma).log_prob(y[:, None])
    log_alpha = torch.full((2,), -math.log(2.0))
    for t in range(T):
        log_alpha = torch.logsumexp(log_alpha[:, None] + move, 0) + seen[t]
    pyro.factor("y", torch.logsumexp(log_alpha, 0))


def logistic_hierarchy(N, J, clinic, age, recovered):
    mu = sample("mu", dist.Normal(0.0, 1.5))
    tau = sample("tau", dist.HalfNormal(1.0))
    slope = sample("slope", dist.Normal(0.0, 1.0))
    alpha = sample("alpha", dist.Normal(mu, tau).expand([J]).to_event(1))
    sample("recovered", dist.Bernoulli(logits=alpha[clinic - 1] + slope * age).to_event(1), obs=recovered)


def hierarchical_normal(N, J, group, value):
    mu_pop = sample("mu_pop", dist.Normal(50.0, 20.0))
    sigma_pop = sample("sigma_pop", dist.HalfNormal(15.0))
    mu_group = sample("mu_group", dist.Normal(mu_pop, sigma_pop).expand([J]).to_event(1))
    sigma_obs = sample("sigma_obs", dist.HalfNormal(5.0))
    sample("value", dist.Normal(mu_group[group - 1], sigma_obs).to_event(1), obs=value)


MODELS = {
    "polynomial": polynomial,
    "beta-bernoulli": beta_bernoulli,
    "eight-schools-stan": eight_schools,
    "state-space": state_space,
    "hmm": hmm,
    "logistic-hierarchy": logistic_hierarchy,
    "hierarchical-normal-stan": hierarchical_normal,
}
