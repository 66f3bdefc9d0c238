"""Matrices and other people's operators, as they come."""

from __future__ import annotations

from typing import Any

import numpy as np

from melmo import _melmo
from melmo._arrays import Array, expect_real, real_array, rows_cols
from melmo._checks import described, made
from melmo._sparse import canonical, checked_sparse
from melmo._term import Term


def two_axes(name: str, array: Array) -> Array:
    """A matrix; a vector is one column."""
    if array.ndim == 1:
        return array.reshape(-1, 1)
    if array.ndim != 2:
        return array.reshape(rows_cols(array.shape))
    return array


def compressed_rows(precision: str, matrix: Any, what: str = "A") -> _melmo.Operator:
    """A SciPy sparse matrix, without making it dense."""
    csr = checked_sparse(what, matrix).tocsr()
    expect_real(what, csr.data.dtype, csr.data)
    csr = canonical(csr)
    values = real_array("values of the sparse matrix", csr.data, precision)
    rows, cols = csr.shape
    starts, columns = (np.ascontiguousarray(part, dtype=np.int64) for part in (csr.indptr, csr.indices))
    return _melmo.Operator.compressed_rows(precision, (rows, cols), starts, columns, values)


def expect_operator(what: str, operator: Any) -> None:
    """Refuses what is no operator at all: a class, a name, a function, a term of another kind."""
    made(what, operator)
    if isinstance(operator, str) or (isinstance(operator, Term) and not hasattr(operator, "rmatvec")):
        kinds = "an operator of melmo.operator, a matrix or a LinearOperator"
        raise TypeError(f"{what}: expected {kinds}, got {described(operator)}")
    if callable(operator) and not hasattr(operator, "rmatvec"):
        advice = "a function alone has no adjoint: scipy.sparse.linalg.LinearOperator makes an operator of two"
        raise TypeError(f"{what}: expected an object with matvec, rmatvec and shape, got {described(operator)}; {advice}")


def is_matrix(parts: Any) -> bool:
    """Rows of numbers, not operators."""
    numbers = (list, tuple, int, float, np.generic)
    return all(isinstance(row, numbers) or (isinstance(row, np.ndarray) and row.ndim < 2) for row in parts)
