"""Writes draws.json: what exact functions and draws are to the last bit, worked out a second time in NumPy.

    pip install numpy==2.3.5
    python make_draws.py

NumPy rounds each operation on arrays of float64 and float32 once, as IEEE 754 asks, and contracts none: written in the
same order of operations, everything has the same bits as octopus_random's. Draws are made turn by turn from the address
of each (key, number, turn), without the spans, rows and shares of the crate.
"""

import hashlib
import json
import math
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
MASK = np.uint64(0xFFFFFFFF)
PART = 1 << 16
LOG2_E, LN_2, SQRT_2 = 1.4426950408889634, 0.6931471805599453, 1.4142135623730951


def u64(x):
    return np.asarray(x, dtype=np.uint64)


def philox(c0, c1, c2, c3, k0, k1):
    """Philox4x32-10 of arrays of counters, words in uint64."""
    c0, c1, c2, c3 = np.broadcast_arrays(u64(c0), u64(c1), u64(c2), u64(c3))
    for turn in range(10):
        a, b = u64(0xD2511F53) * c0, u64(0xCD9E8D57) * c2
        key0, key1 = u64((k0 + turn * 0x9E3779B9) % 2**32), u64((k1 + turn * 0xBB67AE85) % 2**32)
        c0, c1, c2, c3 = (b >> u64(32)) ^ c1 ^ key0, b & MASK, (a >> u64(32)) ^ c3 ^ key1, a & MASK
    return c0, c1, c2, c3


class Key:
    def __init__(self, seed):
        self.low, self.high = seed % 2**32, seed >> 32

    def fold_in(self, number):
        low, high, _, _ = philox(number % 2**32, number >> 32, 0, 11, self.low, self.high)
        return Key(int(high) << 32 | int(low))

    def words(self, block, turn):
        return philox(block & MASK, block >> u64(32), turn, 10, self.low, self.high)


class Double:
    """float64: constants, exact functions, and numbers of random words."""

    name, t, bits_type = "float64", np.float64, np.uint64
    root_is_huge, round = 1e34, 6755399441055744.0
    ln2_high, ln2_low = 6.931471803691238e-1, 1.9082149292705877e-10

    def reduced(self, x):
        shifted = x * LOG2_E + self.round
        n = shifted - self.round
        r = (x - n * self.ln2_high) - n * self.ln2_low
        return r, ((shifted.view(np.uint64) + u64(1023)) << u64(52)).view(np.float64)

    @staticmethod
    def pair(n, r):
        return 1 / float(math.factorial(n)) + r * (1 / float(math.factorial(n + 1)))

    def exp(self, x):
        r, scale = self.reduced(x)
        r2 = r * r
        r4 = r2 * r2
        low = (1.0 + r) + r2 * self.pair(2, r)
        middle = self.pair(4, r) + r2 * self.pair(6, r)
        high = (self.pair(8, r) + r2 * self.pair(10, r)) + r4 * self.pair(12, r)
        value = (low + r4 * (middle + r4 * high)) * scale
        return np.where(x < -708.0, 0.0, np.where(x > 709.0, np.inf, value))

    def exp_minus_one(self, x):
        r, scale = self.reduced(x)
        r2 = r * r
        r4 = r2 * r2
        low = self.pair(2, r) + r2 * self.pair(4, r)
        high = (self.pair(6, r) + r2 * self.pair(8, r)) + r4 * (self.pair(10, r) + r2 * self.pair(12, r))
        return scale * (r + r2 * (low + r4 * high)) + (scale - 1.0)

    def parts(self, x):
        mantissa, exponent = np.frexp(x)
        mantissa, exponent = mantissa * 2, exponent - 1
        upper = mantissa > SQRT_2
        m = np.where(upper, 0.5 * mantissa, mantissa)
        return (exponent + upper).astype(np.float64), m - 1.0, m + 1.0

    def of_parts(self, x, e, s):
        z = s * s
        z2 = z * z
        z4 = z2 * z2
        low = (1 / 3 + z * (1 / 5)) + z2 * (1 / 7 + z * (1 / 9))
        high = (1 / 11 + z * (1 / 13)) + z2 * (1 / 15 + z * (1 / 17))
        tail = 1 / 19 + z * (1 / 21)
        series = z * (low + z4 * (high + z4 * tail))
        value = e * self.ln2_high + (2.0 * s + (2.0 * s * series + e * self.ln2_low))
        return np.where(x < 2.0**-1022, -np.inf, value)

    def tanh(self, x):
        size = np.minimum(np.abs(x), self.t(20.0))
        grown = self.exp_minus_one(size + size)
        return np.copysign(grown / (grown + 2.0), x)

    @staticmethod
    def polynomial(x, c):
        x2 = x * x
        x4 = x2 * x2
        return ((c[0] + c[1] * x) + (c[2] + c[3] * x) * x2) + ((c[4] + c[5] * x) + (c[6] + c[7] * x) * x2) * x4

    # Wichura (1988), AS 241, PPND16; one coefficient as the crate has it.
    center = (
        [3.387132872796366608, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125]
        + [45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727],
        [1.0, 42.313330701600911252, 687.1870074920579083, 5394.1960214247511077]
        + [21213.794301586595867, 39307.89580009271061, 28729.085735721942674, 5226.495278852545],
    )
    near = (
        [1.42343711074968357734, 4.6303378461565452959, 5.7694972214606914055, 3.64784832476320460504]
        + [1.27045825245236838258, 0.24178072517745061177, 0.0227238449892691845833, 7.7454501427834140764e-4],
        [1.0, 2.05319162663775882187, 1.6763848301838038494, 0.68976733498510000455]
        + [0.14810397642748007459, 0.0151986665636164571966, 5.475938084995344946e-4, 1.05075007164441684324e-9],
    )
    far = (
        [6.6579046435011037772, 5.4637849111641143699, 1.7848265399172913358, 0.29656057182850489123]
        + [0.026532189526576123093, 0.0012426609473880784386, 2.71155556874348757815e-5, 2.01033439929228813265e-7],
        [1.0, 0.59983220655588793769, 0.13692988092273580531, 0.0148753612908506148525]
        + [7.868691311456132591e-4, 1.8463183175100546818e-5, 1.4215117583164458887e-7, 2.04426310338993978564e-15],
    )

    def rational(self, x, which):
        return self.polynomial(x, which[0]) / self.polynomial(x, which[1])

    def normal_quantile(self, p):
        q = p - 0.5
        r = 0.180625 - q * q
        center = q * self.polynomial(r, self.center[0]) / self.polynomial(r, self.center[1])
        radius = np.sqrt(-self.ln(np.where(p > 0.5, 1.0 - p, p)))
        near = self.rational(radius - 1.6, self.near)
        size = np.where(radius <= 5.0, near, self.rational(radius - 5.0, self.far))
        return np.where(np.abs(q) <= 0.425, center, np.where(p > 0.5, size, -size))

    def sin_cos_quarter(self, x):
        z = x * x
        sine = 5.633933781537854e-8
        for c in [-3.59864335298231e-6, 1.604411507421909e-4, -4.681754132340976e-3]:
            sine = sine * z + c
        for c in [7.969262624604301e-2, -6.459640975062463e-1]:
            sine = sine * z + c
        sine = x * (np.pi / 2 + (z * sine + 6.123233995736766e-17))
        cosine = -6.321256869628588e-9
        for c in [4.710609726757823e-7, -2.520203677046026e-5, 9.192602741831558e-4, -2.086348076331121e-2]:
            cosine = cosine * z + c
        for c in [2.536695079010467e-1, -1.2337005501361698]:
            cosine = cosine * z + c
        return sine, 1.0 + z * cosine

    tangent = 0.41421356237309505
    arc = (
        [-1.9175404711110934e-2, 3.923044778479309e-2, -5.0854078345894843e-2, 5.858140904866328e-2]
        + [-6.664510525508936e-2, 7.692183125376892e-2, -9.09090457530649e-2, 1.111111101518702e-1]
        + [-1.4285714284665681e-1, 1.9999999999995517e-1, -3.333333333333333e-1]
    )

    def bits(self, key, index, turn, numbers=2):
        out = []
        for block in range(numbers // 2):
            words = key.words(index, turn * (numbers // 2) + block)
            out += [words[0] << u64(32) | words[1], words[2] << u64(32) | words[3]]
        return out

    def uniform(self, bits):
        return ((bits >> u64(12)).astype(np.float64) + 0.5) * 2.0**-52

    def halves(self, bits):
        distance = (((bits << u64(2)) >> u64(12)).astype(np.float64) + 0.5) * 2.0**-52
        return bits >> u64(63) != 0, bits >> u64(62) & u64(1) != 0, 0.5 * distance

    def normal(self, bits):
        return self.normal_quantile(self.uniform(bits))

    # What both types have.

    def ln(self, x):
        e, above, below = self.parts(x)
        return self.of_parts(x, e, above / below)

    def minus_ln_of_rest(self, x):
        rest = self.t(1) - x
        near = x < self.t(0.25)
        e, above, below = self.parts(rest)
        quotient = np.where(near, -x, above) / np.where(near, self.t(2) - x, below)
        return -self.of_parts(rest, np.where(near, self.t(0), e), quotient)

    def sigmoid(self, x):
        small = self.exp(-np.abs(x))
        return np.where(x < 0, small, self.t(1)) / (self.t(1) + small)

    def arctangent(self, above, below):
        t = self.t
        steep = above > below
        small, big = np.where(steep, below, above), np.where(steep, above, below)
        beside = small > t(self.tangent) * big
        r = np.where(beside, small - big, small) / np.where(beside, small + big, big)
        z = r * r
        series = t(self.arc[0])
        for c in self.arc[1:]:
            series = series * z + t(c)
        angle = r + r * (z * series)
        angle = np.where(beside, t(np.pi / 4) + angle, angle)
        return np.where(steep, t(np.pi / 2) - angle, angle)


class Single(Double):
    """float32."""

    name, t, bits_type = "float32", np.float32, np.uint32
    root_is_huge, round = 1e16, np.float32(12582912.0)
    ln2_high, ln2_low = np.float32(0.69314575), np.float32(1.4286068e-6)
    step = np.float32(4.656613e-10)

    def reduced(self, x):
        shifted = x * np.float32(LOG2_E) + self.round
        n = shifted - self.round
        r = (x - n * self.ln2_high) - n * self.ln2_low
        return r, ((shifted.view(np.uint32) + np.uint32(127)) << np.uint32(23)).view(np.float32)

    @staticmethod
    def pair(n, r):
        one = np.float32(1)
        return one / np.float32(math.factorial(n)) + r * (one / np.float32(math.factorial(n + 1)))

    def short(self, r):
        r2 = r * r
        return r + r2 * (self.pair(2, r) + r2 * (self.pair(4, r) + r2 * self.pair(6, r)))

    def exp(self, x):
        t = np.float32
        r, scale = self.reduced(x)
        value = (t(1) + self.short(r)) * scale
        return np.where(x < t(-87), t(0), np.where(x > t(88), t(np.inf), value))

    def exp_minus_one(self, x):
        r, scale = self.reduced(x)
        return scale * self.short(r) + (scale - np.float32(1))

    def parts(self, x):
        mantissa, exponent = np.frexp(x)
        mantissa, exponent = mantissa * np.float32(2), exponent - 1
        upper = mantissa > np.float32(SQRT_2)
        m = np.where(upper, np.float32(0.5) * mantissa, mantissa)
        return (exponent + upper).astype(np.float32), m - np.float32(1), m + np.float32(1)

    def of_parts(self, x, e, s):
        t = np.float32
        z = s * s
        z2 = z * z
        one = t(1)
        series = z * ((one / t(3) + z * (one / t(5))) + z2 * (one / t(7) + z * (one / t(9))))
        value = e * self.ln2_high + (t(2) * s + (t(2) * s * series + e * self.ln2_low))
        return np.where(x < t(2.0**-126), t(-np.inf), value)

    def tanh(self, x):
        t = np.float32
        size = np.minimum(np.abs(x), t(10))
        biased = self.round + t(127)
        shifted = biased - size * (t(2) * t(LOG2_E))
        minus_n = shifted - biased
        w = (shifted.view(np.uint32) << np.uint32(23)).view(np.float32)
        r = size + minus_n * (t(0.5) * t(LN_2))
        r2 = r * r
        p = r + (r * r2) * (t(-0.33331084) + r2 * t(0.13102213))
        less, more = t(1) - w, t(1) + w
        return np.copysign((less + more * p) / (more + less * p), x)

    @staticmethod
    def polynomial(x, c):
        c = [np.float32(v) for v in c]
        return (c[0] + c[1] * x) + (c[2] + c[3] * x) * (x * x)

    # PPND7.
    center = ([3.3871327179, 50.434271938, 159.29113202, 59.109374720], [1.0, 17.895169469, 78.757757664, 67.187563600])
    near = ([1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103], [1.0, 0.73700164250, 0.12021132975, 0.0])
    far = ([6.6579051150, 3.0812263860, 0.42868294337, 0.017337203997], [1.0, 0.24197894225, 0.012258202635, 0.0])

    def normal_quantile(self, p):
        t = np.float32
        q = p - t(0.5)
        r = t(0.180625) - q * q
        center = q * self.polynomial(r, self.center[0]) / self.polynomial(r, self.center[1])
        radius = np.sqrt(-self.ln(np.where(p > t(0.5), t(1) - p, p)))
        near = self.rational(radius - t(1.6), self.near)
        size = np.where(radius <= t(5), near, self.rational(radius - t(5), self.far))
        return np.where(np.abs(q) <= t(0.425), center, np.where(p > t(0.5), size, -size))

    def sin_cos_quarter(self, x):
        t = np.float32
        z = x * x
        sine = t(1.582063e-4)
        for c in [-4.6812663e-3, 7.969258e-2, -6.459641e-1]:
            sine = sine * z + t(c)
        sine = x * (t(np.pi / 2) + (z * sine - t(4.371139e-8)))
        cosine = t(9.0362807e-4)
        for c in [-2.086007e-2, 2.536692e-1, -1.2337005]:
            cosine = cosine * z + t(c)
        return sine, t(1) + z * cosine

    tangent = 0.41421356
    arc = [-6.451719e-2, 1.0743668e-1, -1.426395e-1, 1.999954e-1, -3.333333e-1]

    def bits(self, key, index, turn, numbers=2):
        if numbers == 4:
            return [word.astype(np.uint32) for word in key.words(index, turn)]
        words = key.words((index >> u64(6)) << u64(5) | index & u64(31), turn)
        second = index >> u64(5) & u64(1) != 0
        return [np.where(second, words[2 + k], words[k]).astype(np.uint32) for k in (0, 1)]

    def uniform(self, bits):
        return ((bits >> np.uint32(1)).astype(np.float32) + np.float32(0.5)) * self.step

    def halves(self, bits):
        x = ((bits & np.uint32(0x3FFFFFFF)).astype(np.float32) + np.float32(0.5)) * self.step
        return bits >> np.uint32(31) != 0, bits >> np.uint32(30) & np.uint32(1) != 0, x

    def normal(self, bits):
        half = np.float32(0.5)
        size = self.normal_quantile(((bits & np.uint32(0x7FFFFFFF)).astype(np.float32) + half) * (half * self.step))
        return np.where(bits >> np.uint32(31) != 0, -size, size)


def by_turns(f, key, index, propose, part=0, numbers=2):
    """The proposals that are taken, each draw's own turns one after the other."""
    taken = None
    pending = np.arange(len(index))
    turn = 0
    while len(pending):
        made, takes = propose(f.bits(key, index[pending], part + turn, numbers))
        if taken is None:
            taken = [np.zeros(len(index), f.t) for _ in made]
        for all_of, new in zip(taken, made):
            all_of[pending] = new
        pending = pending[~takes]
        turn += 1
    return taken


def extra(f, key, index, part=0):
    return f.bits(key, index, part + PART - 1)[0]


def uniform(f, key, index, low, high):
    low, high = f.t(low), f.t(high)
    return low + (high - low) * f.uniform(f.bits(key, index, 0)[0])


def normal(f, key, index, loc, scale, part=0):
    return f.t(loc) + f.t(scale) * f.normal(f.bits(key, index, part)[0])


def exponential(f, key, index, scale):
    _, upper, p = f.halves(f.bits(key, index, 0)[0])
    return f.t(scale) * np.where(upper, -f.ln(p), f.minus_ln_of_rest(p))


def series(f, y):
    out = f.t(-1 / 12)
    for n in range(11, 3, -1):
        out = out * y + f.t((1 if n % 2 else -1) / n)
    return out


def gamma(f, key, index, shape, scale, part=0, ln=False):
    t = f.t
    shape, scale, one, three = t(shape), t(scale), t(1), t(3)
    size = (shape + one if shape < one else shape) - t(1 / 3)
    spread = one / (three * np.sqrt(size))

    def propose(bits):
        y = spread * f.normal(bits[0])
        above = one + y
        written = ((f.ln(above) - y) + t(0.5) * y * y) - t(1 / 3) * y * y * y
        square = y * y
        bracket = np.where(np.abs(y) < t(0.125), square * square * series(f, y), written)
        return [above], (above > 0) & (f.ln(f.uniform(bits[1])) <= three * size * bracket)

    (above,) = by_turns(f, key, index, propose, part)
    ln_uniform = f.ln(f.uniform(extra(f, key, index, part))) / shape
    if ln:
        out = f.ln(size) + three * f.ln(above)
        return out + ln_uniform if shape < one else out
    out = scale * (size * (above * above * above))
    return out * f.exp(ln_uniform) if shape < one else out


def beta(f, key, index, a, b):
    one = f.t(1)
    ln = f.t(a) < one or f.t(b) < one
    first, second = gamma(f, key, index, a, 1, 0, ln), gamma(f, key, index, b, 1, PART, ln)
    return one / (one + f.exp(second - first)) if ln else first / (first + second)


def student_t(f, key, index, df, loc, scale):
    t = f.t
    half = t(0.5) * t(df)
    ln = half < t(1)
    below = gamma(f, key, index, half, 1, 0, ln)
    above = normal(f, key, index, 0, 1, PART)
    root = f.exp(t(0.5) * (f.ln(np.full(1, half, t)) - below)) if ln else np.sqrt(half / below)
    return t(loc) + t(scale) * (above * root)


def on_circle(f, angle):
    rest = math.fmod(float(f.t(angle)), math.tau)
    rest = rest - math.tau if rest > math.pi else rest
    return f.t(rest + math.tau if rest < -math.pi else rest)


def turned(f, loc, angle):
    pi, tau = f.t(np.pi), f.t(math.tau)
    total = loc + angle
    total = np.where(total > pi, total - tau, total)
    total = np.where(total < -pi, total + tau, total)
    return np.clip(total, -pi, pi)


def envelope(f, c):
    t = f.t
    one, two, four = t(1), t(2), t(4)
    if c == np.inf:
        return t(0), t(0), t(0.5), t(0)
    if c > t(f.root_is_huge):
        root = np.sqrt(c)
        shrink = one / (two * root + one)
        tangent = root * shrink
        return shrink, shrink * shrink, root / (two * (root + one)), two * tangent * tangent
    double = two * c
    root = np.sqrt(one + double * double)
    tau = one + root
    mean = np.sqrt(two * tau)
    apart = (one + one / (root + double)) + mean
    shrink = apart / ((tau + double) + mean)
    return shrink, shrink * shrink, apart * apart / (four * (tau + mean)), double * shrink * shrink


def sides(f, bits):
    _, far, x = f.halves(bits)
    sine, cosine = f.sin_cos_quarter(x)
    return np.where(far, cosine, sine), np.where(far, sine, cosine)


def von_mises(f, key, index, loc, concentration):
    t = f.t
    shrink, square, least, growth = envelope(f, t(concentration))

    def propose(bits):
        above, below = sides(f, bits[0])
        y = least + growth * (above * above) / (below * below + square * (above * above))
        tangent = shrink * above
        takes = f.uniform(bits[1]) <= y * f.exp(t(1) - y)
        return [np.where(f.halves(bits[0])[0], -tangent, tangent), below], takes

    above, below = by_turns(f, key, index, propose)
    half = f.arctangent(np.abs(above), below)
    angle = half + half
    return turned(f, on_circle(f, loc), np.where(above < 0, -angle, angle))


def wrapped_normal(f, key, index, loc, scale):
    t = f.t
    bits = f.bits(key, index, 0)[0]
    if t(scale) >= t(9):
        negative, far, x = f.halves(bits)
        size = t(np.pi) * np.where(far, t(1) - x, x)
        angle = np.where(negative, -size, size)
    else:
        angle = t(scale) * f.normal(bits)
        turns = (angle * t(1 / math.tau) + t(f.round)) - t(f.round)
        angle = (angle - turns * t(6.28125)) - turns * t(1.935307179586477e-3)
    return turned(f, on_circle(f, loc), angle)


def von_mises_fisher(f, key, index, direction, concentration):
    t = f.t
    one, half = t(1), t(0.5)
    given = [float(t(v)) for v in direction]
    dimensions = len(given)
    largest = max(abs(v) for v in given)
    length = 0.0
    for v in given:
        length += (v / largest) * (v / largest)
    direction = [t(v / largest / math.sqrt(length)) for v in given]
    size = t(dimensions - 1)
    power = t(1e30) if dimensions == 2 else t(2) / (size - one)
    quotient = t(concentration) / size
    if quotient > t(f.root_is_huge):
        root = half / np.sqrt(quotient)
        square, halves = root * root, (half, half)
    else:
        double = quotient + quotient
        side = np.sqrt(one + double * double)
        square = one / (side + double)
        rest = double * (one + double / (side + one)) * square
        root, halves = np.sqrt(square), (half * (one + square), half * rest)

    def propose(bits):
        above, below = sides(f, bits[0])
        exponent = np.minimum(power * -f.ln(f.uniform(bits[1])), t(80))
        grown = f.exp_minus_one(exponent)
        left = one / (one + grown)
        s = np.sqrt(grown * left)
        both = half * left / (one + s)
        z, rest = both + s * (above * above), both + s * (below * below)
        scale = one / (rest + square * z)
        y = halves[0] * scale
        excess = halves[1] * (s * ((above - below) * (above + below))) * scale
        small = excess * excess * (excess * (t(1 / 3) + excess * series(f, excess)) - half)
        bracket = np.where(np.abs(excess) < t(0.125), small, f.ln(y) - excess)
        return [z, rest], f.ln(f.uniform(bits[2])) <= size * bracket

    z, rest = by_turns(f, key, index, propose, 0, 4)
    tangent = root * np.sqrt(z / rest)
    square, along = np.zeros(len(index), t), np.zeros(len(index), t)
    front = []
    for column, mean in enumerate(direction[:-1]):
        front.append(f.normal(f.bits(key, index, PART + column // 4, 4)[column % 4]))
        square = square + front[-1] * front[-1]
        along = along + mean * front[-1]
    share = one / (one + tangent * tangent)
    cosine = (one - tangent) * (one + tangent) * share
    scale = (tangent + tangent) * share / np.sqrt(square)
    pole = direction[-1]
    tilt = along / (one + abs(pole))
    row = [cosine * mean + scale * (tilt * mean - own) for mean, own in zip(direction, front)]
    row.append(cosine * pole + scale * (-along if pole < 0 else along))
    return np.stack(row, axis=1).ravel()


FAMILIES = {
    uniform: [[-2.0, 3.0]],
    normal: [[1.0, 2.0]],
    exponential: [[3.0]],
    gamma: [[0.3, 2.0], [1.0, 1.0], [1.5, 2.0], [40.0, 0.5], [1e6, 1.0]],
    beta: [[0.5, 2.0], [2.0, 3.0], [1.0, 1.5], [1.5, 1.25]],
    student_t: [[1.5, 0.5, 2.0], [8.0, 0.5, 2.0]],
    von_mises: [[0.0, 0.0], [0.5, 3.0], [9.0, 0.25], [-3.0, 1e5], [0.0, 2e16], [0.0, 2e34], [1.25, math.inf]],
    wrapped_normal: [[0.5, 0.25], [-3.0, 4.0], [1.0, 8.5], [0.25, 9.0], [1.0, 10.0], [0.5, 20.0]],
}
# Of 2, 3, 4, 5, 10 and 40 dimensions: one direction in the lower half.
DIRECTIONS = {2: [3.0, 4.0], 3: [1.0, -2.0, 2.0], 4: [1.0, 1.0, 1.0, -1.0], 5: [0.0, 0.0, 0.0, 0.0, 2.0]}
FISHERS = [(2, 4.0), (3, 0.0), (3, 5.0), (4, 20.0), (5, 1e5), (10, 2.5), (40, 300.0), (3, 1e36)]
# 1500 draws from the first on, and 300 on either side of 2^33: the blocks of float32 are half as many.
PLACES = [(0, 1500), (2**33 - 101, 300)]


def direction_of(dimensions):
    return DIRECTIONS.get(dimensions) or [1.0 + 0.5 * k for k in range(dimensions)]


def ramp(low, high, n):
    """n numbers in the middle of as many cells."""
    return low + (high - low) * ((np.arange(n) + 0.5) / n)


def functions(f):
    t = f.t
    n = 20_000
    end = 720.0 if t is np.float64 else 90.0
    everywhere, unit, half = ramp(-end, end, n).astype(t), ramp(0.0, 1.0, n).astype(t), ramp(0.0, 0.5, n).astype(t)
    small = f.exp(ramp(0.95 * -end, 0.0, n).astype(t))
    yield "exp", f.exp(everywhere)
    yield "ln", f.ln(np.concatenate([ramp(0.0, 4.0, n).astype(t), small, t(1) / small]))
    near = (np.full(5, SQRT_2, t).view(f.bits_type) + np.arange(-2, 3).astype(f.bits_type)).view(t)
    yield "ln beside a root", f.ln(np.concatenate([t(2.0**k) * near for k in range(-5, 6)]))
    yield "minus_ln_of_rest", f.minus_ln_of_rest(half)
    yield "exp_minus_one", f.exp_minus_one(np.concatenate([ramp(0.0, 80.0, n).astype(t), small]))
    yield "tanh", f.tanh(np.concatenate([ramp(-25.0, 25.0, n).astype(t), small]))
    yield "sigmoid", f.sigmoid(everywhere)
    yield "normal_quantile", f.normal_quantile(np.concatenate([unit[unit < 1], small[small < 1]]))
    yield "sine", f.sin_cos_quarter(half)[0]
    yield "cosine", f.sin_cos_quarter(half)[1]
    one = np.ones(n, t)
    both = np.concatenate([unit, one, unit]), np.concatenate([one, unit, one - unit])
    yield "arctangent", f.arctangent(*both)


def digest(values):
    little = np.ascontiguousarray(values)
    return hashlib.sha256(little.astype(little.dtype.newbyteorder("<")).tobytes()).hexdigest()


def row(f, name, values, parameters=(), first=0):
    some = values[:: max(1, len(values) // 4)][:4]
    return {
        "name": name,
        "parameters": [repr(float(p)) for p in parameters],
        "first": first,
        "type": f.name,
        "n": len(values),
        "some": [float(v) for v in some],
        "sha256": digest(values),
    }


def rows():
    key = Key(0x0123_4567_89AB_CDEF).fold_in(2**40 + 7)
    for f in [Double(), Single()]:
        for name, values in functions(f):
            assert values.dtype == f.t, name
            yield row(f, name, values)
        for first, n in PLACES:
            index = u64(first) + np.arange(n, dtype=np.uint64)
            families = [(family, parameters) for family, each in FAMILIES.items() for parameters in each]
            for family, parameters in families:
                draws = family(f, key, index, *parameters)
                assert draws.dtype == f.t, family
                yield row(f, family.__name__, draws, parameters, first)
            for dimensions, concentration in FISHERS:
                direction = direction_of(dimensions)
                draws = von_mises_fisher(f, key, index, direction, concentration)
                assert draws.dtype == f.t
                yield row(f, "von_mises_fisher", draws, direction + [concentration], first)
    # Streams: key the seed, counter (block, iteration, chain, purpose).
    for purpose in range(1, 13):
        words = philox(np.arange(3), 5, 2, purpose, 0x89ABCDEF, 0x01234567)
        pairs = [Double().uniform(words[k] << u64(32) | words[k + 1]) for k in (0, 2)]
        yield row(Double(), "stream", np.stack(pairs, axis=1).ravel(), [purpose])


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        lines = [" " + json.dumps(row) for row in rows()]
    (HERE / "draws.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
