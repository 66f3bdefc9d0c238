"""Arrays as Rust reads them: flat, contiguous, of one precision; and back in the shape they had."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union, cast

import numpy as np
import numpy.typing as npt

from melmo._checks import brief

Array = npt.NDArray[np.floating[Any]]
#: Several arrays by name.
Blocks = dict[str, Array]
#: An array, or several by name.
Variable = Union[Array, Blocks]
#: Which of the two x is: an array, where nothing is said.
if TYPE_CHECKING:
    from typing_extensions import TypeVar

    X = TypeVar("X", default=Array)
else:
    from typing import TypeVar

    X = TypeVar("X")
#: Blocks as Rust has them: name, rows, columns.
Layout = list[tuple[str, int, int]]
Shape = tuple[int, ...]


def precision_of(*arrays: Any) -> str:
    """`f32` if every array that holds floating-point numbers holds single ones, else `f64`."""
    single = False
    for array in arrays:
        for value in array.values() if isinstance(array, Mapping) else (array,):
            dtype = getattr(value, "dtype", None)
            name = str(dtype)
            if name.startswith("torch."):  # PyTorch has names of its own
                dtype = name.removeprefix("torch.").replace("bfloat16", "float32")
            if dtype is not None and np.dtype(dtype) in (np.float32, np.complex64):
                single = True
            elif dtype is not None and np.dtype(dtype).kind in "fc":
                return "f64"
    return "f32" if single else "f64"


_SINGLE: np.dtype[Any] = np.dtype(np.float32)
_DOUBLE: np.dtype[Any] = np.dtype(np.float64)


def dtype_of(precision: str) -> np.dtype[Any]:
    """NumPy's name of a precision."""
    return _SINGLE if precision == "f32" else _DOUBLE


def real_array(what: str, value: Any, precision: str) -> Array:
    """`value` as an array in C order and of that precision: itself where it is one already."""
    dtype = dtype_of(precision)
    if type(value) is np.ndarray and value.dtype == dtype and value.flags.c_contiguous:
        return value
    if hasattr(value, "toarray"):
        raise TypeError(f"{what}: a sparse matrix cannot stand here; .toarray() makes it dense")
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        raise ValueError(f"{what}: expected an array, got lists that make none: {brief(value)}") from None
    expect_real(what, array.dtype, value)
    return np.asarray(array, dtype=dtype, order="C")


def expect_real(what: str, dtype: np.dtype[Any], value: Any) -> None:
    """Refuses what holds no real numbers; complex ones with where they may stand."""
    if dtype.kind == "c":
        raise TypeError(f"{what}: expected real numbers, got complex ones. {COMPLEX}")
    if dtype.kind not in "fiub":
        shown = f"an array of {dtype}" if hasattr(value, "dtype") and dtype.kind not in "US" else brief(value)
        raise TypeError(f"{what}: expected real numbers, got {shown}")


#: Where complex numbers are understood.
COMPLEX = (
    "They may stand in LeastSquares(A, b), in Masked(Y), in x0 (a complex x0 makes x complex) and in T where x is complex"
)


def rows_cols(shape: Shape) -> tuple[int, int]:
    """The matrix that an array of this shape is: a vector is one column, further axes are stacked."""
    if len(shape) == 0:
        return 1, 1
    if len(shape) == 1:
        return shape[0], 1
    return math.prod(shape[:-1]), shape[-1]


def natural_shape(rows: int, cols: int) -> Shape:
    """The shape of a block that nobody gave one."""
    return (rows,) if cols == 1 else (rows, cols)


class Packing:
    """How a variable lies in one buffer: its blocks, the shape of each, its precision."""

    def __init__(self, shapes: Mapping[str, Shape], precision: str, *, single: bool, layout: Layout | None = None):
        self.shapes = {name: tuple(int(n) for n in shape) for name, shape in shapes.items()}
        self.precision = precision
        self.single = single
        self.layout: Layout = layout or [(name, *rows_cols(shape)) for name, shape in self.shapes.items()]

    @classmethod
    def of(cls, value: Any, precision: str | None = None) -> Packing:
        """How `value`, an array or a dict of arrays, is packed."""
        precision = precision or precision_of(value)
        if isinstance(value, Mapping):
            return cls({str(name): np.shape(array) for name, array in value.items()}, precision, single=False)
        return cls({"x": np.shape(value)}, precision, single=True)

    @classmethod
    def of_layout(cls, layout: Layout, precision: str, shape: Shape | None = None) -> Packing:
        """The variable of a term that knows its blocks; `shape` is that of a variable of one block."""
        if len(layout) == 1:
            name, rows, cols = layout[0]
            if shape is not None and math.prod(shape) == rows * cols:
                return cls({name: shape}, precision, single=True, layout=layout)
            return cls({name: natural_shape(rows, cols)}, precision, single=True, layout=layout)
        return cls({name: (rows, cols) for name, rows, cols in layout}, precision, single=False, layout=layout)

    @property
    def size(self) -> int:
        """Number of entries."""
        return sum(rows * cols for _, rows, cols in self.layout)

    def column(self) -> Packing:
        """One column of a single block, in the shape of all axes but the last."""
        name, rows, _ = self.layout[0]
        shape = next(iter(self.shapes.values()))
        return Packing({name: shape[:-1] if len(shape) > 1 else (rows,)}, self.precision, single=True)

    def part(self, names: list[str]) -> Packing:
        """Some of the blocks: one alone, or several without what their names begin with, up to the dot."""
        single = len(names) == 1
        called = {name: name if single else name.partition(".")[2] for name in names}
        layout = [(called[name], rows, cols) for name, rows, cols in self.layout if name in called]
        shapes = {called[name]: self.shapes[name] for name in names}
        return Packing(shapes, self.precision, single=single, layout=layout)

    def pack(self, what: str, value: Any) -> Array:
        """One flat array; the value's own memory where that is contiguous and of this precision."""
        if self.single:
            if isinstance(value, Mapping):
                raise TypeError(f"{what}: expected one array, got a dict of {', '.join(map(str, value)) or 'nothing'}")
            return self._flat(what, next(iter(self.shapes.values())), value)
        if not isinstance(value, Mapping):
            raise TypeError(f"{what}: expected a dict of arrays {', '.join(self.shapes)}, got {type(value).__name__}")
        if set(value) != set(self.shapes):
            found, wanted = ", ".join(map(str, value)), ", ".join(self.shapes)
            raise ValueError(f"{what}: expected the blocks {wanted}, got {found or 'none'}")
        parts = [self._flat(f"{what}[{name!r}]", shape, value[name]) for name, shape in self.shapes.items()]
        return cast(Array, np.concatenate(parts))

    def _flat(self, what: str, shape: Shape, value: Any) -> Array:
        array = real_array(what, value, self.precision)
        expected = math.prod(shape)
        if array.size != expected:
            raise ValueError(f"{what}: expected {expected} entries (shape {shape}), got shape {array.shape}")
        return array.reshape(-1)

    def unpack(self, flat: Array) -> Variable:
        """The variable in its shape: views of `flat`."""
        if self.single:
            return flat.reshape(next(iter(self.shapes.values())))
        parts, start = {}, 0
        for name, shape in self.shapes.items():
            end = start + math.prod(shape)
            parts[name] = flat[start:end].reshape(shape)
            start = end
        return parts
