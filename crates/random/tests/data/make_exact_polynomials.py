"""Prints the polynomials of crates/random/src/exact/, with the error of each.

    pip install mpmath==1.4.1
    python make_exact_polynomials.py

Each is the interpolation of its function at Chebyshev's nodes, made with 90 digits and rounded to f64. The error is the
worst one of the rounded polynomial, relative to the value it is a part of, in units of 2^-53.
"""

from mpmath import mp, mpf

mp.dps = 90
NEAR_ZERO = mpf(10) ** -28
NEAR_INFINITY = mpf(10) ** -18


def interpolation(f, first, last, degree):
    """The coefficients of the polynomial through f at Chebyshev's nodes, lowest first."""
    first, last, count = mpf(first), mpf(last), degree + 1
    middle, half = (first + last) / 2, (last - first) / 2
    nodes = [middle + half * mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    differences = [f(x) for x in nodes]
    for step in range(1, count):
        for i in range(degree, step - 1, -1):
            differences[i] = (differences[i] - differences[i - 1]) / (nodes[i] - nodes[i - step])
    result = [mpf(0)]
    for i in range(degree, -1, -1):
        shifted = [mpf(0), *result]
        for k, c in enumerate(result):
            shifted[k] -= nodes[i] * c
        shifted[0] += differences[i]
        result = shifted
    return result[:count]


def literal(x):
    """A number as Rust's shortest literal, digits in threes."""
    text = repr(float(x))
    text, exponent = text.split("e") if "e" in text else (text, "")
    whole, _, part = text.partition(".")
    part = "_".join(part[i : i + 3] for i in range(0, len(part), 3)) or "0"
    sign, whole = ("-", whole[1:]) if whole[0] == "-" else ("", whole)
    whole = f"{int(whole):_}"
    exponent = f"e{int(exponent)}" if exponent else ""
    return f"{sign}{whole}.{part}{exponent}"


def show(name, f, first, last, degree, share):
    """Prints the polynomial of f; an error of f at x times share(x) is a relative error of the whole."""
    found = interpolation(f, first, last, degree)
    rounded = [mpf(float(c)) for c in found]
    points = [mpf(first) + (mpf(last) - mpf(first)) * k / 301 for k in range(1, 301)]
    worst = max(abs((mp.polyval(rounded[::-1], x) - f(x)) * share(x)) for x in points)
    print(f"// error {float(worst * 2**53):.3f}")
    print(f"const {name}: [f64; {degree + 1}] = [")
    for c in found:
        print(f"    {literal(c)},")
    print("];")


def odd(f):
    """(f(r) / r - 1) / r^2 as a function of r^2."""
    return lambda z: (f(mp.sqrt(z)) / mp.sqrt(z) - 1) / z


def erfcx(x):
    """e^(x^2) erfc(x)"""
    if x < 50:
        return mp.exp(x * x) * mp.erfc(x)
    terms = (mp.fac2(2 * k - 1) / (-2 * x * x) ** k for k in range(25))
    return sum(terms) / (x * mp.sqrt(mp.pi))


def scaled_tail(q):
    """(1 + 9/8 x) e^(x^2) erfc(x) of q = (x - 4) / (x + 4)."""
    x = 4 * (1 + q) / (1 - q)
    return (1 + 9 * x / 8) * erfcx(x)


def stirling_rest(t):
    """x (ln Gamma(x) - (x - 1/2) ln x + x - ln(2 pi) / 2) of t = 1 / x^2."""
    x = 1 / mp.sqrt(t)
    return x * (mp.loggamma(x) - (x - mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


def digamma_rest(t):
    """x^2 (ln x - 1 / (2 x) - digamma(x)) of t = 1 / x^2."""
    x = 1 / mp.sqrt(t)
    return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) / t


def trigamma_rest(t):
    """x^3 (trigamma(x) - 1 / x - 1 / (2 x^2)) of t = 1 / x^2."""
    x = 1 / mp.sqrt(t)
    return (mp.psi(1, x) - 1 / x - t / 2) * x / t


def digamma_slope(d):
    """digamma(x) / (x - its zero) of d = x - 3 / 2."""
    return mp.digamma(1.5 + d) / (1.5 + d - zero)


def parts(name, x):
    """Prints a constant in two parts."""
    print(f"const {name}: Double = Double::new({literal(x)}, {literal(x - mpf(float(x)))});")


last = 1 - mpf(10) ** -12
tail_in_middle = scaled_tail(0)
quarter = (mp.pi / 4) ** 2 * mpf("1.0001")
half_root_pi = 2 / mp.sqrt(mp.pi)
slope_at_two = 1 - mp.euler
zero = mp.findroot(mp.digamma, 1.4616321449683623)

show("ARCTANGENT", odd(mp.atan), NEAR_ZERO, 0.09, 8, lambda z: z)
show("SINE", odd(mp.sin), NEAR_ZERO, quarter, 5, lambda z: z)
show("COSINE", lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, NEAR_ZERO, quarter, 5, lambda z: z * z)
show("ARCSINE", odd(mp.asin), NEAR_ZERO, 0.25, 12, lambda z: z)
show("HYPERBOLIC_SINE", odd(mp.sinh), NEAR_ZERO, 1, 6, lambda z: z)
show("ERROR_FUNCTION", lambda z: (mp.erf(mp.sqrt(z)) / mp.sqrt(z) - half_root_pi) / z, NEAR_ZERO, 0.25, 8, lambda z: z)
show("SCALED_TAIL", lambda q: (scaled_tail(q) - tail_in_middle) / q, -1, last, 23, lambda q: q / scaled_tail(q))
show("LN_GAMMA_NEAR_TWO", lambda d: (mp.loggamma(2 + d) / d - slope_at_two) / d, -0.5, 0.5, 17, lambda d: d / slope_at_two)
show("STIRLING", stirling_rest, NEAR_INFINITY, 0.16, 12, lambda t: mp.sqrt(t) / mp.loggamma(1 / mp.sqrt(t)))
show("DIGAMMA_NEAR_ZERO", lambda d: (digamma_slope(d) - digamma_slope(0)) / d, -0.5, 0.5, 21, lambda d: d)
show("DIGAMMA", digamma_rest, NEAR_INFINITY, mpf(1) / 9, 11, lambda t: t / mp.digamma(1 / mp.sqrt(t)))
show("TRIGAMMA", trigamma_rest, NEAR_INFINITY, mpf(1) / 9, 12, lambda t: t * mp.sqrt(t) / mp.psi(1, 1 / mp.sqrt(t)))
show("CUBE_ROOT", mp.cbrt, 0.35, 2.83, 3, lambda x: 1 / mp.cbrt(x))
parts("SLOPE_AT_TWO", slope_at_two)
parts("HALF_LN_TWO_PI", mp.log(2 * mp.pi) / 2)
parts("TAIL_IN_MIDDLE", tail_in_middle)
parts("TWO_OVER_ROOT_PI", half_root_pi)
parts("SLOPE_IN_MIDDLE", digamma_slope(0))
parts("ZERO_OF_DIGAMMA", zero)
parts("LOG2_E", 1 / mp.log(2))
parts("LOG10_E", 1 / mp.log(10))
parts("LOG10_2", mp.log(2, 10))
parts("LN_2", mp.log(2))
parts("ARCTANGENT_OF_HALF", mp.atan(mpf(1) / 2))
print("// pi / 2 in parts of 33 bits, and the rest")
rest = mp.pi / 2
for k in range(3):
    bits = mp.floor(mp.ldexp(rest, 32 + 33 * k))
    part = mp.ldexp(bits, -32 - 33 * k)
    print(literal(part))
    rest -= part
print(literal(rest))

