"""Values of every kind, good and bad, from a seed."""

from __future__ import annotations

import random
from typing import Any

import melmo
import numpy as np

try:
    import scipy.sparse as sparse
except ImportError:  # without SciPy everything else is called
    sparse = None


class Values:
    """Draws values."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(seed)
        self.wild = False  # arrays are ordinary, and terms fit together

    def pick(self, *values: Any) -> Any:
        return self.random.choice(values)

    def number(self) -> Any:
        return self.pick(0.1, 0.5, 1.0, 2.0, 3, np.float32(0.7), 1e-3)

    def count(self) -> Any:
        return self.pick(1, 2, 3, 5, 9, np.int64(4), 2.0)

    def array(self, shape: Any = None) -> Any:
        if shape is None:
            shape = self.pick((4,), (3, 4), (3, 4)) if not self.wild else self.pick((), (1,), (4,), (6,), (3, 4), (4, 3), (2, 3, 2), (1, 1), (5, 1))
        made = self.numpy.standard_normal(shape)
        if not self.wild:
            return made.astype(self.pick(np.float64, np.float64, np.float32))
        made = made * self.pick(1, 1, 1, 1, 1e-3, 1e3, 1e-150, 1e150, 1e-300, 1e300)
        made = np.asarray(made, dtype=self.pick(np.float64, np.float64, np.float32, np.int64, bool, np.float16))
        if self.random.random() < 0.1 and made.dtype.kind == "f" and made.ndim:
            made.reshape(-1)[0] = self.pick(np.nan, np.inf, -np.inf, 0.0)
        if self.random.random() < 0.1:
            made = self.pick(made.tolist(), np.asfortranarray(made), made[..., ::-1] if made.ndim else made)
        return made

    def bad(self) -> Any:
        values: list[Any] = [None, True, False, 0, -1, -3, 0.5, float("nan"), float("inf"), -float("inf")]
        values += [10**30, -(10**30), 10**400, 1e308, 5e-324, "", "x", "l1", "mcp:mu=2", "1e3", b"x", "é\x00", 1j]
        values += [[], [1], [[]], [None], ["a", 1], [[1, 2], [3]], {}, {"x": None}, {1: 2}, (), (-1, 2), (0, 3)]
        values += [object(), lambda *given: None, len, int, melmo.penalty.MCP, melmo, np.array(object())]
        values += [np.array([]), np.array("a"), np.array([1j]), np.zeros((0, 3)), np.array([None, 1.0], dtype=object)]
        values += [np.datetime64("2020-01-01"), range(3), slice(2), set(), NotImplemented, Ellipsis]
        if sparse is not None:
            values += [sparse.eye(4).tocsr(), sparse.random(5, 4, 0.5).tocsc(), self.damaged()]
        return self.random.choice(values)

    def damaged(self) -> Any:
        """A sparse matrix whose arrays were written over."""
        matrix = sparse.random(5, 4, 0.5, format=self.pick("csr", "csc", "coo", "bsr"), random_state=1)
        names = ("row", "col") if matrix.format == "coo" else ("indices", "indptr")
        name = self.pick(*names)
        array = getattr(matrix, name).copy()
        if len(array):
            array[self.random.randrange(len(array))] = self.pick(-1, 10**6, 7, -(2**31), 2**31 - 1)
        setattr(matrix, name, array[: self.pick(len(array), len(array) - 1)])
        return matrix

    def matrix(self) -> Any:
        if not self.wild:
            return self.pick(self.array((5, 4)), sparse.random(5, 4, 0.5).tocsc() if sparse else np.eye(5, 4))
        if sparse is not None and self.random.random() < 0.25:
            return self.pick(sparse.eye(4).tocsr(), sparse.random(5, 4, 0.5).tocsc(), self.damaged())
        return self.array(self.pick((5, 4), (4, 4), (3, 4), (12, 12)))

    def groups(self) -> Any:
        if not self.wild:
            return self.pick([[0, 1], [2, 3]], [[0], [1, 2], [3]])
        return self.pick([[0, 1], [2, 3]], [[0], [1, 2], [3]], [[0, 0]], [[0, 99]], [[1.7]], [[]], [0, 0, 1, 1], "aabb")


def brief(value: Any) -> str:
    """A value that can be typed again where it is short."""
    if isinstance(value, np.ndarray):
        text = np.array_repr(value, precision=17).replace("\n", "") if value.size <= 12 else ""
        return f"np.{text}" if text else f"<{value.shape} {value.dtype}>"
    try:
        return " ".join(repr(value).split())[:200]
    except Exception as error:
        return f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
