"""T: linear operators."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any, overload

import numpy as np

from melmo import _melmo
from melmo._arrays import Array, Layout, Packing, Shape, Variable, dtype_of, precision_of, real_array, rows_cols
from melmo._catalogue import READ_OFF, Row, default_of, document, numbers, python_name
from melmo._checks import several, whole, word
from melmo._matrix import compressed_rows, expect_operator, is_matrix, two_axes
from melmo._term import Term

#: What the data of a row are called in Python: by row and kind, else by kind.
_NAMES = {
    ("convolution", "matrix"): "kernel",
    ("filter-bank", "matrix"): "filters",
    ("blur", "matrix"): "kernel",
    ("radon", "matrix"): "theta",
    "matrix": "A",
    "mask": "mask",
    "blocks": "blocks",
    "operators": "operators",
    "layout": "shape",
}
_ABOUT = {
    "matrix": "The matrix, or the kernel, or filters of K×K one after another, or angles in degrees; a SciPy sparse matrix where the operator is sparse.",
    "mask": "1 where an entry is kept, 0 elsewhere.",
    "blocks": "The name of a block, or several.",
    "operator": "An operator: of this module, a matrix, a SciPy sparse matrix or anything with ``matvec`` and ``rmatvec``.",
    "operators": "Operators of the same variable.",
    "layout": "The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.",
}


def input_names(row: Row) -> list[tuple[str, str]]:
    """The data of a row: the name in Python and the kind, those that may be left out last."""
    several = row["inputs"].count("operator") > 1
    places = iter(("outer", "inner"))
    named = []
    for kind in row["inputs"]:
        if kind == "operator":
            name = next(places) if several else "operator"
        else:
            name = _NAMES.get((row["name"], kind)) or _NAMES[kind]
        named.append((name, kind))
    return sorted(named, key=lambda item: item[1] == "layout")


class Operator(Term):
    """A linear operator T of the catalogue.

    ``matvec`` and ``rmatvec`` work on flat vectors, as SciPy's do; calling the operator keeps shapes and names.
    """

    __slots__ = ()
    __array_ufunc__ = None

    @classmethod
    def _shape(cls, row: Row) -> tuple[inspect.Signature, str]:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters, docs = [], []
        for name, what in input_names(row):
            if what == "operators":
                parameters.append(inspect.Parameter(name, inspect.Parameter.VAR_POSITIONAL))
            else:
                default = None if what == "layout" else inspect.Parameter.empty
                parameters.append(inspect.Parameter(name, kind, default=default))
            docs.append((f"{name}{' : tuple or dict, optional' if what == 'layout' else ''}", _ABOUT[what]))
        for p in row["parameters"]:
            # Volumes and channels are read off a shape of three axes, columns off one of two or more.
            default = None if p["name"] in READ_OFF else default_of(p)
            parameters.append(
                inspect.Parameter(python_name(p["name"]), inspect.Parameter.KEYWORD_ONLY, default=default)
            )
        doc = document(row, docs, [], "See Also\n--------\nmelmo.minimize : solves with it.\n")
        return inspect.Signature(parameters), doc

    def _take(self, arguments: dict[str, Any]) -> None:
        several = arguments.get("operators", ())
        if len(several) == 1 and isinstance(several[0], (list, tuple)) and not is_matrix(several[0]):
            arguments["operators"] = tuple(several[0])  # a list of operators is as good
        super()._take(arguments)

    def _check(self) -> None:
        if "blocks" in self._row["inputs"]:
            _names(self._arguments["blocks"])
        for part in self._operators():
            expect_operator("an operator", part)
        if self._complete():
            self._build(self._precision())

    def _complete(self) -> bool:
        """It can be built without being told the shape of x."""
        if "layout" in self._row["inputs"]:
            return self._layout_of(None) is not None
        if self._arguments.get("count", 1) is None or any(part is None for part in self._operators()):
            return False
        parts = (part for part in self._operators() if isinstance(part, Operator))
        return all(part._complete() for part in parts)

    def _operators(self) -> list[Any]:
        parts: list[Any] = []
        for name, kind in input_names(self._row):
            if kind in ("operator", "operators"):
                parts.extend(self._arguments[name] if kind == "operators" else (self._arguments[name],))
        return parts

    def _precision(self) -> str:
        data = [self._arguments[name] for name, kind in input_names(self._row) if kind == "matrix"]
        return precision_of(*data, *self._operators())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of its own data; it works in that of x."""
        return dtype_of(self._precision())

    def _layout_of(self, x: Packing | None) -> tuple[Layout, Shape | None] | None:
        """The blocks of x, and the shape of a single one: given, those of a mask, or the problem's."""
        shape = self._arguments.get("shape")
        if shape is None and "mask" in self._arguments:
            shape = np.shape(self._arguments["mask"])
        if isinstance(shape, Mapping):
            return [(str(name), *rows_cols(_sides(part))) for name, part in shape.items()], None
        if shape is not None:
            sides = _sides(shape)
            return [("x", *rows_cols(sides))], sides
        if x is not None:
            return x.layout, next(iter(x.shapes.values())) if x.single else None
        return None

    def _build(self, precision: str, x: Packing | None = None) -> _melmo.Operator:
        found = self._layout_of(x)
        key = (precision, repr(found))
        if key not in self._built:
            self._built[key] = self._make(precision, found, x)
        built: _melmo.Operator = self._built[key]
        return built

    def _make(self, precision: str, found: tuple[Layout, Shape | None] | None, x: Packing | None) -> _melmo.Operator:
        data: dict[str, Any] = {}
        for name, kind in input_names(self._row):
            value = self._arguments[name]
            if kind == "layout":
                if found is None:
                    raise ValueError(f"{type(self).__name__}: give it the shape of x")
                data["layout"] = found[0]
            elif kind == "matrix":
                if hasattr(value, "tocsr") and self._row["name"] == "sparse":
                    return compressed_rows(precision, value)
                data["matrix"] = two_axes(name, real_array(name, value, precision))
            elif kind == "mask":
                data["mask"] = real_array(name, value, precision).reshape(-1)
            elif kind == "blocks":
                data["blocks"] = _names(value)
        if self._operators():
            data["operators"] = self._parts(self._operators(), precision, x)
        given = dict(self._arguments)
        for name in ("depth", "channels"):
            if name in given and given[name] is None and found and found[1] and len(found[1]) == 3:
                given[name] = found[1][0]
        if "count" in given and given["count"] is None:
            if x is None or not x.single:
                raise ValueError(f"{type(self).__name__}: give it the number of columns, count")
            given["count"] = x.layout[0][2]
        return _melmo.Operator.named(precision, self._row["name"], numbers(self._row, given), data)

    def _parts(self, parts: list[Any], precision: str, x: Packing | None) -> list[_melmo.Operator]:
        if self._row["name"] == "columns":
            return [build_operator(parts[0], precision, None if x is None else x.column())]
        if self._row["name"] != "compose":
            return [build_operator(part, precision, x) for part in parts]
        # The outer operator works on what the inner one makes.
        inner = build_operator(parts[1], precision, x)
        return [build_operator(parts[0], precision, Packing.of_layout(inner.range, precision)), inner]

    @property
    def built(self) -> _melmo.Operator:
        """The operator itself; needs to know the shape of x."""
        return self._build(self._precision())

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of T as a matrix."""
        return _size(self.built.range), _size(self.built.domain)

    @property
    def norm_bound(self) -> float:
        """An upper bound on ‖T‖₂."""
        return self.built.norm_bound

    @property
    def sigma_min(self) -> float | None:
        """A lower bound on σ_min(T), where T is known to be surjective."""
        return self.built.sigma_min

    def matvec(self, x: Any) -> Array:
        """Tx, flat."""
        return self._apply(x, forward=True)[0]

    def rmatvec(self, y: Any) -> Array:
        """T*y, flat."""
        return self._apply(y, forward=False)[0]

    def __call__(self, x: Any) -> Variable:
        """Tx, in its blocks."""
        flat, layout, shape = self._apply(x, forward=True)
        return Packing.of_layout(layout, precision_of(flat), shape).unpack(flat)

    def adjoint(self, y: Any) -> Variable:
        """T*y, in its blocks."""
        flat, layout, shape = self._apply(y, forward=False)
        return Packing.of_layout(layout, precision_of(flat), shape).unpack(flat)

    @overload
    def __matmul__(self, x: Operator) -> Operator: ...
    @overload
    def __matmul__(self, x: Any) -> Variable: ...
    def __matmul__(self, x: Any) -> Any:
        if isinstance(x, Operator):
            from melmo.operator import Compose

            return Compose(self, x)
        return self(x)

    def _apply(self, value: Any, *, forward: bool) -> tuple[Array, Layout, Shape | None]:
        packing = Packing.of(value)
        x = packing if forward else None
        flat = packing.pack("x", value)
        built = build_operator(self, packing.precision, x)
        known = self._layout_of(x)
        shape = known[1] if known else None
        if forward:
            return built.matvec(flat), built.range, shape
        return built.rmatvec(flat), built.domain, shape


def _names(blocks: Any) -> list[str]:
    """The name of a block, or several."""
    if isinstance(blocks, str):
        return [blocks]
    names = several("blocks", blocks, "the name of a block, or a list of them")
    return [word("blocks: a name", name) for name in names]


def _sides(shape: Any) -> Shape:
    """A shape: one whole number, or several; no more entries than can be counted."""
    sides = tuple(shape) if isinstance(shape, (tuple, list, np.ndarray)) else (shape,)
    found = tuple(whole("shape", side, 1, 2**62) for side in sides)
    if math.prod(found) > 2**62:
        raise ValueError(f"shape: {'×'.join(map(str, found))} entries are more than memory can address")
    return found


def _size(layout: Layout) -> int:
    return sum(rows * cols for _, rows, cols in layout)


def build_operator(operator: Any, precision: str, x: Packing | None, what: str = "an operator") -> _melmo.Operator:
    """Any operator: of the catalogue, a matrix, or a user's own; on every column of x where it takes one."""
    if operator is None:
        if x is None:
            raise ValueError("an identity needs to know the shape of x")
        return _melmo.Operator.named(precision, "identity", [], {"layout": x.layout})
    built = _built(operator, precision, x, what)
    if x is not None and x.single and len(x.layout) == 1:
        _, rows, cols = x.layout[0]
        if cols > 1 and _size(built.domain) == rows:
            return by_columns(built, precision, cols)
    return built


def by_columns(built: _melmo.Operator, precision: str, count: int) -> _melmo.Operator:
    """An operator on each of so many columns."""
    return _melmo.Operator.named(precision, "columns", [("count", float(count))], {"operators": [built]})


def _built(operator: Any, precision: str, x: Packing | None, what: str) -> _melmo.Operator:
    if isinstance(operator, Operator):
        return operator._build(precision, x)
    expect_operator(what, operator)
    if hasattr(operator, "tocsr"):
        return compressed_rows(precision, operator, what)
    if hasattr(operator, "matvec") and hasattr(operator, "rmatvec"):
        from melmo._user import UserOperator

        return UserOperator(operator, precision, what).build(x)
    array = real_array(what, operator, precision)
    if array.ndim != 2:
        raise ValueError(f"{what}: expected a matrix, got an array of the shape {array.shape}")
    return _melmo.Operator.named(precision, "dense", [], {"matrix": array})
