"""A user's own terms, between their shapes and Rust's flat arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from melmo import _melmo
from melmo._arrays import Array, Layout, Packing, dtype_of, expect_real, real_array
from melmo._checks import described, made, number
from melmo._pairs import Pairs, of_moduli
from melmo._penalty import Penalty
from melmo._sum import Sum


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
        return number("f: the value", value), self.packing.pack("the gradient of f", gradient)

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
            raise TypeError(f"g: expected a penalty, or an object with value(u) and prox(u, beta), got {described(penalty)}")
        self.of = getattr(penalty, "value", None) or penalty
        if not callable(self.of):
            raise TypeError(f"g: {type(penalty).__name__} has no value(u)")

    def value(self, flat: Array) -> float:
        """g(u)."""
        return number("g: the value", self.of(self.packing.unpack(flat)))

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

    def __init__(self, operator: Any, precision: str, what: str = "T"):
        self.operator = operator
        self.what = what
        self.dtype = dtype_of(precision)
        self.precision = precision
        try:
            self.rows, self.cols = (int(n) for n in operator.shape)
        except (AttributeError, TypeError, ValueError):
            raise TypeError(f"{what}: {type(operator).__name__} has no shape (rows, columns)") from None
        if np.dtype(getattr(operator, "dtype", None) or self.dtype).kind == "c":
            expect_real(what, np.dtype(complex), operator)

    def matvec(self, x: Array) -> Array:
        """Tx."""
        return real_array(f"{self.what}'s matvec", self.operator.matvec(x), self.precision).reshape(-1)

    def rmatvec(self, y: Array) -> Array:
        """T*y."""
        return real_array(f"{self.what}'s rmatvec", self.operator.rmatvec(y), self.precision).reshape(-1)

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
        domain: Layout = x.layout if x is not None and x.size == self.cols else [("x", self.cols, 1)]
        return _melmo.Operator.own(self.precision, self, domain, [("y", self.rows, 1)], self.norm_bound())


def build_penalty(g: Any, packing: Packing) -> _melmo.Penalty:
    """Any penalty on a variable: of the catalogue, a sum, a user's own, a dict of them by block, or a list of them by operators."""
    made("g", g)
    if isinstance(g, Penalty) and isinstance(packing, Pairs):
        g = of_moduli(g, packing)
    elif isinstance(g, Sum) and isinstance(packing, Pairs):
        g = g._of_moduli(packing)
    if isinstance(g, (Penalty, Sum)):
        return g._build(packing.precision, packing.layout)
    if isinstance(g, dict):
        parts = []
        for name, part in g.items():
            if name not in packing.shapes:
                known = ", ".join(packing.shapes)
                raise ValueError(f"g: no block of Tx is called `{name}`; known: {known}")
            parts.append((name, build_penalty(part, packing.part([name]))))
        return _melmo.Penalty.blocks(packing.precision, packing.layout, parts)
    if isinstance(g, (list, tuple)):
        return _of_operators(list(g), packing)
    return UserPenalty(g, packing).build()


def _of_operators(penalties: list[Any], packing: Packing) -> _melmo.Penalty:
    """A penalty for all that each operator of a ``Stack`` makes: its blocks of Tx are called ``0.x``, ``1.dx``, ``1.dy``, ..."""
    owners = [name.partition(".") for name in packing.shapes]
    stacked = [int(number) if dot and number.isdigit() else -1 for number, dot, _ in owners]
    if set(stacked) != set(range(len(penalties))):
        many = "no Stack" if -1 in stacked else f"a Stack of {max(stacked) + 1}"
        advice = "a list has one for each operator of a Stack; penalties of the same Tx are added, g1 + g2"
        raise ValueError(f"g: a list of {len(penalties)} and T is {many}: {advice}")
    layout: Layout = []
    parts = []
    for i, penalty in enumerate(penalties):
        own = packing.part([name for name, owner in zip(packing.shapes, stacked) if owner == i])
        layout.append((str(i), own.size, 1))
        parts.append((str(i), build_penalty(penalty, own)))
    return _melmo.Penalty.blocks(packing.precision, layout, parts)
