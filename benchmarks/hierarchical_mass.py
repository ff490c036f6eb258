"""Neal's funnel by a mass matrix that follows the scale (arXiv 2604.09832), and in standardised coordinates: gradients for
each effective draw of the scale.

    python benchmarks/hierarchical_mass.py

The scale v is normal with standard deviation 3, and each of J effects has the standard deviation exp(v / 2). Both ways have
the best mass of v, step size and length of trajectories of a grid, and all that warm-up could learn. Needs NumPy.
"""

import numpy as np

CHAINS, DRAWS = 64, 300
STEPS, LENGTHS = (0.1, 0.2, 0.3, 0.45, 0.65, 0.9, 1.2), (2, 4, 8, 16, 32, 64, 128)


def followed(v, x, p, q, mass, step):
    """A leapfrog step with the mass exp(-v) of effects. Their momenta q kick v too, as their kinetic energy depends on it."""
    kick = lambda: (p - step / 2 * (v / 9 + x.shape[1] / 2 - np.exp(-v) * (x * x).sum(1) / 2),
                    q - step / 2 * np.exp(-v)[:, None] * x)
    p, q = kick()
    v = v + step / 2 * p / mass
    x = x + step * np.exp(v)[:, None] * q
    p = p + step * (x.shape[1] / 2 - np.exp(v) * (q * q).sum(1) / 2)
    v = v + step / 2 * p / mass
    p, q = kick()
    return v, x, p, q


def standardised(v, x, p, q, mass, step):
    """A leapfrog step where x are effects in units of their scale."""
    p, q = p - step / 2 * v / 9, q - step / 2 * x
    v, x = v + step * p / mass, x + step * q
    return v, x, p - step / 2 * v / 9, q - step / 2 * x


def energy(way, v, x, p, q, mass):
    if way is standardised:
        return v * v / 18 + (x * x).sum(1) / 2 + p * p / mass / 2 + (q * q).sum(1) / 2
    return v * v / 18 + np.exp(-v) * (x * x).sum(1) / 2 + p * p / mass / 2 + np.exp(v) * (q * q).sum(1) / 2


def gradients_a_draw(way, effects, mass, step, length, seed=1):
    random = np.random.default_rng(seed)
    v = 3 * random.standard_normal(CHAINS)
    x = random.standard_normal((CHAINS, effects))
    if way is followed:
        x *= np.exp(v / 2)[:, None]
    sums, gradients = np.zeros((2, CHAINS)), 0
    for _ in range(DRAWS):
        p, q = np.sqrt(mass) * random.standard_normal(CHAINS), random.standard_normal((CHAINS, effects))
        if way is followed:
            q *= np.exp(-v / 2)[:, None]
        count = random.integers(1, 2 * length)
        with np.errstate(over="ignore", invalid="ignore"):
            end = (v, x, p, q)
            for _ in range(count):
                end = way(*end, mass, step)
            rise = energy(way, *end, mass) - energy(way, v, x, p, q, mass)
            taken = np.log(random.random(CHAINS)) < -rise
        v, x = np.where(taken, end[0], v), np.where(taken[:, None], end[1], x)
        gradients += count
        sums += [v, v * v]
    # Chains begin at exact draws, so that the spread of their means says what their draws are worth: of v and its square.
    worth = min(9 / (sums[0] / DRAWS).var(ddof=1), 162 / ((sums[1] / DRAWS - 9) ** 2).mean())
    return gradients / worth


def main():
    print("| effects | mass that follows the scale | standardised coordinates |\n|--|--|--|")
    for effects in (9, 99):
        cells = []
        for way, masses in ((followed, (effects / 8, effects / 2)), (standardised, (1 / 9,))):
            found = min((gradients_a_draw(way, effects, mass, step, length), mass, step, length)
                        for mass in masses for step in STEPS for length in LENGTHS)
            cells.append(np.mean([gradients_a_draw(way, effects, *found[1:], seed) for seed in range(2, 8)]))
        print(f"| {effects} | " + " | ".join(f"{cell:.0f}" for cell in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
