"""What the peers on JAX share: a function of a key, compiled whole. Reads the first request when it is imported.

JAX is fast where nothing is left to Python: a run is one compiled function, which makes its random numbers, too, and no
more is compiled, traced or placed while it is timed.

The pinned jaxlib is for CPUs. Where there is a GPU, `.venv/bin/pip install "jax[cuda13]"` of the same version adds it.
"""

import time
from functools import partial

import protocol

first = protocol.begin()

import jax  # noqa: E402  (after the threads are set)

jax.config.update("jax_enable_x64", first["precision"] == "f64")

import jax.numpy as jnp  # noqa: E402
from jax.sharding import Mesh, PartitionSpec  # noqa: E402


class Compiled:
    """A case whose `prepare` returns a function of a key."""

    can, packages, settings = {}, ("jax", "jaxlib"), ""

    def __init__(self, request):
        try:
            device = jax.devices()[0]
        except (RuntimeError, AssertionError):  # That is how JAX says it, by version.
            raise protocol.Cannot(f"JAX sees no {request['device']}") from None
        self.method, self.program = protocol.check(request, self.can), request["program"]
        self.data = {name: self.placed(value) for name, value in protocol.data(request).items()}
        if "chains" in self.method:
            one = f"one after the other on each of {jax.device_count()} devices"
            self.settings = "chains " + (one if device.platform == "cpu" else "in one batch")
        function = self.prepare()
        began = time.perf_counter()
        self.compiled = jax.jit(function).lower(jax.random.key(0)).compile()
        seconds = time.perf_counter() - began
        self.run(request["seed"])
        settings = ", ".join(filter(None, ["one compiled function", self.settings]))
        gpu = "" if device.platform == "cpu" else device.device_kind
        self.facts = protocol.facts(request, self.packages, seconds, settings, gpu)

    @staticmethod
    def placed(value):
        if isinstance(value, (int, float)):
            return value
        return jnp.asarray(value, None if value.dtype.kind in "iu" else float)

    def run(self, seed):
        key = jax.block_until_ready(jax.random.key(seed))
        began = time.perf_counter()
        self.result = jax.block_until_ready(self.compiled(key))
        return time.perf_counter() - began


def each(chain, starts):
    """`chain` of each start (leaves with an axis of chains).

    A GPU takes all in one batch. On each thread of a CPU they come one after the other: batches of matrix products
    and of trees of unequal depth are slower there.
    """
    if jax.default_backend() != "cpu":
        return jax.vmap(chain)(starts)
    chains = len(jax.tree.leaves(starts)[0])
    devices = max(k for k in range(1, jax.device_count() + 1) if chains % k == 0)
    if devices == 1:
        return jax.lax.map(chain, starts)
    mesh = Mesh(jax.devices()[:devices], ("device",))
    shard = {"in_specs": PartitionSpec("device"), "out_specs": PartitionSpec("device"), "check_vma": False}
    return jax.shard_map(partial(jax.lax.map, chain), mesh=mesh, **shard)(starts)
