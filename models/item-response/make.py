"""Two-parameter logistic model of tasks and persons: abilities are summed out, importance sampling over the tasks.

The proposal is Student's t about the mode; its effective sample size is printed, and the error is its standard error.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.special import log_expit, logsumexp
from scipy.stats import bernoulli, lognorm, multivariate_t, norm
from truth import laplace, points_near, positive, write

random = np.random.default_rng(42)
I, J, DRAWS = 5, 60, 400_000
ability = random.standard_normal(J)
difficulty, discrimination = np.array([-1.2, -0.4, 0.1, 0.7, 1.4]), np.array([0.8, 1.6, 1.1, 2.0, 1.3])
solved = random.binomial(1, 1 / (1 + np.exp(-discrimination * (ability[:, None] - difficulty))))
person, task = (one.ravel() + 1 for one in np.mgrid[:J, :I])
patterns, of_person, counts = np.unique(solved, axis=0, return_inverse=True, return_counts=True)
of_person = of_person.ravel()


def prior(q):
    difficulty, (discrimination, jacobian) = q[..., :I], positive(q[..., I:2 * I])
    log_p = norm.logpdf(difficulty, 0, 1.5).sum(-1) + lognorm.logpdf(discrimination, 0.5).sum(-1)
    return difficulty, discrimination, log_p + jacobian.sum(-1)


def log_density(q):
    difficulty, discrimination, log_p = prior(q[:2 * I])
    ability = q[2 * I:]
    eta = discrimination[task - 1] * (ability[person - 1] - difficulty[task - 1])
    return log_p + norm.logpdf(ability).sum() + bernoulli.logpmf(solved.ravel(), 1 / (1 + np.exp(-eta))).sum()


nodes = np.arange(-6.5, 6.51, 0.25)


def given_tasks(q):
    """Of each point and pattern of answers: the log likelihood at each node of ability."""
    difficulty, discrimination, _ = prior(q)
    eta = discrimination[:, None] * (nodes[:, None] - difficulty[:, None])
    right, wrong = log_expit(eta), log_expit(-eta)
    return norm.logpdf(nodes) + np.log(0.25) + np.einsum("pi,ani->apn", patterns, right - wrong) + wrong.sum(-1)[:, None]


def marginal(q):
    return prior(q)[2] + (counts * logsumexp(given_tasks(q), axis=-1)).sum(-1)


mode, factor = laplace(marginal, [*difficulty, *np.log(discrimination)])
proposal = multivariate_t(mode, 1.1 * factor @ factor.T, df=15, seed=7)
x = proposal.rvs(DRAWS)
log_w = np.concatenate([marginal(part) for part in np.array_split(x, DRAWS // 2000)]) - proposal.logpdf(x)
w = np.exp(log_w - log_w.max())
w /= w.sum()
print(f"effective sample size {1 / (w**2).sum():.0f} of {DRAWS}")

sums = {}
for part in np.array_split(np.arange(DRAWS), DRAWS // 2000):
    difficulty, discrimination, _ = prior(x[part])
    log_p = given_tasks(x[part])
    weight = np.exp(log_p - logsumexp(log_p, axis=-1, keepdims=True))
    each = {"difficulty": (difficulty, difficulty**2), "discrimination": (discrimination, discrimination**2),
            "ability": ((weight @ nodes)[:, of_person], (weight @ nodes**2)[:, of_person])}
    for name, values in each.items():
        sums[name] = sums.get(name, 0.0) + np.array([w[part] @ value for value in values])
found = {name: {"mean": mean, "sd": np.sqrt(square - mean**2)} for name, (mean, square) in sums.items()}
write(__file__, {"N": I * J, "I": I, "J": J, "task": task, "person": person, "solved": solved.ravel()},
      "importance sampling over the tasks, abilities summed out by quadrature", found, np.sqrt((w**2).sum()), log_density,
      points_near(np.concatenate([mode, np.zeros(J)])))
