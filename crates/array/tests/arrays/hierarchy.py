"""Writes hierarchy.json: what NumPy makes of the hierarchy of crates/array/examples/01_hierarchy, in f64.

Run with NumPy 2.4.6: python hierarchy.py > hierarchy.json
"""

import json

import numpy as np

SIZE, STEPS, PERIOD, RATE, AVERAGING = 10, 50, 41, 0.01, 0.1

signal = [
    np.array([((t * (j % PERIOD + 1) * 7) % PERIOD) / 20.5 - 1.0 for j in range(SIZE)]) for t in range(PERIOD)
]


class Column:
    def __init__(self, index, rule, units, inputs):
        i, j = np.indices((units, inputs))
        self.rule = rule
        self.w = ((31 * i + 17 * j + 7 * index) % 23 / 23.0 - 0.5) * (4.0 / inputs)
        self.theta = np.zeros(units)

    def act(self, x):
        y = np.tanh(self.w @ x)
        if self.rule == "hebb":
            change = np.outer(y, x)
        elif self.rule == "oja":
            change = np.outer(y, x) - (y**2)[:, None] * self.w
        else:
            change = np.outer(y * (y - self.theta), x)
            self.theta += AVERAGING * (y**2 - self.theta)
        self.w += RATE * change
        return y


levels, inputs = [], SIZE
for units, resolution in zip([SIZE, 2 * SIZE, 4 * SIZE], [1, 2, 4]):
    columns = [Column(k, rule, units, inputs) for k, rule in enumerate(["hebb", "oja", "bcm"])]
    inputs = 3 * units
    levels.append([resolution, columns, np.zeros(inputs)])

for t in range(STEPS):
    below = signal[t % PERIOD]
    for level in levels:
        resolution, columns, _ = level
        if t % resolution == 0:
            level[2] = np.concatenate([column.act(below) for column in columns])
        below = level[2]


def digest(x):
    """Length, sum, norm and three elements."""
    x = np.ravel(x)
    return [x.size, x.sum(), np.linalg.norm(x), x[0], x[x.size // 2], x[-1]]


state = []
for _, columns, shown in levels:
    state.append(digest(shown))
    for column in columns:
        state.append(digest(column.w))
        if column.rule == "bcm":
            state.append(digest(column.theta))
print("[\n" + ",\n".join(json.dumps(row) for row in state) + "\n]")
