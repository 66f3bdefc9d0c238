"""Geometries: norms with their linear minimisation oracles."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple, overload

import numpy.typing as npt

from melmo import _melmo
from melmo._arrays import Array, Blocks, Packing, Variable, real_array
from melmo._catalogue import Row, document, rows
from melmo._checks import made, word
from melmo._term import Term

_ORACLES = [row["name"] for row in rows("oracles")]


class Answer(NamedTuple):
    """What an oracle found. The numbers hold whatever rounding did: they are proven of φ and of the direction as they are."""

    #: d with ⟨φ, d⟩ = min over ‖d‖ ≤ 1, as nearly as the oracle can.
    direction: Variable
    #: Bounds on ‖φ‖_*.
    dual_norm: tuple[float, float]
    #: ⟨φ, d⟩ ≤ −(1 − η)‖φ‖_*.
    eta: float
    #: ν with ‖d‖ ≤ 1 + ν.
    excess: float


class Geometry(Term):
    """A norm of the catalogue, with its dual norm and its oracle."""

    __slots__ = ()

    @classmethod
    def _shape(cls, row: Row) -> tuple[inspect.Signature, str]:
        parameters, more = [], []
        if row["name"] == "spectral":
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            parameters.append(inspect.Parameter("oracle", kind, default="auto"))
            more.append(("oracle : str, default 'auto'", f"How UVᵀ is found: {', '.join(_ORACLES)}."))
        doc = document(row, [], more, "See Also\n--------\nmelmo.lmo, melmo.dual_norm : the same as functions.\n")
        return inspect.Signature(parameters), doc

    def _check(self) -> None:
        _melmo.lmo(self._row["name"], self._oracle(), [("x", 1, 1)], real_array("phi", [1.0], "f64"))

    def _oracle(self) -> str:
        return word("oracle", self._arguments.get("oracle", "auto"))

    def oracle_answer(self, phi: Any) -> Answer:
        """The direction that minimises ⟨φ, d⟩ over the unit ball, and what is known about it."""
        packing = Packing.of(phi)
        found = _melmo.oracle_answer(self._row["name"], self._oracle(), packing.layout, packing.pack("phi", phi))
        return Answer(packing.unpack(found[0]), *found[1:])

    @overload
    def lmo(self, phi: Mapping[str, Any]) -> Blocks: ...
    @overload
    def lmo(self, phi: npt.ArrayLike) -> Array: ...
    def lmo(self, phi: Any) -> Variable:
        """The direction d that minimises ⟨φ, d⟩ over ‖d‖ ≤ 1."""
        packing = Packing.of(phi)
        return packing.unpack(_melmo.lmo(self._row["name"], self._oracle(), packing.layout, packing.pack("phi", phi)))

    def dual_norm(self, phi: Any) -> float:
        """‖φ‖_*, to rounding."""
        packing = Packing.of(phi)
        return _melmo.dual_norm(self._row["name"], packing.layout, packing.pack("phi", phi))

    def norm(self, x: Any) -> float:
        """‖x‖."""
        packing = Packing.of(x)
        return _melmo.norm(self._row["name"], packing.layout, packing.pack("x", x))


def chosen(geometry: Any) -> dict[str, Any]:
    """A geometry, its name, or a dict of them by block, as settings: a block keeps its oracle."""
    if made("geometry", geometry) is None or (isinstance(geometry, Mapping) and not geometry):
        return {}
    if isinstance(geometry, str):
        return {"geometry": geometry}
    if isinstance(geometry, Geometry):
        return {"geometry": geometry._row["name"], "oracle": geometry._oracle()}
    if isinstance(geometry, Mapping):
        for block, part in geometry.items():
            if not isinstance(made(f"geometry[{block!r}]", part), (str, Geometry)):
                raise TypeError(f"geometry[{block!r}]: expected a geometry or its name, got {type(part).__name__}")
        parts = [(str(block), chosen(part)) for block, part in geometry.items()]
        return {"geometry": [(block, part["geometry"], part.get("oracle")) for block, part in parts]}
    raise TypeError(f"geometry: expected a geometry, its name or a dict of them, got {type(geometry).__name__}")


def polar(A: Any, oracle: str = "svd") -> Array:
    """The polar factor UVᵀ of A = UΣVᵀ.

    Parameters
    ----------
    A : array of two axes
        The matrix.
    oracle : str, default 'svd'
        How it is found; every oracle of the spectral geometry will do.

    Returns
    -------
    array
        UVᵀ; for a matrix without full rank, of its nonzero singular values.

    Examples
    --------
    >>> import melmo
    >>> melmo.polar([[0.0, -2.0], [3.0, 0.0]]).round(12) + 0.0
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    packing = Packing.of(A if hasattr(A, "dtype") else real_array("A", A, "f64"))
    flat = packing.pack("A", A)
    if len(packing.shapes["x"]) != 2:
        raise ValueError(f"A: expected a matrix, got shape {packing.shapes['x']}")
    direction: Array = _melmo.lmo("spectral", oracle, packing.layout, flat)
    return -direction.reshape(packing.shapes["x"])
