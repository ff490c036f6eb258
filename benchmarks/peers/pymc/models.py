"""The programs in PyMC: parameters and priors as in models/NAME/NAME.stan."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt


def polynomial(N, x, y, noise):
    a, b, c = (pm.Normal(name, 0.0, 1.0) for name in "abc")
    pm.Normal("y", a + b * x + c * x**2, noise, observed=y)


def beta_bernoulli(N, J, group, success):
    mu = pm.Beta("mu", 2.0, 2.0)
    kappa = pm.LogNormal("kappa", 2.0, 1.0)
    theta = pm.Beta("theta", mu * kappa, (1 - mu) * kappa, shape=J)
    pm.Bernoulli("success", p=theta[group - 1], observed=success)


def eight_schools(J, y, sigma):
    mu = pm.Normal("mu", 0.0, 5.0)
    tau = pm.HalfCauchy("tau", 5.0)
    theta = pm.Normal("theta", mu, tau, shape=J)
    pm.Normal("y", theta, sigma, observed=y)


def state_space(T, y):
    phi = pm.TruncatedNormal("phi", 0.5, 0.5, lower=-1.0, upper=1.0)
    q = pm.LogNormal("q", -0.5, 0.5)
    r = pm.LogNormal("r", -0.5, 0.5)
    # All steps at once are faster than a scan over them.
    level = pm.Flat("level", shape=T)
    pm.Potential("start", pm.logp(pm.Normal.dist(0.0, 1.0), level[0]))
    pm.Potential("steps", pm.logp(pm.Normal.dist(phi * level[:-1], q), level[1:]).sum())
    pm.Normal("y", level, r, observed=y)


def hmm(T, y):
    stay = pm.Beta("stay", 8.0, 2.0, shape=2)
    ordered = pm.distributions.transforms.ordered
    mu = pm.Normal("mu", [-2.0, 2.0], 1.0, shape=2, transform=ordered, initval=np.array([-1.0, 1.0]))
    sigma = pm.LogNormal("sigma", 0.0, 0.5)
    move = pt.log(pt.stack([pt.stack([stay[0], 1 - stay[0]]), pt.stack([1 - stay[1], stay[1]])]))
    seen = pm.logp(pm.Normal.dist(mu, sigma), pt.as_tensor(y)[:, None])

    def forward(log_seen, log_alpha, move):
        return pt.logsumexp(log_alpha[:, None] + move, axis=0) + log_seen

    start = pt.full((2,), -np.log(2.0))
    log_alpha = pytensor.scan(forward, [seen], [start], [move], return_updates=False)
    pm.Potential("y", pt.logsumexp(log_alpha[-1]))


def logistic_hierarchy(N, J, clinic, age, recovered):
    mu = pm.Normal("mu", 0.0, 1.5)
    tau = pm.HalfNormal("tau", 1.0)
    slope = pm.Normal("slope", 0.0, 1.0)
    alpha = pm.Normal("alpha", mu, tau, shape=J)
    pm.Bernoulli("recovered", logit_p=alpha[clinic - 1] + slope * age, observed=recovered)


def hierarchical_normal(N, J, group, value):
    mu_pop = pm.Normal("mu_pop", 50.0, 20.0)
    sigma_pop = pm.HalfNormal("sigma_pop", 15.0)
    mu_group = pm.Normal("mu_group", mu_pop, sigma_pop, shape=J)
    sigma_obs = pm.HalfNormal("sigma_obs", 5.0)
    pm.Normal("value", mu_group[group - 1], sigma_obs, observed=value)


MODELS = {
    "polynomial": polynomial,
    "beta-bernoulli": beta_bernoulli,
    "eight-schools-stan": eight_schools,
    "state-space": state_space,
    "hmm": hmm,
    "logistic-hierarchy": logistic_hierarchy,
    "hierarchical-normal-stan": hierarchical_normal,
}


def made(program, data):
    """The PyMC model of a program with its data."""
    with pm.Model() as model:
        MODELS[program](**data)
    return model


def log_density(model, program, points, split):
    """PyMC's log density, Jacobian included, at points of the coordinates in the program's order."""
    logp, start = model.compile_logp(), model.initial_point()
    coordinates = {one.name: model.rvs_to_values[one].name for one in model.free_RVs}
    shapes = {name: np.shape(start[value]) for name, value in coordinates.items()}
    named = (split(program, shapes, point) for point in points)
    return [logp({coordinates[name]: value for name, value in point.items()}) for point in named]
