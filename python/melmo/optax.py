"""Training networks that end small: stochastic MELMO as a gradient transformation for JAX.

>>> import jax.numpy as jnp, melmo.optax, optax
>>> transformation = melmo.optax.melmo(0.02, penalty=melmo.optax.penalty("l1", 1e-3, on="outputs"))
>>> params = {"dense": {"kernel": jnp.ones((8, 16)), "bias": jnp.zeros(16)}}
>>> updates, state = transformation.update(params, transformation.init(params), params)
>>> params = optax.apply_updates(params, updates)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

try:
    import jax
    import jax.numpy as jnp
    import optax
except ImportError as error:
    raise ImportError("melmo.optax needs JAX and optax: pip install jax optax") from error

from melmo._networks import norms, schedules
from melmo._networks.certificate import Certificate as Certificate
from melmo._networks.penalties import penalty as penalty
from melmo._networks.schedules import geometric as geometric
from melmo._networks.schedules import horizon as horizon
from melmo._networks.schedules import power as power
from melmo._networks.schedules import ramp as ramp
from melmo._networks.units import Family

__all__ = ["Certificate", "Rules", "State", "certificate", "finalize", "geometric", "horizon", "melmo", "penalty", "power", "ramp"]


@dataclass(frozen=True)
class Rules:
    """The norm, the penalty and the ball of some parameters: what a transformation, `finalize` and `certificate` have to agree on.

    As in `melmo.torch.Melmo`. JAX's layers keep outputs on the last axis of a kernel (`outputs_last`); ``tied`` makes all parameters of
    one innermost dict (a layer's kernel, bias and scale) one family of units.
    """

    norm: str = "auto"
    radius: Any = "muon"
    penalty: dict[str, Any] | None = None
    beta: Any = 1.0
    tied: bool = False
    ball: float | None = None
    outputs_last: bool = True

    def __post_init__(self) -> None:
        schedules.checked("beta", self.beta)
        norms.chosen(self.norm, (2, 2))
        norms.radius(self.radius, "l2", (2, 2))
        if self.ball is not None and not self.ball > 0.0:
            raise ValueError(f"ball: expected r > 0, got {self.ball}")
        if self.tied and (self.penalty is None or self.penalty["on"] in ("entries", "singular-values")):
            raise ValueError("tied: units are shared between parameters only under a penalty on rows, columns or heads")


class State(NamedTuple):
    """What the transformation remembers."""

    #: Steps taken.
    k: Any
    #: The averaged gradient.
    m: Any
    #: The point before, for STORM; else None.
    before: Any
    #: Polar factors that failed their check, so far; φ/‖φ‖_F was used in their place.
    failed: Any


def melmo(
    learning_rate: Any = 0.02, *, alpha: Any = 0.05, momentum: str = "heavy-ball", rules: Rules | None = None, **options: Any
) -> Any:
    """m ← (1−α)m + α∇f_B(x), φ = m + ∇g_β(x), update γ·lmo(φ): an optax transformation.

    `learning_rate` is a number or an optax schedule; `options` are those of `Rules`. With ``momentum="storm"`` the update takes
    ``previous_gradient=``, the gradient of the same batch at ``state.before``. Rules that differ between layers are several
    transformations in `optax.partition`.
    """
    rules = rules or Rules(**options)
    schedules.checked("alpha", alpha)
    if momentum not in ("heavy-ball", "nesterov", "storm"):
        raise ValueError(f"momentum: {momentum!r} is none of heavy-ball, nesterov, storm")

    def init(params: Any) -> State:
        _check_beta(rules, params)
        before = jax.tree.map(jnp.asarray, params) if momentum == "storm" else None
        return State(jnp.zeros((), jnp.int32), jax.tree.map(jnp.zeros_like, params), before, jnp.zeros((), jnp.int32))

    def update(grads: Any, state: State, params: Any = None, *, previous_gradient: Any = None, **_: Any) -> Any:
        if params is None:
            raise ValueError("melmo.optax: update needs params")
        if momentum == "storm" and previous_gradient is None:
            raise ValueError("momentum='storm': give update(…, previous_gradient=the gradient of this batch at state.before)")
        k = state.k + 1
        a = schedules.averaging(alpha, k, jnp)
        if momentum == "storm":
            m = jax.tree.map(lambda m, g, b: g + (1 - a) * (m - b), state.m, grads, previous_gradient)
        else:
            m = jax.tree.map(lambda m, g: m + a * (g - m), state.m, grads)
        seen = jax.tree.map(lambda m, g: m + a * (g - m), m, grads) if momentum == "nesterov" else m
        phi = jax.tree.map(jnp.add, seen, _slopes(rules, params, k))
        gamma = learning_rate(state.k) if callable(learning_rate) else learning_rate
        updates, failed = _moves(rules, phi, params, gamma)
        return updates, State(k, m, params if momentum == "storm" else None, state.failed + failed)

    return optax.GradientTransformationExtraArgs(init, update)


def finalize(params: Any, rules: Rules, k: int = 1) -> Any:
    """prox_{βg}(x): exact zeros."""
    return _over_families(rules, params, k, lambda family: family.prox())


def certificate(params: Any, batches: Iterable[Any], loss: Callable[[Any, Any], Any], rules: Rules, k: int = 1) -> Certificate:
    """What full passes over the data prove; `loss(params, batch)` is the mean over a batch, whose first leaf has as many rows."""
    batches = list(batches)
    both = jax.jit(jax.value_and_grad(loss))
    f, gradient, samples = _full(params, batches, both)
    z, slopes = finalize(params, rules, k), _slopes(rules, params, k)
    at_z = _full(z, batches, both)[1]
    families = [_family(rules, [x for _, x in parts], k) for parts in _families(rules, params)] if rules.penalty else []
    phi = jax.tree.map(jnp.add, gradient, slopes)
    dual, gap = 0.0, None if rules.ball is None else 0.0
    for x, part in zip(jax.tree.leaves(params), jax.tree.leaves(phi), strict=True):
        x, part = _turned(rules, x), _turned(rules, part)
        norm = norms.chosen(rules.norm, x.shape)
        size = float(norms.dual_norm(jnp, norm, part.reshape(norms.matrix_shape(x.shape))))
        size *= norms.radius(rules.radius, norm, x.shape)
        dual += size
        if rules.ball is not None:
            gap = (gap or 0.0) + float((x * part).sum()) + rules.ball * size
    return Certificate(
        loss=f,
        penalty=sum(float(g.value(g.s)) for g in families),
        smoothed=f + sum(float(g.envelope()) for g in families),
        dual_norm=dual,
        prox_gap=_length(jax.tree.map(jnp.subtract, params, z)),
        stationarity=_length(jax.tree.map(jnp.add, at_z, slopes)),
        frank_wolfe_gap=gap,
        samples=samples,
    )


def _turned(rules: Rules, x: Any) -> Any:
    """Outputs first."""
    return jnp.moveaxis(x, -1, 0) if rules.outputs_last and x.ndim > 1 else x


def _back(rules: Rules, x: Any) -> Any:
    return jnp.moveaxis(x, 0, -1) if rules.outputs_last and x.ndim > 1 else x


def _moves(rules: Rules, phi: Any, params: Any, gamma: Any) -> tuple[Any, Any]:
    """γ·lmo(φ), minus (γ/r)x in a ball; matrices of one shape together."""
    leaves, tree = jax.tree.flatten(phi)
    turned = [_turned(rules, leaf) for leaf in leaves]
    stacks: dict[Any, list[int]] = {}
    for index, x in enumerate(turned):
        key = (norms.chosen(rules.norm, x.shape), norms.matrix_shape(x.shape), x.dtype)
        stacks.setdefault(key, []).append(index)
    moves, failed = list(turned), jnp.zeros((), jnp.int32)
    for (norm, shape, _), indices in stacks.items():
        work = jnp.bfloat16 if jax.default_backend() in ("gpu", "tpu") else None
        found, wrong = norms.direction(jnp, norm, jnp.stack([turned[i].reshape(shape) for i in indices]), work)
        failed = failed if wrong is None else failed + wrong.sum().astype(jnp.int32)
        for d, i in zip(found, indices, strict=True):
            length = -gamma * norms.radius(rules.radius, norm, turned[i].shape)
            moves[i] = _back(rules, length * d.reshape(turned[i].shape))
    moved = jax.tree.unflatten(tree, moves)
    if rules.ball is not None:
        moved = jax.tree.map(lambda d, x: d - jnp.minimum(gamma / rules.ball, 1.0) * x, moved, params)
    return jax.tree.map(lambda d, x: d.astype(x.dtype), moved, params), failed


def _families(rules: Rules, params: Any) -> list[list[tuple[Any, Any]]]:
    """(path, x) of the parameters that share their units: those of one innermost dict, or each alone."""
    paths = jax.tree_util.tree_flatten_with_path(params)[0]
    made: dict[Any, list[tuple[Any, Any]]] = {}
    for path, x in paths:
        made.setdefault(tuple(path[:-1]) if rules.tied else tuple(path), []).append((tuple(path), _turned(rules, x)))
    # The matrix first: units lie along its outputs.
    return [sorted(parts, key=lambda part: -part[1].ndim) for parts in made.values()]


def _family(rules: Rules, xs: list[Any], k: Any) -> Family:
    assert rules.penalty is not None
    return Family(jnp, xs, rules.penalty, schedules.at(rules.beta, k, jnp), k)


def _check_beta(rules: Rules, params: Any) -> None:
    """β ≤ 1/(2ρ) at the first step, or the envelope is none."""
    for parts in _families(rules, params) if rules.penalty else []:
        _family(rules, [x for _, x in parts], 1).check_beta()


def _over_families(rules: Rules, params: Any, k: Any, of: Callable[[Family], list[Any]]) -> Any:
    """A tree like params, made family by family."""
    made: dict[Any, Any] = {}
    for parts in _families(rules, params):
        for (path, _), x in zip(parts, of(_family(rules, [x for _, x in parts], k)), strict=True):
            made[path] = _back(rules, x)
    paths, tree = jax.tree_util.tree_flatten_with_path(params)
    return jax.tree.unflatten(tree, [made[tuple(path)] for path, _ in paths])


def _slopes(rules: Rules, params: Any, k: Any) -> Any:
    """∇g_β(x); 0 without a penalty."""
    if rules.penalty is None:
        return jax.tree.map(jnp.zeros_like, params)
    return _over_families(rules, params, k, lambda family: family.gradient())


def _full(params: Any, batches: list[Any], both: Callable[[Any, Any], Any]) -> tuple[float, Any, int]:
    total, samples = 0.0, 0
    gradient = jax.tree.map(jnp.zeros_like, params)
    for batch in batches:
        count = len(jax.tree.leaves(batch)[0])
        value, part = both(params, batch)
        gradient = jax.tree.map(lambda a, b, n=count: a + n * b, gradient, part)
        total, samples = total + count * float(value), samples + count
    if samples == 0:
        raise ValueError("certificate: there were no samples")
    return total / samples, jax.tree.map(lambda a: a / samples, gradient), samples


def _length(tree: Any) -> float:
    return float(sum(float((x**2).sum()) for x in jax.tree.leaves(tree)) ** 0.5)
