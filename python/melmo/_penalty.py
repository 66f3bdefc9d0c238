"""g: penalties with a proximal operator."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt

from melmo import _melmo
from melmo._arrays import Layout, Shape, real_array, rows_cols
from melmo._catalogue import Row, class_name, default_of, document, numbers, python_name, rows
from melmo._checks import brief, several, whole
from melmo._proximal import Proximal
from melmo._term import Term

if TYPE_CHECKING:
    from melmo._sum import Sum

#: A penalty as Rust builds it: name, numbers, lift.
Described = tuple[str, list[tuple[str, Union[float, str]]], dict[str, Any]]

_LIFTS = [row["name"] for row in rows("lifts")]
_SEE = """Examples
--------
>>> import melmo
>>> g = melmo.penalty.{name}()
>>> float(g.value(g.prox([3.0, -0.1, 0.2], 0.1))) >= 0
True
"""


_STACKED = " An array of more than two axes is the matrix of its last one, the others stacked."


class Penalty(Proximal, Term):
    """A penalty g of the catalogue: a function ψ of one number, applied to entries, groups or singular values.

    g is ρ-weakly convex: g + ρ/2·‖·‖² is convex. Its proximal operator is defined for β < 1/ρ.
    """

    __slots__ = ()

    @classmethod
    def _shape(cls, row: Row) -> tuple[inspect.Signature, str]:
        parameter, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        own = [inspect.Parameter(python_name(p["name"]), parameter, default=default_of(p)) for p in row["parameters"]]
        own += [
            inspect.Parameter("on", keyword, default="entries"),
            inspect.Parameter("weights", keyword, default=None),
            inspect.Parameter("groups", keyword, default=None),
        ]
        on = ", ".join(_LIFTS) if row["even"] else "entries"
        more = [
            ("on : str, default 'entries'", f"What ψ is applied to: {on}." + _STACKED * row["even"]),
            ("weights : array, optional", "w ≥ 0: a weight for every entry, row, column, pixel or group; adaptive penalties have them."),
            ("groups : list of lists of int, optional", "The entries of each group, for ``on='groups'``."),
        ]
        return inspect.Signature(own), document(row, [], more, _SEE.format(name=class_name(row["name"])))

    def _check(self) -> None:
        if not isinstance(self.on, str) or self.on not in _LIFTS:
            called = self.on if isinstance(self.on, str) else brief(self.on)
            raise ValueError(f"no lift is called `{called}`; known: {', '.join(_LIFTS)}")
        if not self._row["even"] and self.on != "entries":
            raise ValueError(f"{type(self).__name__}: ψ(−x) ≠ ψ(x), so that it can be applied to entries only")
        if self.weights is not None:
            real_array("weights", self.weights, "f64")
        if self.groups is not None:
            _groups(self.groups)
        try:
            _melmo.Penalty.named("f64", self._row["name"], self._numbers(), {}, [("x", 1, 1)])
        except ValueError as error:
            raise ValueError(f"{type(self).__name__}: {str(error).replace('lambda = ', 'lam = ')}") from None

    @property
    def on(self) -> str:
        """What ψ is applied to."""
        on: str = self._arguments["on"]
        return on

    @property
    def weights(self) -> npt.ArrayLike | None:
        """A weight for each of them, where there are any."""
        weights: npt.ArrayLike | None = self._arguments["weights"]
        return weights

    @property
    def groups(self) -> Sequence[Sequence[int]] | None:
        """The entries of each group, for ``on='groups'``."""
        groups: Sequence[Sequence[int]] | None = self._arguments["groups"]
        return groups

    def __add__(self, other: Any) -> Sum:
        """g₁ + g₂: both of the same Tx."""
        from melmo._sum import Sum

        return Sum(self, other)

    def __radd__(self, other: Any) -> Sum:
        from melmo._sum import Sum

        return Sum(self) if isinstance(other, int) and other == 0 else Sum(other, self)  # sum([g₁, g₂]) starts from 0

    def _numbers(self) -> list[tuple[str, float | str]]:
        return numbers(self._row, self._arguments)

    def _choice(self) -> str:
        """The penalty as the program spells it: ``mcp:lambda=0.5,mu=2.0``."""
        given = ",".join(f"{name}={value!r}" for name, value in self._numbers())
        return f"{self._row['name']}:{given}" if given else self._row["name"]

    def _described(self, precision: str, layout: Layout) -> Described:
        """What Rust builds it from: name, numbers, and what ψ is applied to."""
        lift: dict[str, Any] = {"on": self.on}
        if self.weights is not None:
            weights = real_array("weights", self.weights, precision)
            if self.on in ("entries", "nonnegative"):
                _expect_shape(weights.shape, layout)
            lift["weights"] = weights.reshape(-1)
        if self.groups is not None:
            lift["groups"] = _groups(self.groups)
        return self._row["name"], self._numbers(), lift

    def _build(self, precision: str, layout: Layout) -> _melmo.Penalty:
        return _melmo.Penalty.named(precision, *self._described(precision, layout), layout)

    def _constants(self) -> _melmo.Penalty:
        size = 1 if self.weights is None or self.groups is not None else int(np.size(self.weights))
        if self.groups is not None:
            size = 1 + max((max(group, default=0) for group in _groups(self.groups)), default=0)
        layout: Layout = [("x", 1, size) if self.on == "columns" else ("x", size, 1)]
        return self._build("f64", layout if self.on != "pixels" else [("dx", size, 1), ("dy", size, 1)])

    @property
    def weak_convexity(self) -> float:
        """ρ; 0 for a convex penalty."""
        return self._constants().weak_convexity


def _expect_shape(shape: Shape, layout: Layout) -> None:
    """Weights of a matrix have its shape, or are flat."""
    for _, rows, cols in layout if len(layout) == 1 else ():
        if len(shape) > 1 and cols > 1 and math.prod(shape) == rows * cols and rows_cols(shape) != (rows, cols):
            raise ValueError(f"weights: got the shape {shape}, for a variable of the shape {(rows, cols)}")


def _groups(groups: Any) -> list[list[int]]:
    """Groups of entries as lists of whole numbers."""
    expected = "lists of entries"
    parts = [several("groups", group, expected) for group in several("groups", groups, expected)]
    return [[whole("groups: an entry", entry) for entry in group] for group in parts]
