"""A framework for the tests: the polynomial's posterior in closed form, with a fault that its argument names.

    python3 peer.py none|prior|mute|rounded|spread|few|again|evidence|nan|shape|dies|silent|nonsense|cannot|twice

It adds and sums up arrays, and draws normal numbers, too.

Only Python's standard library is used.
"""

import json
import math
import random
import struct
import sys
import time

FAULT = sys.argv[1]


def read(path):
    with open(path) as file:
        data = json.load(file)
    if FAULT == "rounded":
        data["y"] = [round(y, 1) for y in data["y"]]
    return data


def posterior(data):
    """Mean, the lower factor of the precision, and the evidence's logarithm."""
    rows = [(1.0, x, x * x) for x in data["x"]]
    s = data["noise"]
    p = [[(i == j) + sum(r[i] * r[j] for r in rows) / s**2 for j in range(3)] for i in range(3)]
    b = [sum(r[i] * y for r, y in zip(rows, data["y"])) / s**2 for i in range(3)]
    low = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(i + 1):
            rest = p[i][j] - sum(low[i][k] * low[j][k] for k in range(j))
            low[i][j] = math.sqrt(rest) if i == j else rest / low[j][j]
    z = [0.0] * 3
    for i in range(3):
        z[i] = (b[i] - sum(low[i][k] * z[k] for k in range(i))) / low[i][i]
    mean = backward(low, z)
    misses = [(y - sum(m * r for m, r in zip(mean, row))) / s for y, row in zip(data["y"], rows)]
    squares = sum(m * m for m in misses + mean)
    n = len(rows)
    evidence = -0.5 * squares - sum(math.log(low[i][i]) for i in range(3)) - n * math.log(s * math.sqrt(2 * math.pi))
    return mean, low, evidence


def backward(low, z):
    x = [0.0] * 3
    for i in reversed(range(3)):
        x[i] = (z[i] - sum(low[k][i] * x[k] for k in range(i + 1, 3))) / low[i][i]
    return x


def log_density(data, x):
    width = 2.0 if FAULT == "prior" else 1.0
    mean = lambda t: x[0] + x[1] * t + x[2] * t * t  # noqa: E731
    misses = ((y - mean(t)) / data["noise"] for t, y in zip(data["x"], data["y"]))
    return -0.5 * (sum(a * a for a in x) / width**2 + sum(m * m for m in misses))


def save(path, shape, values):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.write(struct.pack(f"<{len(values)}d", *values))


def work(asked, method):
    """The result of an operation on arrays, or draws, as rows of a width: of many every k-th."""
    n = asked["problem"]["n"]
    if asked["program"] == "random":
        rng = random.Random(1 if FAULT == "again" else asked["seed"])
        spread = 0.8 if FAULT == "spread" else 1.0
        found = [rng.gauss(0, spread) for _ in range(n)]
        if FAULT == "twice":
            found = [found[i - i % 2] for i in range(n)]
    else:
        digits = 1 if FAULT == "rounded" else 17
        x, y = ([round(math.fmod(step * i, 1.0) + 1.5, digits) for i in range(n)] for step in (0.37, -0.725))
        found = [math.fsum(x)] if method["name"] == "sum" else [a + b for a, b in zip(x, y)]
    # Neighbours stay neighbours.
    if FAULT == "nan":
        found[0] = math.nan
    if FAULT == "few":
        found += found[:1]
    width = 2 if FAULT == "shape" else 1
    step = -(-len(found) // width // (1 << 16))
    rows = [found[i : i + width] for i in range(0, len(found), width)][:: max(1, step)]
    return (1, len(rows), width), [value for row in rows for value in row]


def main():
    data = found = method = drawn = given = None
    for line in sys.stdin:
        asked = json.loads(line)
        answer = {}
        if asked["do"] == "start":
            if FAULT == "cannot":
                answer = {"cannot": "it only says so"}
            elif asked["program"] in ("arrays", "random"):
                given, method = asked, asked["method"]
                answer = {"versions": {"by hand": "1"}, "device": "cpu", "compile_seconds": 0.5}
            else:
                data, method = read(asked["data"]), asked["method"]
                found = posterior(data)
                answer = {"versions": {"closed form": "1"}, "device": "cpu", "compile_seconds": 0.5}
        elif asked["do"] == "log_density":
            if FAULT != "mute":
                answer = {"values": [log_density(data, x) for x in asked["points"]]}
        elif asked["do"] == "run":
            if FAULT == "dies":
                print("out of luck", file=sys.stderr)
                sys.exit(7)
            if FAULT == "silent":
                time.sleep(60)
            if given:
                drawn = work(given | {"seed": asked["seed"]}, method)
                print(json.dumps({"seconds": 0.01}), flush=True)
                continue
            mean, low, _ = found
            rng = random.Random(1 if FAULT == "again" else asked["seed"])
            spread = 0.8 if FAULT == "spread" else 1.0
            chains, draws = method.get("chains", 1), method.get("draws", method.get("particles"))
            draws //= 2 if FAULT == "few" and "draws" in method else 1
            width = 2 if FAULT == "shape" else 3
            drawn = []
            for _ in range(chains * draws):
                step = backward(low, [rng.gauss(0, 1) for _ in range(3)])
                drawn += [m + spread * s for m, s in zip(mean, step)][:width]
            if FAULT == "nan":
                drawn[0] = math.nan
            drawn = ((chains, draws, width), drawn)
            answer = {"seconds": 0.01}
        elif asked["do"] == "draws":
            save(asked["to"] + "/draws.npy", *drawn)
            if "particles" in method:
                save(asked["to"] + "/log_weights.npy", (method["particles"],), [0.0] * method["particles"])
                answer = {"log_evidence": found[2] + (0.1 if FAULT == "evidence" else 0.0)}
        print("nonsense" if FAULT == "nonsense" else json.dumps(answer), flush=True)


main()
