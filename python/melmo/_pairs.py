"""Complex variables: Rust sees every number as the pair of its real and imaginary part, and penalties see its modulus.

x ∈ ℂⁿ is n×2 real numbers, as NumPy stores it. f(x) = ½‖Ax − b‖² and norms are what they are; a penalty ψ(xᵢ) of an entry becomes
ψ(|xᵢ|), one of a row of the pairs. A gradient g of a function of one's own is ∂f/∂Re x + i·∂f/∂Im x.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from melmo import _melmo
from melmo._arrays import Array, Layout, Packing, Shape, Variable, dtype_of, precision_of
from melmo._checks import brief

if TYPE_CHECKING:
    from melmo._penalty import Penalty

#: i·: (x, y) ↦ (−y, x).
_TURN = np.array([[0.0, -1.0], [1.0, 0.0]])


def is_complex(value: Any) -> bool:
    """Whether an array, a dict of arrays, a sparse matrix, an operator or lists hold complex numbers."""
    if isinstance(value, Mapping):
        return any(map(is_complex, value.values()))
    dtype = getattr(value, "dtype", None)
    if dtype is None and isinstance(value, (list, tuple, complex)):
        try:
            dtype = np.asarray(value).dtype
        except ValueError:  # lists of different lengths: whoever reads them says so
            return False
    try:
        return dtype is not None and np.dtype(dtype).kind == "c"
    except TypeError:  # somebody else's idea of a dtype
        return False


def paired(what: str, value: Any, precision: str) -> Array:
    """Complex numbers as pairs: one axis of two more."""
    if hasattr(value, "toarray"):
        raise TypeError(f"{what}: a sparse matrix cannot stand here; .toarray() makes it dense")
    array = np.asarray(value)
    if array.dtype.kind not in "cfiub":
        raise TypeError(f"{what}: expected numbers, got {brief(value)}")
    array = np.ascontiguousarray(array, dtype=_complex(precision)).reshape(array.shape)
    return array[..., None].view(dtype_of(precision))


def _complex(precision: str) -> np.dtype[Any]:
    return np.dtype(np.complex64 if precision == "f32" else np.complex128)


class Pairs(Packing):
    """How a complex variable lies in one buffer of real numbers; `shapes` are those of complex arrays."""

    @classmethod
    def of(cls, value: Any, precision: str | None = None) -> Pairs:
        """How `value`, a complex array or a dict of them, is packed."""
        precision = precision or precision_of(value)
        blocks = value if isinstance(value, Mapping) else {"x": value}
        shapes = {str(name): np.shape(array) for name, array in blocks.items()}
        return cls.of_shapes(shapes, precision, not isinstance(value, Mapping))

    @classmethod
    def of_shapes(cls, shapes: Mapping[str, Shape], precision: str, single: bool) -> Pairs:
        """A pair a row."""
        layout: Layout = [(name, math.prod(shape), 2) for name, shape in shapes.items()]
        return cls(shapes, precision, single=single, layout=layout)

    @classmethod
    def of_range(cls, layout: Layout, x: Packing) -> Pairs:
        """What an operator of x makes. A block that is as large as x has its shape."""
        like = next(iter(x.shapes.values())) if x.single else None
        sizes = {name: rows * cols // 2 for name, rows, cols in layout}
        fits = {name: like if like is not None and math.prod(like) == size else (size,) for name, size in sizes.items()}
        return cls(fits, x.precision, single=len(layout) == 1, layout=layout)

    def part(self, names: list[str]) -> Pairs:
        """Some of the blocks."""
        part = super().part(names)
        return Pairs(part.shapes, part.precision, single=part.single, layout=part.layout)

    def plain(self) -> Packing:
        """The same with a real number for each complex one."""
        return Packing(self.shapes, self.precision, single=self.single)

    def _flat(self, what: str, shape: Shape, value: Any) -> Array:
        pairs = paired(what, value, self.precision)
        if pairs.size != 2 * math.prod(shape):
            raise ValueError(f"{what}: expected {math.prod(shape)} entries (shape {shape}), got shape {pairs.shape[:-1]}")
        return pairs.reshape(-1)

    def unpack(self, flat: Array) -> Variable:
        """The complex variable in its shape: views of `flat`."""
        whole: Any = np.ascontiguousarray(flat).view(_complex(self.precision))
        return Packing(self.shapes, self.precision, single=self.single).unpack(whole)


def pairs_operator(operator: Any, precision: str, x: Packing, what: str, columns: int = 1) -> _melmo.Operator:
    """An operator of a complex x, or of a real one where `x` says so, that makes pairs; on each of some columns of x."""
    from melmo._operator import Operator, build_operator, by_columns

    complex_x = isinstance(x, Pairs)
    if operator is None or (isinstance(operator, Operator) and operator._row["name"] == "identity" and complex_x):
        return _melmo.Operator.named(precision, "identity", [], {"layout": x.layout})
    if complex_x and not is_complex(operator):  # the same for real and imaginary parts
        known = x.plain() if isinstance(x, Pairs) and what == "T" else None
        return by_columns(build_operator(operator, precision, known, what), precision, 2 * columns)
    if not isinstance(operator, Operator) and columns == 1:
        matrix = _matrix(operator, complex_x, what)
        if matrix is not None:
            return build_operator(matrix, precision, None, what)
    return _OfPairs(operator, precision, x, what, columns).build()


def _matrix(operator: Any, complex_x: bool, what: str) -> Any:
    """A matrix with a pair for every row and, where x is complex, for every column; None of an operator that is none."""
    real, turned = (np.eye(2), _TURN) if complex_x else (np.eye(2)[:, :1], np.eye(2)[:, 1:])
    if hasattr(operator, "tocsr"):
        from scipy.sparse import kron

        from melmo._sparse import checked_sparse

        csr = checked_sparse(what, operator).tocsr()
        return (kron(csr.real, real) + kron(csr.imag, turned)).tocsr()
    if hasattr(operator, "matvec"):
        return None
    array = np.asarray(operator)
    if array.ndim != 2:
        raise ValueError(f"{what}: expected a matrix, got an array of the shape {array.shape}")
    return np.kron(array.real, real) + np.kron(array.imag, turned)


class _OfPairs:
    """Anybody's operator between complex vectors, for Rust: pairs in, unless x is real, and pairs out."""

    def __init__(self, operator: Any, precision: str, x: Packing, what: str, columns: int):
        if not hasattr(operator, "matvec"):
            from scipy.sparse.linalg import aslinearoperator

            operator = aslinearoperator(operator)
        self.operator, self.precision, self.x, self.what, self.columns = operator, precision, x, what, columns
        rows, cols = (int(n) for n in operator.shape)
        self.sides = rows * columns, cols * columns
        self.shape = 2 * self.sides[0], self.sides[1] * (2 if isinstance(x, Pairs) else 1)
        self.dtype = dtype_of(precision)
        bound = getattr(operator, "norm_bound", None)
        if bound is not None:
            self.norm_bound = bound

    def matvec(self, x: Array) -> Array:
        """Pairs of the operator's answer."""
        value = x.view(_complex(self.precision)) if isinstance(self.x, Pairs) else x
        return paired(f"{self.what}'s matvec", self._each(self.operator.matvec, value), self.precision).reshape(-1)

    def rmatvec(self, y: Array) -> Array:
        """Pairs of the adjoint's; for a real x their first halves."""
        answer = self._each(self.operator.rmatvec, y.view(_complex(self.precision)))
        pairs = paired(f"{self.what}'s rmatvec", answer, self.precision)
        return np.ascontiguousarray(pairs if isinstance(self.x, Pairs) else pairs[..., 0]).reshape(-1)

    def _each(self, of: Any, value: Any) -> Any:
        """Column by column."""
        if self.columns == 1:
            return np.ravel(of(value))
        return np.stack([np.ravel(of(column)) for column in value.reshape(-1, self.columns).T], axis=1)

    def build(self) -> _melmo.Operator:
        """For Rust."""
        from melmo._user import UserOperator

        bound = UserOperator(self, self.precision, self.what).norm_bound()
        return _melmo.Operator.own(self.precision, self, self.x.layout, [("y", self.sides[0], 2)], bound)


def of_moduli(penalty: Penalty, packing: Pairs) -> Penalty:
    """A penalty of complex entries, rows, columns, pixels or groups as one of groups of real numbers."""
    arguments = dict(penalty._arguments)
    if not penalty._row["even"]:
        raise TypeError(f"g: {penalty!r} is no penalty of moduli: it tells numbers from their negatives, and x is complex")
    if penalty.on in ("nonnegative", "singular-values"):
        known = "entries, rows, columns, pixels and groups are for complex x"
        raise TypeError(f"g: {penalty!r}: on={penalty.on!r} is for real x; {known}")
    if arguments["weights"] is not None:
        arguments["weights"] = np.ravel(arguments["weights"])
    if penalty.on == "entries" and len(packing.layout) == 1 and packing.layout[0][2] == 2:
        return type(penalty)(**{**arguments, "on": "rows"})
    return type(penalty)(**{**arguments, "on": "groups", "groups": _entries(penalty, packing)})


def _entries(penalty: Penalty, packing: Pairs) -> list[list[int]]:
    """The real numbers of every complex thing that a penalty is applied to."""
    places, start = [], 0
    for shape in packing.shapes.values():
        size = math.prod(shape)
        places.append(np.arange(start, start + size).reshape(shape if len(shape) > 1 else (-1, 1)))
        start += size
    if penalty.on == "groups":
        groups = [np.asarray(group) for group in penalty.groups or []]
    elif penalty.on == "pixels":
        if len({place.size for place in places}) != 1:
            raise ValueError(f"g: {penalty!r}: pixels are of blocks of one size")
        groups = list(np.stack([place.ravel() for place in places], axis=1))
    elif penalty.on == "entries":
        groups = list(np.arange(start)[:, None])
    else:
        turned = [place.reshape(-1, place.shape[-1]) for place in places]
        groups = [line for place in turned for line in (place if penalty.on == "rows" else place.T)]
    return [np.stack([2 * group, 2 * group + 1], axis=1).ravel().tolist() for group in groups]
