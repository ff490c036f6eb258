"""Writes von_mises.json: Bessel functions and circular distributions at 60 digits, for octopus_random::bessel and
octopus_random::circular.

    pip install mpmath==1.4.1
    python make_von_mises.py

Every argument is the f64 that the test gives, taken exactly. Integrals are made by mpmath's tanh-sinh or Gauss-Legendre
quadrature over pieces of some standard deviations each, tails beside their largest value. Quantiles are solved with the
same integrals. It takes some minutes.
"""

import json
import math
import pathlib

from mpmath import mp, mpf

mp.dps = 60
HERE = pathlib.Path(__file__).parent
CONCENTRATIONS = [0.0, 1e-8, 1e-4, 0.1, 1.0, 5.0, 17.08, 29.99, 30.01, 100.0, 1e4, 1e6, 1e8, 1e12, 1e16, 1e100, 1e300]
QUICK = [0.0, 5e-324, 1e-300, *CONCENTRATIONS[1:], 0.5, 1.5, 2.0, 700.0]
ARGUMENTS = sorted({*QUICK, 2.5, 8.0, 12.0, 20.0, 25.0, 30.0, 31.0, 40.0, 60.0})
PROBABILITIES = [
    *[5e-324, 1e-300, 1e-100, 1e-16, 1e-5, 0.01, 0.2, 0.249, 0.251, 0.45, 0.4999999],
    *[0.5, 0.5000001, 0.7, 0.77, 0.999, 1 - 1e-10, 1 - 2**-53],
]


def scaled_i(order, x):
    """e^-x I_order(x) as mpmath has it, by an integral of its own where mpmath's series would not end."""
    order, x = mpf(order), mpf(x)
    if x < 1e5:
        return mp.besseli(order, x) * mp.exp(-x)
    # Hankel's expansion, whose terms fall below 60 digits when x is far above the square of the order.
    term, total, k = mpf(1), mpf(1), 0
    while abs(term) > mpf(10) ** -(mp.dps + 10):
        k += 1
        term *= -(4 * order**2 - (2 * k - 1) ** 2) / (k * 8 * x)
        total += term
        assert k < 4000 and abs(term) < mpf(10) ** 40, (order, x)
    return total / mp.sqrt(2 * mp.pi * x)


def number(value):
    """The nearest f64; what underflows is nothing to compare with relative accuracy."""
    return float(value)


def bessel():
    rows = []
    for x in ARGUMENTS:
        # ln I0 is x^2/4 where I0 is 1, and the complement is 1/(2x): both are small differences.
        with mp.extradps(int(2.1 * abs(math.log10(x))) if x else 0):
            zero, one = scaled_i(0, x), scaled_i(1, x)
            rows.append({
                "x": x,
                "i0_scaled": number(zero),
                "i1_scaled": number(one),
                "log_i0": number(mp.log(zero) + mpf(x)),
                "log_i0_scaled": number(mp.log(zero)),
                "log_i1": number(mp.log(one) + mpf(x)) if x else None,
                "ratio": number(one / zero),
                "complement": number((zero - one) / zero),
            })
    return rows


def orders():
    rows = []
    for order in [0.5, 1.0, 1.5, 2.0, 2.3, 4.0, 7.5, 15.0, 31.0, 31.5, 32.0, 49.0, 149.5, 499.0, 4999.0]:
        for x in [1e-300, 1e-5, 0.1, 1.0, 10.0, 29.0, 31.0, 100.0, 1000.0, 1e5, 1e9, 1e14, 1e300]:
            if x >= 1e5 and x < 40 * order**2:
                continue
            with mp.extradps(40):
                value, below = scaled_i(order, x), scaled_i(order - 1, x)
                log, power = mp.log(value), mpf(order) * mp.log(mpf(x))
                rows.append({
                    "order": order,
                    "x": x,
                    "log_i": number(log + mpf(x)),
                    "log_i_scaled": number(log),
                    "without_power": number(log - power),
                    "ratio": number(value / below),
                    "largest": number(max(abs(mpf(order) * mp.log(mpf(x) / 2)), mp.loggamma(order + 1))),
                })
    return rows


def integral(log_density, start, end, width):
    """The integral of e^(log_density - log_density(start)) over pieces that grow, until nothing is added.

    The variable is the step from start, so that tails far out lose no digits."""
    total, left, piece = mpf(0), mpf(0), mpf(width)
    while left < end - start:
        right = min(left + piece, end - start)
        # Over 0 to 1, since mpmath is content with an absolute error.
        size = right - left
        part = size * mp.quad(lambda t: mp.exp(log_density(start, left + size * t)), [0, 1])
        total += part
        if abs(part) < abs(total) * mpf(10) ** -35:
            break
        left, piece = right, piece * mpf(1.3)
    return total


class VonMises:
    def __init__(self, concentration):
        self.k = mpf(concentration)
        self.i0 = scaled_i(0, self.k)
        self.width = min(mpf(1), 1 / mp.sqrt(self.k)) if self.k else mpf(1)

    def log_density(self, y):
        return -2 * self.k * mp.sin(y / 2) ** 2 - mp.log(2 * mp.pi * self.i0)

    def fall(self, start, s):
        return -2 * self.k * mp.sin(s / 2) * mp.sin(start + s / 2)

    def tail_over_density(self, y):
        width = min(self.width, 3 / (self.k * mp.sin(y))) if self.k * mp.sin(y) > 0 else self.width
        return integral(self.fall, y, mp.pi, width)

    def tail(self, y):
        return mp.exp(self.log_density(y)) * self.tail_over_density(y)

    def mass(self, y):
        if y > 6 * self.width:
            return mpf(1) / 2 - self.tail(y)
        return mp.exp(self.log_density(mpf(0))) * integral(self.fall, mpf(0), y, self.width)

    def quantile(self, p):
        """The signed distance, by Newton's method in a bracket."""
        p = mpf(p)
        if p == 0.5:
            return mpf(0)
        sign, beyond = (-1, p) if p < 0.5 else (1, 1 - p)
        within = mpf(1) / 2 - beyond
        if self.k == 0:
            return sign * 2 * mp.pi * within
        low, high = mpf(0), mp.pi
        standard = mp.erfinv(1 - 2 * beyond) if beyond > 1e-9 else mp.sqrt(-mp.log(beyond))
        y = min(self.width * mp.sqrt(2) * standard, mpf(3))
        for _ in range(200):
            if beyond < 0.3:
                length = self.tail_over_density(y)
                step = (self.log_density(y) + mp.log(length) - mp.log(beyond)) * length
            else:
                step = (within - self.mass(y)) / mp.exp(self.log_density(y))
            low, high = (y, high) if step > 0 else (low, y)
            if abs(step) < mpf(10) ** -22 * y:
                return sign * (y + step)
            y = y + step if low < y + step < high else (low + high) / 2
        raise ArithmeticError((self.k, p))


def angles(concentration):
    width = min(1.0, 1 / math.sqrt(concentration)) if concentration else 1.0
    chosen = [1e-12, 1e-3, 0.1, 0.5, 1.0, 1.7, 3.0, 6.0, 10.0, 20.0, 36.0]
    near = [width * c for c in chosen]
    far = [0.3, 2.0, 3.0, 3.14, 3.1415926, math.pi - 1e-13, math.pi]
    return sorted({y for y in near + far if y <= math.pi})


def von_mises():
    rows = []
    for k in CONCENTRATIONS:
        law = VonMises(k)
        with mp.extradps(int(abs(math.log10(k))) if k else 0):
            zero, one = scaled_i(0, k), scaled_i(1, k)
            entropy = mp.log(2 * mp.pi * zero) + mpf(k) * (zero - one) / zero
        points = []
        for y in angles(k):
            exponent = float(-2 * mpf(k) * mp.sin(mpf(y) / 2) ** 2)
            tail = law.tail(mpf(y)) if exponent > -700 else mpf(0)
            points.append({
                "y": y,
                "log_density": number(law.log_density(mpf(y))),
                "tail": number(tail),
                "mass": number(law.mass(mpf(y)) if exponent > -700 else mpf(1) / 2),
            })
        rows.append({
            "concentration": k,
            "entropy": number(entropy),
            "points": points,
            "quantiles": [{"p": p, "angle": number(law.quantile(p))} for p in PROBABILITIES],
        })
        print(k, flush=True)
    return rows


def wrapped_normal():
    rows = []
    for scale in [1e-4, 0.1, 0.5, 1.0, 2.0, 2.49, 2.51, 4.0, 30.0]:
        s = mpf(scale)

        def density(y):
            turns = range(-int(20 + 20 * scale), int(21 + 20 * scale))
            return sum(mp.exp(-((y + 2 * mp.pi * k) ** 2) / (2 * s**2)) for k in turns) / (s * mp.sqrt(2 * mp.pi))

        def tail(y):
            """Each turn's share as a difference of error functions, with digits for what cancels."""
            with mp.extradps(60):
                turns = range(-int(20 + 20 * scale), int(21 + 20 * scale))
                root = s * mp.sqrt(2)
                ends = [((y + 2 * mp.pi * k) / root, (mp.pi + 2 * mp.pi * k) / root) for k in turns]
                # Of an interval that begins below 0 the mirror image, so that no erfc is close to 2.
                pairs = [(a, b) if a > 0 else (-b, -a) for a, b in ends]
                return sum(mp.erfc(a) - mp.erfc(b) for a, b in pairs) / 2

        points = []
        for y in [scale * c for c in (1e-6, 0.3, 1.0, 3.0, 8.0, 30.0)] + [0.3, 1.5, 3.0, 3.14159, math.pi]:
            if y > math.pi or y / scale > 37:
                continue
            points.append({"y": y, "log_density": number(mp.log(density(mpf(y)))), "tail": number(tail(mpf(y)))})
        rows.append({"scale": scale, "points": points})
    return rows


def fisher():
    rows = []
    for dimension in [2, 3, 4, 5, 10, 63, 65, 66, 100, 1000]:
        for k in [0.0, 1e-300, 1e-8, 0.1, 1.0, 5.0, 29.0, 31.0, 100.0, 1e4, 1e8, 1e300]:
            half = mpf(dimension) / 2
            if 1e4 < k < 40 * (dimension / 2) ** 2 or (k == 1e4 and dimension > 100):
                continue
            with mp.extradps(40):
                if k == 0:
                    value = mp.loggamma(half) - mp.log(2) - half * mp.log(mp.pi)
                else:
                    value = (half - 1) * mp.log(mpf(k)) - half * mp.log(2 * mp.pi) - mp.log(scaled_i(half - 1, k))
            row = {"dimension": dimension, "concentration": k}
            rows.append({**row, "scaled": number(value), "plain": number(value - mpf(k))})
    return rows


if __name__ == "__main__":
    tables = {
        "bessel": bessel(),
        "orders": orders(),
        "fisher": fisher(),
        "wrapped_normal": wrapped_normal(),
        "von_mises": von_mises(),
    }
    lines = []
    for name, rows in tables.items():
        body = ",\n".join("  " + json.dumps(row, separators=(",", ":")) for row in rows)
        lines.append(f' "{name}": [\n{body}\n ]')
    (HERE / "von_mises.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
