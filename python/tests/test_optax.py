"""`melmo.optax`: values as the Rust library's, and the same steps as `melmo.torch`'s formulas."""

import subprocess
import sys

import numpy as np
import pytest

import melmo
from networks import agree_on_oracles, agree_on_penalties


def test_without_jax_a_sentence_says_so():
    code = "import sys; sys.modules['jax'] = None\nimport melmo\nimport melmo.optax"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "melmo.optax needs JAX and optax" in done.stderr


jax = pytest.importorskip("jax", reason="JAX IS NOT INSTALLED: melmo.optax WAS NOT TESTED")
optax = pytest.importorskip("optax", reason="OPTAX IS NOT INSTALLED: melmo.optax WAS NOT TESTED")
jax.config.update("jax_enable_x64", True)
jnp = jax.numpy
import melmo.optax as mo  # noqa: E402


def layers(seed=0):
    keys = jax.random.split(jax.random.PRNGKey(seed), 4)
    return {
        "one": {"kernel": jax.random.normal(keys[0], (8, 16)) * 0.3, "bias": jax.random.normal(keys[1], (16,)) * 0.1},
        "two": {"kernel": jax.random.normal(keys[2], (16, 2)) * 0.3, "bias": jnp.zeros(2)},
    }


def loss(params, batch):
    x, y = batch
    hidden = jnp.maximum(x @ params["one"]["kernel"] + params["one"]["bias"], 0)
    out = hidden @ params["two"]["kernel"] + params["two"]["bias"]
    return optax.softmax_cross_entropy_with_integer_labels(out, y).mean()


def data(count=64):
    x = np.random.default_rng(0).normal(size=(count, 8))
    return jnp.asarray(x), jnp.asarray((x[:, 0] * x[:, 1] > 0).astype(int))


def test_penalties_are_those_of_the_library():
    agree_on_penalties(jnp, jnp.asarray, jax.jit)


def test_oracles_are_those_of_the_library():
    agree_on_oracles(jnp, jnp.asarray, jax.jit)


def test_a_full_batch_run_is_the_library_s_melmo():
    A, b = np.random.default_rng(0).normal(size=(20, 6)), np.arange(20.0)
    done = melmo.minimize(melmo.loss.LeastSquares(A, b), melmo.penalty.L1(0.5), geometry="l2", method="melmo", max_iter=30, x0=np.ones(6))
    step = mo.melmo(
        lambda k: (k + 1.0) ** (-7 / 12), alpha=1.0, norm="l2", radius=1.0, penalty=mo.penalty("l1", 0.5), beta=mo.power(1.0, 1 / 3)
    )
    x = jnp.ones(6)
    state = step.init(x)
    update = jax.jit(step.update)
    for _ in range(30):
        updates, state = update(jnp.asarray(A.T) @ (jnp.asarray(A) @ x - b), state, x)
        x = optax.apply_updates(x, updates)
    assert np.abs(np.asarray(x) - done.x).max() < 1e-10


@pytest.mark.parametrize("momentum", ["heavy-ball", "nesterov", "storm"])
def test_every_momentum_trains_under_jit(momentum):
    rule = mo.penalty("mcp", 1e-3, mu=mo.geometric(2000.0, 500.0, 1, 30), on="outputs", weight=mo.ramp(0.0, 1.0, 0, 20))
    step = mo.melmo(0.03, alpha=0.2, momentum=momentum, penalty=rule, beta=2.0, tied=True)
    params, batch = layers(), data()
    state = step.init(params)

    @jax.jit
    def advance(params, state):
        value, grads = jax.value_and_grad(loss)(params, batch)
        more = {"previous_gradient": jax.grad(loss)(state.before, batch)} if momentum == "storm" else {}
        updates, state = step.update(grads, state, params, **more)
        return optax.apply_updates(params, updates), state, value

    values = []
    for _ in range(40):
        params, state, value = advance(params, state)
        values.append(float(value))
    assert values[-1] < 0.5 * values[0] and int(state.failed) == 0 and int(state.k) == 40


def test_it_is_the_same_step_as_in_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: the two were not compared")
    import melmo.torch as mt

    params, grads = layers(), layers(1)
    options = {"beta": 0.2, "tied": True, "ball": 3.0}
    step = mo.melmo(0.1, penalty=mo.penalty("scad", 0.05, a=3.0, on="filters"), **options)
    updates, _ = jax.jit(step.update)(grads, step.init(params), params)
    for name, layer in optax.apply_updates(params, updates).items():
        own = [torch.nn.Parameter(torch.tensor(np.asarray(params[name][part]).T.copy())) for part in ("kernel", "bias")]
        for p, part in zip(own, ("kernel", "bias")):
            p.grad = torch.tensor(np.asarray(grads[name][part]).T.copy())
        mt.Melmo(own, lr=0.1, penalty=mt.penalty("scad", 0.05, a=3.0, on="filters"), **options).step()
        for p, part in zip(own, ("kernel", "bias")):
            assert np.abs(p.detach().numpy().T - np.asarray(layer[part])).max() < 1e-12


def test_finalize_gives_zeros_to_whole_units_and_the_certificate_its_numbers():
    params, batch = layers(), data()
    rules = mo.Rules(penalty=mo.penalty("l1", 0.05, on="outputs"), beta=4.0, tied=True, norm="l2", radius=1.0, ball=5.0)
    z = jax.jit(lambda params: mo.finalize(params, rules))(params)
    dead = np.asarray(z["one"]["bias"] == 0)
    assert 0 < dead.sum() < 16 and (np.asarray(z["one"]["kernel"])[:, dead] == 0).all() and np.asarray(z["one"]["kernel"])[:, ~dead].all()
    found = mo.certificate(params, [(batch[0][:24], batch[1][:24]), (batch[0][24:], batch[1][24:])], loss, rules)
    slopes = jax.tree.map(lambda x, y: (x - y) / 4.0, params, z)
    phi = jax.tree.map(jnp.add, jax.grad(loss)(params, batch), slopes)
    sizes = [float(jnp.linalg.norm(x)) for x in jax.tree.leaves(phi)]
    inner = sum(float((a * b).sum()) for a, b in zip(jax.tree.leaves(phi), jax.tree.leaves(params)))
    assert found.samples == 64 and np.isclose(found.dual_norm, sum(sizes)) and np.isclose(found.loss, float(loss(params, batch)))
    assert np.isclose(found.frank_wolfe_gap, inner + 5.0 * sum(sizes))
    at_z = jax.tree.map(jnp.add, jax.grad(loss)(z, batch), slopes)
    assert np.isclose(found.stationarity, np.sqrt(sum(float((x**2).sum()) for x in jax.tree.leaves(at_z))))
    assert found.smoothed < found.loss + found.penalty


def test_bad_options_are_refused():
    for options, said in [({"norm": "best"}, "norm"), ({"ball": 0.0}, "ball"), ({"tied": True}, "tied"), ({"momentum": "none"}, "momentum")]:
        with pytest.raises(ValueError, match=said):
            mo.melmo(**options)
    step = mo.melmo(penalty=mo.penalty("mcp", 1.0, mu=1.0), beta=0.6)
    with pytest.raises(ValueError, match="1/.2ρ. = 0.5"):
        step.init(layers())
    step = mo.melmo()
    with pytest.raises(ValueError, match="params"):
        step.update(layers(), step.init(layers()))
