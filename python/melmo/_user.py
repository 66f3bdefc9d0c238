"""A user's own terms, between their shapes and Rust's flat arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from melmo import _melmo
from melmo._arrays import Array, Layout, Packing, dtype_of, real_array
from melmo._penalty import Penalty


class UserLoss:
    """f: ``fun(x) -> (value, gradient)``."""

    def __init__(self, fun: Callable[..., Any], packing: Packing):
        self.fun = fun
        self.packing = packing

    def __call__(self, flat: Array) -> tuple[float, Array]:
        answer = self.fun(self.packing.unpack(flat))
        try:
            value, gradient = answer
        except (TypeError, ValueError):
            raise TypeError(f"f: expected fun(x) to return (value, gradient), got {type(answer).__name__}") from None
        return float(value), self.packing.pack("the gradient of f", gradient)

    def build(self) -> _melmo.Loss:
        """For Rust."""
        lipschitz = getattr(self.fun, "lipschitz", None)
        return _melmo.Loss.own(self.packing.precision, self, self.packing.layout, lipschitz)


class UserPenalty:
    """g: ``value(u)`` (or a call) and ``prox(u, beta)``; ``subgradient(u)``, ``weak_convexity``, ``lipschitz`` where known."""

    def __init__(self, penalty: Any, packing: Packing):
        self.penalty = penalty
        self.packing = packing
        if not hasattr(penalty, "prox"):
            raise TypeError(f"g: {type(penalty).__name__} has no prox(u, beta)")
        self.of = getattr(penalty, "value", None) or penalty
        if not callable(self.of):
            raise TypeError(f"g: {type(penalty).__name__} has no value(u)")

    def value(self, flat: Array) -> float:
        """g(u)."""
        return float(self.of(self.packing.unpack(flat)))

    def prox(self, flat: Array, beta: float) -> Array:
        """prox_{βg}(u)."""
        return self.packing.pack("the prox of g", self.penalty.prox(self.packing.unpack(flat), beta))

    def subgradient(self, flat: Array) -> Array:
        """An element of ∂g(u)."""
        if not hasattr(self.penalty, "subgradient"):
            raise TypeError(f"g: {type(self.penalty).__name__} has no subgradient(u), which this method needs")
        return self.packing.pack("the subgradient of g", self.penalty.subgradient(self.packing.unpack(flat)))

    def build(self) -> _melmo.Penalty:
        """For Rust."""
        rho = getattr(self.penalty, "weak_convexity", 0.0)
        rho = float(rho() if callable(rho) else rho)
        lipschitz = getattr(self.penalty, "lipschitz", None)
        return _melmo.Penalty.own(self.packing.precision, self, self.packing.size, rho, lipschitz)


class UserOperator:
    """T: ``matvec(x)``, ``rmatvec(y)`` and ``shape``; ``norm_bound`` where known."""

    def __init__(self, operator: Any, precision: str):
        self.operator = operator
        self.dtype = dtype_of(precision)
        self.precision = precision
        try:
            self.rows, self.cols = (int(n) for n in operator.shape)
        except (AttributeError, TypeError, ValueError):
            raise TypeError(f"T: {type(operator).__name__} has no shape (rows, columns)") from None

    def matvec(self, x: Array) -> Array:
        """Tx."""
        return real_array("T's matvec", self.operator.matvec(x), self.precision).reshape(-1)

    def rmatvec(self, y: Array) -> Array:
        """T*y."""
        return real_array("T's rmatvec", self.operator.rmatvec(y), self.precision).reshape(-1)

    def norm_bound(self) -> float:
        """‖T‖₂: the operator's own bound, or an estimate by power iteration, enlarged by a tenth."""
        bound = getattr(self.operator, "norm_bound", None)
        if bound is not None:
            return float(bound() if callable(bound) else bound)
        x = np.random.default_rng(0).standard_normal(self.cols).astype(self.dtype)
        size = 0.0
        for _ in range(30):
            x /= max(float(np.linalg.norm(x)), np.finfo(self.dtype).tiny)
            x = self.rmatvec(self.matvec(x))
            last, size = size, float(np.linalg.norm(x))
            if not np.isfinite(size) or abs(size - last) <= 1e-3 * size:
                break
        return 1.1 * size**0.5 if size > 0.0 else 1.0

    def build(self, x: Packing | None) -> _melmo.Operator:
        """For Rust."""
        domain: Layout = x.layout if x is not None else [("x", self.cols, 1)]
        if sum(rows * cols for _, rows, cols in domain) != self.cols:
            raise ValueError(f"T: has {self.cols} columns, and x {x.size if x else 0} entries")
        return _melmo.Operator.own(self.precision, self, domain, [("y", self.rows, 1)], self.norm_bound())


def build_penalty(g: Any, packing: Packing) -> _melmo.Penalty:
    """Any penalty on a variable: of the catalogue, a user's own, or a dict of them by block."""
    if isinstance(g, Penalty):
        return g._build(packing.precision, packing.layout)
    if isinstance(g, dict):
        parts = []
        for name, part in g.items():
            if name not in packing.shapes:
                known = ", ".join(packing.shapes)
                raise ValueError(f"g: no block of Tx is called `{name}`; known: {known}")
            layout = [block for block in packing.layout if block[0] == name]
            inner = Packing({name: packing.shapes[name]}, packing.precision, single=True, layout=layout)
            parts.append((name, build_penalty(part, inner)))
        return _melmo.Penalty.blocks(packing.precision, packing.layout, parts)
    if isinstance(g, (list, tuple)):
        return build_penalty(_of_parts(list(g), packing), packing)
    return UserPenalty(g, packing).build()


def _of_parts(penalties: list[Any], packing: Packing) -> dict[str, Any]:
    """Penalties of the operators of a ``Stack``, in their order, by the blocks of Tx, which are called ``0.x``, ``1.dx``, ``1.dy``, ..."""
    owners = [name.partition(".") for name in packing.shapes]
    stacked = [int(number) if dot and number.isdigit() else -1 for number, dot, _ in owners]
    if set(stacked) != set(range(len(penalties))):
        many = "no Stack" if -1 in stacked else f"a Stack of {max(stacked) + 1}"
        raise ValueError(f"g: {len(penalties)} penalties in a list, and T is {many}: give one for each of its operators")
    for i, part in enumerate(penalties):
        by_entries = isinstance(part, Penalty) and getattr(part, "on", None) in ("entries", "nonnegative")
        if stacked.count(i) > 1 and not by_entries:
            names = ", ".join(name for name, owner in zip(packing.shapes, stacked) if owner == i)
            raise ValueError(f"g[{i}]: operator {i} of the Stack makes several blocks ({names}); name them in a dict")
    return {name: penalties[i] for name, i in zip(packing.shapes, stacked)}
