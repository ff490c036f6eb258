"""What peers share that do a kind of work: a result is handed over beside each time, and the runner holds it to the truth.

`Work.prepare` returns a function of a seed, or of nothing where nothing is random.
"""

import time

import protocol

# The most rows of a result that are handed over: of more, every k-th.
MOST = 1 << 16
# A time is that of so many calls that they last a millisecond.
SHORTEST = 1e-3


class Work:
    """A kind of work whose `prepare` returns what is called with the seed of a repetition."""

    packages, settings = (), ""

    def __init__(self, request):
        self.method, self.n = request["method"], request["problem"]["n"]
        if self.method.get("copies") and request["device"] == "cpu":
            raise protocol.Cannot("the CPU needs no copies")
        self.data = request.get("data")
        self.calls = 1
        began = time.perf_counter()
        self.call = self.prepare(request)
        self.run(request["seed"])
        self.facts = protocol.facts(request, self.packages, time.perf_counter() - began, self.settings, self.gpu())
        while self.calls * self.run(request["seed"]) < SHORTEST:
            self.calls *= 2

    def gpu(self):
        return ""

    def begin(self, seed):
        """What a repetition needs before the clock runs."""
        return seed

    def finish(self, result):
        """Waits until the result is there."""

    def run(self, seed):
        given = self.begin(seed)
        began = time.perf_counter()
        for _ in range(self.calls):
            result = self.call(given)
        self.finish(result)
        seconds = time.perf_counter() - began
        self.result = result
        return seconds / self.calls

    def draws(self):
        import numpy as np

        rows = np.asarray(self.result, dtype=np.float64)
        # Draws of vectors, and statistics of parameters, are rows; all else is numbers in their order.
        rows = rows.reshape(-1, rows.shape[-1] if self.rows else 1)
        step = max(1, -(-len(rows) // MOST))
        return protocol.Draws(rows[None, ::step])

    rows = False


def element(index, step):
    """An element of an input: the same in every framework."""
    import numpy as np

    return np.fmod(step * index, 1.0) + 1.5


def inputs(n, dtype):
    """Two vectors, and two square matrices of as many elements as make a square."""
    import numpy as np

    x, y = (element(np.arange(n, dtype=np.float64), step).astype(dtype) for step in (0.37, -0.725))
    side = int(n**0.5)
    side += (side + 1) ** 2 <= n
    a, b = (vector[: side * side].reshape(side, side) for vector in (x, y))
    return x, y, a, b


def operations(np, dtype, n):
    """The operations on arrays by name, in the words of NumPy, with the inputs that each takes."""
    step = dtype(0.5)
    return {
        "zeros": (lambda: np.zeros(n, dtype), ""),
        "arange": (lambda: np.arange(n, dtype=dtype) * step, ""),
        "add": (lambda x, y: x + y, "xy"),
        "axpy": (lambda x, y: dtype(1.5) * x + y, "xy"),
        "div": (lambda x, y: x / y, "xy"),
        "scale": (lambda x: dtype(1.5) * x, "x"),
        "exp": (np.exp, "x"),
        "ln": (np.log, "x"),
        "sqrt": (np.sqrt, "x"),
        "tanh": (np.tanh, "x"),
        "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), "x"),
        "relu": (lambda x: np.maximum(x, 0), "x"),
        "clip": (lambda x: np.clip(x, dtype(1.6), dtype(2.0)), "x"),
        "select": (lambda x, y: np.where(x != 0, x, y), "xy"),
        "to-f16": (lambda x: x.astype(np.float16), "x"),
        "sum": (lambda x: x.sum(), "x"),
        "max": (lambda x: x.max(), "x"),
        "dot": (lambda x, y: x @ y, "xy"),
        "norm": (np.linalg.norm, "x"),
        "std": (lambda x: x.std(), "x"),
        "add-row": (lambda a: a + a[0], "a"),
        "add-column": (lambda a: a + a[:, :1], "a"),
        "outer": (lambda a: np.outer(a[0], a[0]), "a"),
        "transpose": (lambda a: a.T.copy(), "a"),
        "concatenate": (lambda a: np.concatenate([a, a], axis=1), "a"),
        "sum-axis-0": (lambda a: a.sum(axis=0), "a"),
        "sum-axis-1": (lambda a: a.sum(axis=1), "a"),
        "max-axis-0": (lambda a: a.max(axis=0), "a"),
        "max-axis-1": (lambda a: a.max(axis=1), "a"),
        "std-axis-0": (lambda a: a.std(axis=0), "a"),
        "std-axis-1": (lambda a: a.std(axis=1), "a"),
        "matmul": (lambda a, b: a @ b, "ab"),
    }


def chosen(np, request):
    """The operation of a request, and the names of its inputs."""
    dtype = np.float32 if request["precision"] == "f32" else np.float64
    known = operations(np, dtype, request["problem"]["n"])
    if request["method"]["name"] not in known:
        raise protocol.Cannot(f"no operation {request['method']['name']} here")
    return known[request["method"]["name"]]
