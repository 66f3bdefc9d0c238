"""f: smooth losses."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any, Generic, cast

import numpy as np

from melmo import _melmo
from melmo._arrays import COMPLEX, Array, Packing, Shape, X, precision_of, real_array, rows_cols
from melmo._catalogue import Row, default_of, document, numbers, python_name
from melmo._devices import alike, on_gpu
from melmo._matrix import expect_operator, two_axes
from melmo._operator import build_operator, by_columns
from melmo._pairs import Pairs, is_complex, paired, pairs_operator
from melmo._term import Term

#: What the data of a row are called in Python, by kind.
_NAMES = {"matrix": "Y", "target": "b", "mask": "mask", "optional mask": "mask", "operator": "A"}
#: The losses of complex data.
_COMPLEX = ("least-squares", "masked")
_DESIGN = "a matrix, a SciPy sparse matrix, or an operator"
_ABOUT = {
    "matrix": "The data.",
    "target": "The right-hand side, an entry for each row of A; or several, a column each, and x is then a matrix of as many columns.",
    "mask": "1 where an entry is observed, 0 elsewhere.",
    "optional mask": "1 where an entry is observed, 0 elsewhere; all are unless given.",
    "operator": f"The design: {_DESIGN}.",
}


class Loss(Term, Generic[X]):
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
        for kind in self._row["inputs"]:
            name = _NAMES[kind]
            if self._arguments[name] is None and kind != "optional mask":
                raise TypeError(f"{name}: expected {_DESIGN if kind == 'operator' else 'an array'}, got None")
        if "A" in self._arguments:
            expect_operator("A", self._arguments["A"])
        if self._is_complex() and self._row["name"] not in _COMPLEX:
            raise TypeError(f"{type(self).__name__}: expected real numbers, got complex ones. {COMPLEX}")
        self._build(self._precision())

    def _is_complex(self) -> bool:
        """Whether the data are."""
        return any(is_complex(self._arguments[_NAMES[kind]]) for kind in self._row["inputs"] if "mask" not in kind)

    def _precision(self) -> str:
        return precision_of(*(self._arguments[_NAMES[kind]] for kind in self._row["inputs"] if "mask" not in kind))

    def _build(self, precision: str, x: Packing | None = None) -> _melmo.Loss:
        """For Rust; on pairs where the data are complex, or `x` is."""
        if self._lies_on_gpu():
            return self._of_lent(precision)
        if isinstance(x, Pairs) or self._is_complex():
            return self._of_pairs(self._pairs(precision) if x is None else x)
        if precision not in self._built:
            data: dict[str, Any] = {}
            for kind in self._row["inputs"]:
                name = _NAMES[kind]
                value = self._arguments[name]
                if kind == "operator":
                    operator = build_operator(value, precision, None, "A")
                elif kind == "matrix":
                    data["matrix"] = two_axes(name, real_array(name, value, precision))
                elif value is not None:
                    array = real_array(name, value, precision)
                    data["mask" if "mask" in kind else kind] = array.reshape(-1)
                    if kind == "target":
                        data["operators"] = [_for_target(operator, array, precision)]
                    else:
                        self._expect_mask(array.shape)
            row = self._row
            self._built[precision] = _melmo.Loss.named(precision, row["name"], numbers(row, self._arguments), data)
        built: _melmo.Loss = self._built[precision]
        return built

    def _lies_on_gpu(self) -> bool:
        """Y is on a GPU, and is read there."""
        return self._row["name"] == "masked" and on_gpu(self._arguments["Y"])

    def _of_lent(self, precision: str) -> _melmo.Loss:
        """f of data on a GPU, where they lie."""
        if "lent" not in self._built:
            if self._arguments["mask"] is not None:
                raise TypeError("mask: with Y on a GPU there is none; give both as NumPy arrays")
            lent = _melmo.Lent(self._arguments["Y"])
            self._built.update(lent=lent, loss=lent.loss(*rows_cols(tuple(lent.shape))))
        found = self._built["lent"].precision
        if found != precision:
            raise TypeError(f"x0: Y is on a GPU and holds {found} numbers, which stay what they are; x0 holds {precision}")
        loss: _melmo.Loss = self._built["loss"]
        return loss

    def _left(self) -> Any:
        """The point that a run left where Y is, as an array of Y's kind; None where there is none."""
        lent = self._built.get("lent")
        point = None if lent is None else lent.left()
        return None if point is None else alike(self._arguments["Y"], point)

    def _of_pairs(self, x: Packing) -> _melmo.Loss:
        """f of a complex x, or of a real one with complex data."""
        precision, row = x.precision, self._row
        key = (precision, isinstance(x, Pairs), tuple(x.shapes.values()))
        if row["name"] not in _COMPLEX:
            raise TypeError(f"x: {type(self).__name__} takes real x. {COMPLEX}")
        if key not in self._built:
            if row["name"] == "least-squares":
                b = paired("b", self._arguments["b"], precision)
                operator = pairs_operator(self._arguments["A"], precision, x, "A", self._sides()[1])
                rows = sum(rows * cols for _, rows, cols in operator.range)
                if b.size != rows:
                    raise ValueError(f"b: A makes {rows // 2} numbers, got the shape {b.shape[:-1]}")
                data: dict[str, Any] = {"target": b.reshape(-1), "operators": [operator]}
            elif not isinstance(x, Pairs):
                raise TypeError("x0: Y is complex, and so is x: expected a complex x0")
            else:
                data = {"matrix": paired("Y", self._arguments["Y"], precision).reshape(-1, 2)}
                if self._arguments["mask"] is not None:
                    mask = real_array("mask", self._arguments["mask"], precision)
                    self._expect_mask(mask.shape)
                    data["mask"] = np.repeat(mask.reshape(-1), 2)
            self._built[key] = _melmo.Loss.named(precision, row["name"], numbers(row, self._arguments), data)
        built: _melmo.Loss = self._built[key]
        return built

    def _sides(self) -> tuple[int, int]:
        """The columns of A, and the right-hand sides: one, also where it is an image, or a column each."""
        b, (rows, cols) = np.shape(self._arguments["b"]), (int(n) for n in np.shape(self._arguments["A"]))
        return cols, b[-1] if len(b) > 1 and math.prod(b) != rows else 1

    def _pairs(self, precision: str, like: Any = None) -> Packing:
        """How x lies in memory where the data or `like` are complex; x is real where `like` is."""
        if "Y" in self._arguments:
            shape = tuple(np.shape(self._arguments["Y"]))
        else:
            cols, columns = self._sides()
            shape = (cols, columns) if columns > 1 else (cols,)
        if like is not None:
            given = tuple(np.shape(like))
            if math.prod(given) != math.prod(shape):
                raise ValueError(f"x0: expected {math.prod(shape)} entries (shape {shape}), got shape {given}")
            shape = given
        if like is None or is_complex(like):
            return Pairs.of_shapes({"x": shape}, precision, single=True)
        return Packing({"x": shape}, precision, single=True)

    def _expect_mask(self, shape: Shape) -> None:
        """A mask has the shape of the data, or is flat."""
        data = np.shape(self._arguments["Y"])
        if len(shape) > 1 and shape != data:
            raise ValueError(f"mask: expected the shape of Y, {data}, got {shape}")

    def _natural(self) -> Shape | None:
        """The shape of x where the data say it: that of Y, or a column for every right-hand side."""
        if "Y" in self._arguments:
            return tuple(np.shape(self._arguments["Y"]))
        _, rows, cols = self._build(self._precision()).layout[0]
        b, table = np.shape(self._arguments["b"]), _is_table(self._arguments["A"])
        return (rows, 1) if table and cols == 1 and len(b) == 2 and b[1] == 1 else None

    def packing(self, precision: str | None = None, like: Any = None) -> Packing:
        """How x lies in memory. Where f does not know the shape of x, it is that of `like`."""
        precision = precision or self._precision()
        if self._is_complex() or is_complex(like):
            return self._pairs(precision, like)
        layout, shape = self._build(precision).layout, self._natural()
        if like is None or isinstance(like, Mapping) or len(layout) != 1:
            return Packing.of_layout(layout, precision, shape)
        given = np.shape(like)
        name, rows, cols = layout[0]
        if len(given) > 1 and math.prod(given) == rows * cols and rows_cols(given) != (rows, cols):
            if cols != 1 or shape not in (None, (rows, 1)):
                raise ValueError(f"x: f takes x of the shape {shape or (rows, cols)}, got {given}")
            layout = [(name, *rows_cols(given))]
        return Packing.of_layout(layout, precision, given)

    @property
    def lipschitz(self) -> float | None:
        """L_f: a Lipschitz constant of ∇f, where one is known."""
        return self._build(self._precision()).lipschitz

    def __call__(self, x: Any) -> tuple[float, X]:
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
        value, gradient = self._build(precision, packing).value_grad(packing.pack("x", x))
        return value, cast(X, packing.unpack(gradient))

    value_and_gradient = __call__


def _for_target(operator: _melmo.Operator, target: Array, precision: str) -> _melmo.Operator:
    """A, on every column of x where there are several right-hand sides."""
    rows = sum(rows * cols for _, rows, cols in operator.range)
    if target.size == rows:
        return operator
    if target.ndim > 1 and math.prod(target.shape[:-1]) == rows:
        return by_columns(operator, precision, target.shape[-1])
    columns = sum(rows * cols for _, rows, cols in operator.domain)
    expected = f"expected {rows} entries, or the shape ({rows}, k) for k right-hand sides"
    raise ValueError(f"b: A is {rows}×{columns}; {expected}, got the shape {target.shape}")


def _is_table(A: Any) -> bool:
    """A matrix, whose x is a vector and no image."""
    return not hasattr(A, "rmatvec") or hasattr(A, "toarray")
