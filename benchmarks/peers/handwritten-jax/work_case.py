"""Arrays and draws by JAX: each operation is one compiled function of its inputs, or of a key."""

import jax
import jax.numpy as jnp
import numpy as np
import protocol
from work import Work, chosen, inputs


def von_mises(key, concentration, n):
    """Best and Fisher's loop over whole arrays, as TFP and NumPyro have it: JAX itself has no such draws."""
    tau = 1.0 + jnp.sqrt(1.0 + 4.0 * concentration**2)
    rho = (tau - jnp.sqrt(2.0 * tau)) / (2.0 * concentration)
    s = (1.0 + rho**2) / (2.0 * rho)

    def body(state):
        key, done, w = state
        key, first, second = jax.random.split(key, 3)
        z = jnp.cos(jnp.pi * jax.random.uniform(first, (n,)))
        proposed = (1.0 + s * z) / (s + z)
        y = concentration * (s - proposed)
        u = jax.random.uniform(second, (n,))
        accept = (y * (2.0 - y) - u > 0) | (jnp.log(y / u) + 1.0 - y >= 0)
        return key, done | accept, jnp.where(done, w, proposed)

    key, sign = jax.random.split(key)
    w = jax.lax.while_loop(lambda state: ~state[1].all(), body, (key, jnp.zeros(n, bool), jnp.zeros(n)))[2]
    return jnp.sign(jax.random.uniform(sign, (n,)) - 0.5) * jnp.arccos(jnp.clip(w, -1, 1))


class JaxWork(Work):
    packages, settings = ("jax", "jaxlib"), "one compiled function"

    def __init__(self, request):
        try:
            self.device = jax.devices()[0]
        except (RuntimeError, AssertionError):  # That is how JAX says it, by version.
            raise protocol.Cannot(f"JAX sees no {request['device']}") from None
        # Products of f32 are not to be those of fewer bits on a GPU.
        jax.config.update("jax_default_matmul_precision", "highest")
        super().__init__(request)

    def gpu(self):
        return "" if self.device.platform == "cpu" else self.device.device_kind

    def finish(self, result):
        jax.block_until_ready(result)

    def begin(self, seed):
        return jax.block_until_ready(jax.random.key(seed))


class Arrays(JaxWork):
    def prepare(self, request):
        function, takes = chosen(jnp, request)
        named = dict(zip("xyab", inputs(self.n, np.float32 if request["precision"] == "f32" else np.float64)))
        host = [named[name] for name in takes]
        compiled = jax.jit(function)
        if self.method.get("copies"):
            return lambda _: np.asarray(compiled(*map(jnp.asarray, host)))
        taken = [jnp.asarray(one) for one in host]
        return lambda _: compiled(*taken)


class Random(JaxWork):
    def prepare(self, request):
        method, n = self.method, self.n
        known = {
            "uniform": lambda key: jax.random.uniform(key, (n,)),
            "normal": lambda key: jax.random.normal(key, (n,)),
            "exponential": lambda key: jax.random.exponential(key, (n,)),
            "gamma": lambda key: jax.random.gamma(key, method["shape"], (n,)),
            "beta": lambda key: jax.random.beta(key, method["a"], method["b"], (n,)),
            "student-t": lambda key: jax.random.t(key, method["df"], (n,)),
            "von-mises": lambda key: von_mises(key, method["concentration"], n),
        }
        if method["name"] not in known:
            raise protocol.Cannot(f"JAX has no {method['name']}")
        compiled = jax.jit(known[method["name"]])
        return (lambda key: np.asarray(compiled(key))) if method.get("copies") else compiled
