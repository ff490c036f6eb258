"""Writes exact.txt: the functions of octopus_random::exact at ordinary and hard points, by mpmath at 60 digits.

    pip install mpmath==1.4.1
    python make_exact.py

A line is a name, the arguments and the value rounded to the nearest f64, all as the bits of an f64 in hexadecimal. Every
argument is the f64 that the test gives, taken exactly. It takes some seconds.
"""

import math
import pathlib
import random
import struct

from mpmath import mp, mpf

mp.dps = 60
HERE = pathlib.Path(__file__).parent
draw = random.Random(56)


def even(first, last, count):
    return [draw.uniform(first, last) for _ in range(count)]


def scales(first, last, count):
    """Numbers spread evenly by their logarithms."""
    return [math.exp(draw.uniform(math.log(first), math.log(last))) for _ in range(count)]


def both(numbers):
    return [x if draw.random() < 0.5 else -x for x in numbers]


def around(x, count, nearest=1e-15, farthest=0.3):
    return [x + d for d in both(scales(nearest, farthest, count))]


TINY = [5e-324, 2.5e-310, 2.3e-308, 1e-300, 1e-20, 1.1e-16, 2.3e-16, 1e-8]
SIGNED_TINY = both(TINY) + both(scales(1e-300, 1e-3, 20))
LINE = SIGNED_TINY + even(-1, 1, 40) + even(-5, 5, 40)
POSITIVE = TINY + scales(5e-324, 1.7e308, 60) + around(1, 40) + [0.5, 2.0, 3.0, 1e10, math.sqrt(0.5), math.sqrt(2)]
UNIT = TINY + even(0, 1, 60) + around(0.5, 20, farthest=0.2) + [1 - x for x in scales(2**-53, 0.1, 20)]
# Nearest to multiples of pi / 2 among all f64, and multiples of it.
QUARTERS = [round(x) * (math.pi / 2) for x in both(scales(1, 6e5, 40))]
ANGLES = LINE + QUARTERS + both(scales(1, 1e6, 40))
# Where the formulas change.
GAMMA = [0.5, 1.5, 2.5, 3.0, 1.0, 2.0, 1.4616321449683622, 1.4616321449683625, 2.0000000000000004, 0.9999999999999999]
GAMMA += [x * (1 + s * 2**-52) for x in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0) for s in (-1, 1)] + scales(1e-300, 1, 20)
GAMMA += even(0, 3.5, 60) + even(3, 30, 20) + around(1, 15) + around(2, 15) + around(1.4616321449683622, 15)
NOT_INTEGERS = [x for x in even(-30, 0, 90) + [-x for x in scales(1e-10, 0.5, 20)] if abs(x - round(x)) > 1e-3]


def log_gamma(x):
    x = mpf(x)
    if x > 0:
        return mp.loggamma(x)
    return mp.log(mp.pi / abs(x * mp.sin(mp.pi * x))) - mp.loggamma(-x)


def phi(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def ln_phi(x):
    return mp.log1p(-phi(-x)) if x > 0 else mp.log(phi(x))


def density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def quantile(p):
    """The root of phi(x) = p, by Newton's method on the logarithm."""
    lower = p if p < 0.5 else 1 - p
    x = -mp.sqrt(-2 * mp.log(lower)) if lower < 0.05 else mpf(0)
    for _ in range(60):
        step = (ln_phi(x) - mp.log(lower)) * phi(x) / density(x)
        x -= step
        if abs(step) < mpf(10) ** -45:
            return x if p < 0.5 else -x
    raise AssertionError(p)


def log1m_exp(x):
    return mp.log(-mp.expm1(x))


UNARY = {
    "exp_m1": (mp.expm1, LINE + even(-40, 709.7, 40)),
    "exp2": (lambda x: mp.power(2, x), LINE + even(-1074, 1023.9, 40)),
    "ln_1p": (mp.log1p, LINE[:60] + even(-1, 5, 40) + scales(1e-3, 1e308, 20) + [-1 + x for x in scales(2**-53, 0.5, 20)]),
    "log2": (lambda x: mp.log(x, 2), POSITIVE),
    "log10": (mp.log10, POSITIVE + [10.0**k for k in range(0, 23, 3)]),
    "logit": (lambda p: mp.log(p / (1 - p)), UNIT),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), POSITIVE + LINE),
    "sin": (mp.sin, ANGLES),
    "cos": (mp.cos, ANGLES),
    "tan": (mp.tan, ANGLES),
    "atan": (mp.atan, LINE + both(scales(1, 1e300, 20)) + around(0.3, 9) + around(0.8, 9) + around(1, 9)),
    "asin": (mp.asin, both(UNIT)),
    "acos": (mp.acos, both(UNIT)),
    "sinh": (mp.sinh, LINE + both(even(5, 710.4, 20)) + around(1, 9)),
    "cosh": (mp.cosh, LINE + both(even(5, 710.4, 20))),
    "asinh": (mp.asinh, LINE + both(scales(1, 1.7e308, 30))),
    "acosh": (mp.acosh, [1 + x for x in scales(2**-52, 5, 60)] + scales(2, 1.7e308, 40) + [1e9, 1.0000000001e9]),
    "atanh": (mp.atanh, both(UNIT) + SIGNED_TINY),
    "erf": (mp.erf, LINE + around(0.5, 9) + even(-6, 6, 20)),
    "erfc": (mp.erfc, LINE + even(0, 27.2, 40)),
    "phi": (phi, LINE + even(-38.4, 0, 40)),
    "ln_phi": (ln_phi, LINE + even(-40, 38, 40) + [-x for x in scales(10, 1e10, 30)]),
    "ln_phi_slope": (lambda x: density(x) / phi(x), LINE + even(-40, 38, 40) + [-x for x in scales(10, 1e5, 20)]),
    "inverse_phi": (quantile, [p for p in UNIT + scales(1e-320, 0.1, 30) if p != 0.5]),
    "ln_gamma": (log_gamma, GAMMA + scales(10, 1e305, 20)),
    "ln_gamma_of_negative": (log_gamma, NOT_INTEGERS),
    "digamma": (mp.digamma, [x for x in GAMMA if x > 1e-200] + scales(10, 1e300, 20)),
    "digamma_of_negative": (mp.digamma, NOT_INTEGERS),
    "trigamma": (lambda x: mp.psi(1, x), [x for x in GAMMA if x > 1e-150] + scales(10, 1e15, 20)),
    "trigamma_of_negative": (lambda x: mp.psi(1, x), NOT_INTEGERS),
    "log1p_exp": (lambda x: mp.log1p(mp.exp(x)), LINE + even(-744, 50, 30)),
    "log1m_exp": (log1m_exp, [-abs(x) for x in LINE] + even(-744, 0, 30)),
    "inv_logit": (lambda x: 1 / (1 + mp.exp(-x)), LINE + even(-700, 40, 30)),
    "inv_cloglog": (lambda x: -mp.expm1(-mp.exp(x)), LINE + even(-740, 5, 30)),
}

bases = scales(1e-300, 1e300, 30) + even(0.3, 3, 40) + around(1, 30) + scales(5e-324, 1e-308, 10)
powers = [(x, draw.uniform(-744, 709) / math.log(x)) for x in bases] + list(zip(scales(0.01, 100, 40), even(-8, 8, 40)))
powers += [(-x, float(draw.randint(-30, 30))) for x in scales(0.01, 100, 30)]
sizes = list(zip(scales(1e-5, 1e5, 60), scales(1e-5, 1e5, 60))) + list(zip(scales(1e-300, 1e15, 30), scales(1e-300, 1e15, 30)))
sizes += list(zip(even(0, 5, 40), even(0, 5, 40))) + [(1.0, 1.0), (1e10, 1.0), (2.5, 2.5), (3.0, 2.499), (1e-20, 1e-20)]
choices = [(float(n), float(draw.randint(1, n - 1))) for n in map(int, scales(2, 1e9, 80))] + [(5.5, 2.25), (0.75, 0.5)]
choices += [(n, n * draw.random()) for n in even(1, 50, 40)]
logs = [(x, x + draw.uniform(-40, 40)) for x in even(-700, 700, 40) + even(-3, 3, 70)]
differences = [(x, x - d) for x, d in zip(even(-700, 700, 40) + even(-3, 3, 70), scales(1e-9, 700, 110))]
BINARY = {
    "pow": (mp.power, powers),
    "lbeta": (lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b), sizes),
    "lchoose": (lambda n, k: mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1), choices),
    "log_sum_exp": (lambda a, b: mp.log(mp.exp(a) + mp.exp(b)), logs),
    "log_diff_exp": (lambda a, b: a + log1m_exp(b - a), differences),
}


def bits(x):
    return struct.pack(">d", x).hex()


def nearest(x):
    """The f64 nearest to a number, also below the normal range, where mpmath rounds twice."""
    x = mp.re(x)
    if x == 0 or abs(x) >= mpf(2) ** -1022:
        return float(x)
    return math.ldexp(int(mp.nint(mp.ldexp(x, 1074))), -1074)


with open(HERE / "exact.txt", "w") as out:
    for name, (function, points) in {**UNARY, **BINARY}.items():
        points = [x if isinstance(x, tuple) else (x,) for x in points]
        assert len(points) >= 100, (name, len(points))
        for arguments in points:
            # Cancellations of large logarithms of gamma take 20 digits, small arguments of logarithms 330.
            mp.dps = 360 if name in ("lbeta", "log1m_exp", "logit", "lchoose", "log_sum_exp", "log_diff_exp") else 60
            value = nearest(function(*map(mpf, arguments)))
            print(name, *map(bits, arguments), bits(value), file=out)
