"""Roots of SciPy's brentq, and how often it calls its function: `python expected.py > expected.json` (SciPy 1.17.1).

Each row is a kind of function with its two parameters, the bracket, the bits of the root (null when
100 steps did not find it) and the number of calls.
The functions have only operations that IEEE 754 rounds correctly, so that Rust computes the same values.
"""

import json
import struct

from scipy.optimize import brentq

FUNCTIONS = {
    "cubic": lambda x, a, b: x * x * x - a * x - b,
    "rational": lambda x, a, b: (x - a) / (1.0 + (x - a) * (x - a)) - b,
    "flat": lambda x, a, b: (x - a) * (x - a) * (x - a) * (x - a) * (x - a) + b * (x - a),
    "step": lambda x, a, b: -b if x < a else 1.0,
    "kink": lambda x, a, b: (x - a) * b if x < a else x - a,
    "square": lambda x, a, b: a * x * x - b,
}

# The last two have roots so large that the tolerance is that of their size.
CASES = [
    ("cubic", 1.0, 1.0, -3.0, 2.0),
    ("rational", 0.0, 0.1, -4.0, 2.0),
    ("square", 1.0, 2e10, 0.0, 1e6),
    ("step", 123_456.7, 1.0, 1e5, 1e6),
]

# Steps that would end beyond three quarters of the bracket, and are halvings instead.
BISECTED = [
    ("cubic", -0.39, 1.6263, -1.0, 5.3),
    ("square", 0.82, 2.4428, -2.5, 0.1),
    ("rational", 1.62, 0.0, -7.5, 10.8),
    ("flat", 2.09, -1.4421, -1.7, 10.2),
]

for name in ["cubic", "rational", "flat", "step", "kink"]:
    for k in range(24):
        a = 0.3 + 0.41 * k
        b = {"cubic": 1.7 + k, "rational": 0.4 - 0.03 * k, "flat": 1e-9 * k, "step": 0.5**k, "kink": 3.0**(k - 12)}[name]
        for low, high in [(-2.0 - k, 11.0 + 0.7 * k), (a - 5e-3 * (k + 1), a + 1.0 / (k + 1)), (1e4 + k, -1e3 * k - 7.0)]:
            CASES.append((name, a, b, low, high))
CASES += BISECTED

rows = []
for name, a, b, low, high in CASES:
    function = FUNCTIONS[name]
    if function(low, a, b) * function(high, a, b) > 0.0 or name == "rational" and abs(high - low) > 100.0:
        continue
    root, report = brentq(function, low, high, args=(a, b), xtol=2e-12, full_output=True, disp=False)
    found = struct.unpack("<Q", struct.pack("<d", root))[0] if report.converged else None
    rows.append([name, a, b, low, high, found, report.function_calls])

print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")
