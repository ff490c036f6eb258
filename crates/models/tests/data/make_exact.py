"""Writes exact_cases.json: posteriors of small data sets, computed in another way than octopus_models::exact.

    pip install numpy==2.3.5 scipy==1.17.1
    python make_exact.py [CASE ...]

Here nothing is integrated by hand: given sigma_pop and sigma_obs the vector of all observations is multivariate
normal with a dense covariance matrix, and (mu_pop, z) is conditioned on it by general linear algebra.
The two scales are integrated on their natural axes by composite Gauss-Legendre quadrature, with two orders
that must agree.
"""

import json
import multiprocessing
import pathlib
import sys

import numpy as np
from scipy.stats import halfnorm, norm

HERE = pathlib.Path(__file__).parent
PRIOR = dict(mu_mean=50.0, mu_sd=20.0, sigma_pop_scale=15.0, sigma_obs_scale=5.0)


def make(sizes, mean, between, within, seed):
    """As octopus_models::synthetic::HierarchicalSpec::with_sizes."""
    np.random.seed(seed)
    means = np.random.normal(mean, between, len(sizes))
    group = np.repeat(np.arange(len(sizes)), sizes)
    return group, np.random.normal(means[group], within)


def panels(edges, order):
    x, w = np.polynomial.legendre.leggauss(order)
    low, high = np.array(edges[:-1])[:, None], np.array(edges[1:])[:, None]
    return (0.5 * (low + high) + 0.5 * (high - low) * x).ravel(), (0.5 * (high - low) * w).ravel()


def posterior(group, y, prior, pop_edges, obs_edges, order):
    groups = int(group.max()) + 1
    one_hot = np.eye(groups)[group]
    pops, pop_weights = panels(pop_edges, order)
    obss, obs_weights = panels(obs_edges, order)
    residual = y - prior["mu_mean"]
    rows = []
    for pop, pop_weight in zip(pops, pop_weights):
        # x = (mu_pop - mu_mean, z), y = mu_mean + A x + noise; the covariance of y is base + obs^2.
        a = np.column_stack([np.ones(len(y)), pop * one_hot])
        prior_cov = np.diag([prior["mu_sd"] ** 2] + [1.0] * groups)
        # All variables of interest, (mu_pop, z, mu_group), are linear in x.
        to_all = np.vstack([np.eye(1 + groups), np.column_stack([np.ones(groups), pop * np.eye(groups)])])
        eigenvalues, q = np.linalg.eigh(a @ prior_cov @ a.T)
        total = eigenvalues + obss[:, None] ** 2
        r = q.T @ residual
        log_p = -0.5 * (r**2 / total + np.log(2 * np.pi * total)).sum(axis=1)
        log_p += halfnorm.logpdf(pop, scale=prior["sigma_pop_scale"])
        log_p += halfnorm.logpdf(obss, scale=prior["sigma_obs_scale"])
        cross = q.T @ a @ prior_cov @ to_all.T
        values = (r / total) @ cross + prior["mu_mean"] * np.array([1.0] + [0.0] * groups + [1.0] * groups)
        variances = np.diag(to_all @ prior_cov @ to_all.T) - (1.0 / total) @ cross**2
        rows.append((log_p + np.log(pop_weight * obs_weights), np.full(len(obss), pop), obss, values, variances))
    log_w, pop, obs, values, variances = (np.concatenate(column) for column in zip(*rows))
    top = log_w.max()
    w = np.exp(log_w - top)
    log_z = top + np.log(w.sum())
    w /= w.sum()
    mean = w @ values
    sd = np.sqrt(w @ variances + w @ (values - mean) ** 2)

    def scale(x):
        m = w @ x
        return {"mean": float(m), "sd": float(np.sqrt(w @ (x - m) ** 2))}

    def normal(k):
        return {"mean": float(mean[k]), "sd": float(sd[k])}

    def below(x, edges):
        """The distribution function at those edges of panels where it is neither 0 nor 1."""
        rows = [[float(edge), float(w[x < edge].sum())] for edge in edges]
        return [row for row in rows if 1e-4 < row[1] < 1.0 - 1e-4]

    def cdf(k, x):
        return [float(x), float(w @ norm.cdf((x - values[:, k]) / np.sqrt(variances[:, k])))]

    # Nothing beyond the panels.
    for x, (low, high) in ((pop, pop_edges[[0, -1]]), (obs, obs_edges[[0, -1]])):
        assert w[x > 0.97 * high].sum() < 1e-12, (high, w[x > 0.97 * high].sum())
        assert low == 0.0 or w[x < 1.05 * low].sum() < 1e-12, (low, w[x < 1.05 * low].sum())
    at = lambda k: [cdf(k, mean[k] + t * sd[k]) for t in (-2.5, -1.0, 0.3, 1.7)]
    return {
        "log_marginal_likelihood": float(log_z),
        "mu_pop": normal(0),
        "sigma_pop": scale(pop),
        "sigma_obs": scale(obs),
        "z": [normal(1 + j) for j in range(groups)],
        "mu_group": [normal(1 + groups + j) for j in range(groups)],
        "cdf": {
            "mu_pop": at(0),
            "sigma_pop": below(pop, pop_edges),
            "sigma_obs": below(obs, obs_edges),
            "z": at(1),
            "mu_group": at(1 + groups),
        },
    }


def flat(record):
    if isinstance(record, dict):
        return np.concatenate([flat(value) for value in record.values()])
    if isinstance(record, list):
        return np.concatenate([flat(value) for value in record])
    return np.array([record])


SIZES = [1, 30, 2, 7, 1, 19, 3, 1, 11, 24, 5, 1]


def edges(core, count, below=(), above=()):
    """Panels: `count` equal ones where the mass is, and longer ones beside them."""
    return np.concatenate([below, np.linspace(*core, count + 1), above])


# name, data, prior, panels of sigma_pop, panels of sigma_obs
CASES = [
    ("unbalanced", make(SIZES, 50.0, 10.0, 2.0, 42), PRIOR,
     edges((3, 39), 18, [0, 1.5], [46, 60, 90, 130]), edges((1.3, 3.1), 14, [1.0], [3.6, 4.6])),
    ("weak", make(SIZES, 50.0, 1.0, 4.0, 7), PRIOR,
     edges((0, 5), 12, [], [7, 10, 15, 25, 40]), edges((2.9, 6), 10, [2.0], [7.5, 9.5, 12])),
    ("one_group", make([6], 50.0, 10.0, 2.0, 3), PRIOR,
     edges((0, 60), 12, [], [80, 110, 150]), edges((0.3, 20), 30, [0.1, 0.2], [26, 34, 45])),
    ("single_observations", make([1] * 6, 50.0, 10.0, 2.0, 5), PRIOR,
     edges((0, 40), 14, [], [55, 75, 100, 140]), edges((0, 20), 14, [], [26, 34, 46])),
    ("other_prior", make([1, 3, 2], -3.0, 0.5, 0.1, 11),
     dict(mu_mean=-2.0, mu_sd=0.7, sigma_pop_scale=0.4, sigma_obs_scale=1.5),
     edges((0, 1.5), 20, [], [2, 2.7, 4]), edges((0.02, 1), 24, np.geomspace(0.001, 0.017, 16), [1.6, 2.6, 4, 6.5, 10])),
]


def run(case):
    name, (group, y), prior, pop_edges, obs_edges = case
    orders = (12, 16) if len(y) > 50 else (20, 26)
    both = [posterior(group, y, prior, pop_edges, obs_edges, order) for order in orders]
    error = np.max(np.abs(flat(both[0]) - flat(both[1])) / np.maximum(1e-3, np.abs(flat(both[1]))))
    print(name, len(y), "two orders differ by", error, flush=True)
    assert error < 1e-9
    return {"name": name, "prior": prior, "group": group.tolist(), "y": y.tolist(), "posterior": both[1]}


if __name__ == "__main__":
    # Only the named cases; the others stay as they are in the file.
    path = HERE / "exact_cases.json"
    kept = {case["name"]: case for case in json.loads(path.read_text())} if len(sys.argv) > 1 else {}
    with multiprocessing.Pool() as pool:
        made = pool.map(run, [case for case in CASES if not kept or case[0] in sys.argv[1:]], chunksize=1)
    kept.update({case["name"]: case for case in made})
    path.write_text(json.dumps([kept[name] for name, *_ in CASES]) + "\n")
