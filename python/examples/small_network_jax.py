# %% [markdown]
# # A network that ends small, in JAX
#
# `melmo.optax.melmo` is an optax transformation: spectral steps with a penalty on the outputs of each layer. `finalize` gives exact zeros, and the smaller network is
# the one without those columns. The data are scikit-learn's handwritten digits: seconds on a CPU.

# %%
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax
from sklearn.datasets import load_digits

import melmo.optax as mo

digits = load_digits()
rng = np.random.default_rng(0)
order = rng.permutation(len(digits.target))
x, y = jnp.asarray(digits.data[order] / 8 - 1, jnp.float32), jnp.asarray(digits.target[order])
train, test = slice(0, 1400), slice(1400, None)


def layers():
    keys = jax.random.split(jax.random.PRNGKey(0), 2)
    hidden = {"kernel": jax.random.normal(keys[0], (64, 256)) / 8, "bias": jnp.zeros(256)}
    return {"hidden": hidden, "out": {"kernel": jax.random.normal(keys[1], (256, 10)) / 16, "bias": jnp.zeros(10)}}


def outputs(params, x):
    hidden = jax.nn.relu(x @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    return hidden @ params["out"]["kernel"] + params["out"]["bias"]


def loss(params, batch):
    return optax.softmax_cross_entropy_with_integer_labels(outputs(params, batch[0]), batch[1]).mean()


def accuracy(params):
    return 100 * float((outputs(params, x[test]).argmax(1) == y[test]).mean())


# %% [markdown]
# The hidden layer has a penalty on its outputs (kernel and bias of a unit are tied), the last layer has none: rules that differ are `optax.partition`.


# %%
def trained(lam, steps=300):
    ramp = mo.ramp(0.0, 1.0, 0, 100)
    rules = mo.Rules(penalty=mo.penalty("l1", lam, on="outputs", weight=ramp), beta=10.0, tied=True)
    rate = optax.linear_schedule(0.02, 0.0, steps)
    step = optax.partition(
        {"hidden": mo.melmo(rate, momentum="nesterov", rules=rules), "out": mo.melmo(rate, momentum="nesterov")},
        {"hidden": "hidden", "out": "out"},
    )
    params = layers()
    state = step.init(params)

    @jax.jit
    def advance(params, state, rows):
        grads = jax.grad(loss)(params, (x[rows], y[rows]))
        updates, state = step.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    for rows in rng.integers(0, 1400, (steps, 64)):
        params, state = advance(params, state, rows)
    return {**params, "hidden": mo.finalize(params["hidden"], rules, steps)}, rules


def shrunk(params):
    """Without the units that are zero."""
    live = np.asarray(jnp.abs(params["hidden"]["kernel"]).sum(0) + jnp.abs(params["hidden"]["bias"]) > 0)
    hidden = {"kernel": params["hidden"]["kernel"][:, live], "bias": params["hidden"]["bias"][live]}
    return {"hidden": hidden, "out": {"kernel": params["out"]["kernel"][live], "bias": params["out"]["bias"]}}


counts, scores = [], []
for lam in (0.0, 1e-4, 3e-4, 1e-3):
    params, rules = trained(lam)
    small = shrunk(params)
    assert jnp.allclose(outputs(params, x[:50]), outputs(small, x[:50]), atol=1e-3)
    counts.append(small["hidden"]["bias"].size)
    scores.append(accuracy(small))
    print(f"λ = {lam:g}: {counts[-1]:3d} of 256 units left, {scores[-1]:.1f} % right")

# %% [markdown]
# A certificate is made by full passes, here of the hidden layer's part with the rest held fixed.

# %%
batches = [(x[i : i + 200], y[i : i + 200]) for i in range(0, 1400, 200)]
numbers = mo.certificate(params["hidden"], batches, lambda hidden, batch: loss({**params, "hidden": hidden}, batch), rules, 300)
print(f"loss {numbers.loss:.4f} over {numbers.samples} digits, dual norm {numbers.dual_norm:.3f}, ‖x − z‖ {numbers.prox_gap:.2e}")

# %%
figure, axis = plt.subplots(figsize=(6, 3.5))
axis.semilogx(counts, scores, "o-")
axis.set_xlabel("hidden units left")
axis.set_ylabel("digits read right, %")
figure.tight_layout()
Path("pictures").mkdir(exist_ok=True)
figure.savefig("pictures/small_network_jax.png", dpi=80)
