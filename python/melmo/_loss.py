"""f: smooth losses."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from melmo import _melmo
from melmo._arrays import Packing, Shape, Variable, precision_of, real_array, rows_cols
from melmo._catalogue import Row, default_of, document, numbers, python_name
from melmo._operator import build_operator, two_axes
from melmo._term import Term

#: What the data of a row are called in Python, by kind.
_NAMES = {"matrix": "Y", "target": "b", "mask": "mask", "optional mask": "mask", "operator": "A"}
_ABOUT = {
    "matrix": "The data.",
    "target": "The right-hand side, an entry for each row of A.",
    "mask": "1 where an entry is observed, 0 elsewhere.",
    "optional mask": "1 where an entry is observed, 0 elsewhere; all are unless given.",
    "operator": "The design: a matrix, a SciPy sparse matrix, or an operator.",
}


class Loss(Term):
    """A smooth loss f of the catalogue. Calling it gives the value and the gradient."""

    __slots__ = ()

    @classmethod
    def _shape(cls, row: Row) -> tuple[inspect.Signature, str]:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters, docs = [], []
        for what in row["inputs"]:
            default = None if what == "optional mask" else inspect.Parameter.empty
            parameters.append(inspect.Parameter(_NAMES[what], kind, default=default))
            docs.append((_NAMES[what], _ABOUT[what]))
        for p in row["parameters"]:
            keyword = inspect.Parameter.KEYWORD_ONLY
            parameters.append(inspect.Parameter(python_name(p["name"]), keyword, default=default_of(p)))
        doc = document(row, docs, [], "See Also\n--------\nmelmo.minimize : solves with it.\n")
        return inspect.Signature(parameters), doc

    def _check(self) -> None:
        self._build(self._precision())

    def _precision(self) -> str:
        return precision_of(*(self._arguments[_NAMES[kind]] for kind in self._row["inputs"] if "mask" not in kind))

    def _build(self, precision: str) -> _melmo.Loss:
        if precision not in self._built:
            data: dict[str, Any] = {}
            for kind in self._row["inputs"]:
                name = _NAMES[kind]
                value = self._arguments[name]
                if kind == "operator":
                    data["operators"] = [build_operator(value, precision, None)]
                elif kind == "matrix":
                    data["matrix"] = two_axes(name, real_array(name, value, precision))
                elif value is not None:
                    data["mask" if "mask" in kind else kind] = real_array(name, value, precision).reshape(-1)
            row = self._row
            self._built[precision] = _melmo.Loss.named(precision, row["name"], numbers(row, self._arguments), data)
        built: _melmo.Loss = self._built[precision]
        return built

    def _natural(self) -> Shape | None:
        """The shape of x, where x is one block of the shape of the data."""
        value = self._arguments.get("Y")
        return None if value is None else tuple(real_array("Y", value, self._precision()).shape)

    def packing(self, precision: str | None = None, like: Any = None) -> Packing:
        """How x lies in memory. Where f does not know the shape of x, it is that of `like`."""
        precision = precision or self._precision()
        layout, shape = self._build(precision).layout, self._natural()
        if like is None or isinstance(like, Mapping) or len(layout) != 1:
            return Packing.of_layout(layout, precision, shape)
        given = np.shape(like)
        name, rows, cols = layout[0]
        if len(given) > 1 and math.prod(given) == rows * cols and rows_cols(given) != (rows, cols):
            if cols != 1 or shape is not None:
                raise ValueError(f"x: f takes x of the shape {shape or (rows, cols)}, got {given}")
            layout = [(name, *rows_cols(given))]
        return Packing.of_layout(layout, precision, given)

    @property
    def lipschitz(self) -> float | None:
        """L_f: a Lipschitz constant of ∇f, where one is known."""
        return self._build(self._precision()).lipschitz

    def __call__(self, x: Any) -> tuple[float, Variable]:
        """f(x) and ∇f(x).

        Parameters
        ----------
        x : array or dict of arrays
            Where.

        Returns
        -------
        value : float
        gradient : array or dict of arrays
            In the shape of x.
        """
        precision = precision_of(x)
        packing = self.packing(precision, x)
        value, gradient = self._build(precision).value_grad(packing.pack("x", x))
        return value, packing.unpack(gradient)

    value_and_gradient = __call__
