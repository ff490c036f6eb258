"""Writes against_numpy.json: what NumPy gives for operations of arrays on small fixed inputs, in f64.

Run with NumPy 2.4.6: python against_numpy.py > against_numpy.json
"""

import json

import numpy as np

# Small fractions, so that inputs are the same in every language.
a = np.arange(-6, 6, dtype=float).reshape(3, 4) * 0.375 + 0.0625
b = np.array([0.5, -1.25, 2.0, 4.0])
c = np.array([[2.0], [-0.5], [0.125]])
d = np.arange(8, dtype=float).reshape(4, 2) * 0.25 - 0.75
long = np.sin(np.arange(1000)).round(6)
tall = long.reshape(200, 5)
wide = long.reshape(2, 500)

results = {
    "add_row": a + b,
    "sub_column": a - c,
    "mul_row_column": b * c,
    "div_column_row": c / b,
    "add_one_element": a + np.array([3.5]),
    "div_one_by_one": np.array([[3.5]]) / a,
    "where": np.where(a > 0, a, c),
    "where_row": np.where(np.array([1.0, 0.0, np.nan, -2.0]), a, 9.0),
    "clip": np.clip(a, -0.5, 1.0),
    "tanh": np.tanh(a),
    "sigmoid": 1 / (1 + np.exp(-a)),
    "relu": np.maximum(a, 0),
    "abs": np.abs(a),
    "sum_0": a.sum(axis=0),
    "sum_1": a.sum(axis=1),
    "mean_0": tall.mean(axis=0),
    "mean_1": wide.mean(axis=1),
    "std_0": tall.std(axis=0),
    "std_1_ddof": wide.std(axis=1, ddof=1),
    "norm_0": np.linalg.norm(tall, axis=0),
    "norm_1": np.linalg.norm(wide, axis=1),
    "min_0": tall.min(axis=0),
    "max_1": wide.max(axis=1),
    "mean": [long.mean()],
    "std": [long.std()],
    "std_ddof": [long.std(ddof=1)],
    "norm": [np.linalg.norm(long)],
    "matmul": a @ d,
    "vector_matmul": b @ d,
    "matmul_vector": a @ b,
    "outer": np.outer(b, d[0]),
    "transpose": a.T,
    "slice": a[1:3, 1:],
    "concatenate_0": np.concatenate([a, a[:1]], axis=0),
    "concatenate_1": np.concatenate([a, c], axis=1),
    "arange": np.arange(1.0, 3.1, 0.3),
    "arange_down": np.arange(2.0, -1.0, -0.75),
    "eye": np.eye(3),
}
lines = [
    f"{json.dumps(name)}: {json.dumps({'shape': list(np.shape(x)), 'values': np.ravel(x).tolist()})}"
    for name, x in results.items()
]
print("{\n" + ",\n".join(lines) + "\n}")
