"""Sparse matrices of SciPy, looked at before SciPy's own code follows their indices anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np


def checked_sparse(what: str, matrix: Any) -> Any:
    """`matrix` as it is: where it is sparse, its indices lie inside of it."""
    form = getattr(matrix, "format", None)
    if not (hasattr(matrix, "tocsr") and isinstance(form, str)):
        return matrix
    try:
        if form in ("csr", "csc", "bsr"):
            _compressed(matrix, form)
        elif form == "coo":
            _coordinates(matrix)
    except (AttributeError, IndexError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{what}: a sparse matrix ({form}) whose indices do not fit it: {error}") from None
    return matrix


def canonical(csr: Any) -> Any:
    """Rows whose columns ascend, none twice: as it is, or a copy."""
    if csr.has_canonical_format:
        return csr
    csr = csr.copy()
    csr.sum_duplicates()
    return csr


def _compressed(matrix: Any, form: str) -> None:
    """Starts that rise from 0, as many indices as values, every index inside."""
    starts, indices, data = (np.asarray(part) for part in (matrix.indptr, matrix.indices, matrix.data))
    rows, cols = matrix.shape
    if form == "bsr":
        height, width = data.shape[1:]
        if height < 1 or width < 1 or rows % height or cols % width:
            raise ValueError(f"blocks of {height}×{width} in {rows}×{cols}")
        rows, cols = rows // height, cols // width
    major, minor = (cols, rows) if form == "csc" else (rows, cols)
    if starts.ndim != 1 or indices.ndim != 1 or starts.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        raise ValueError("starts and indices are not vectors of whole numbers")
    if len(starts) != major + 1 or starts[0] != 0 or np.any(starts[1:] < starts[:-1]):
        raise ValueError(f"starts that do not rise from 0 in {major} steps")
    if not starts[-1] == len(indices) == len(data):
        raise ValueError(f"the last start is {starts[-1]}, with {len(indices)} indices and {len(data)} values")
    _inside(indices, minor)


def _coordinates(matrix: Any) -> None:
    row, col, data = (np.asarray(part) for part in (matrix.row, matrix.col, matrix.data))
    if row.ndim != 1 or not len(row) == len(col) == len(data):
        raise ValueError(f"{len(row)} rows, {len(col)} columns and {len(data)} values")
    _inside(row, matrix.shape[0])
    _inside(col, matrix.shape[1])


def _inside(indices: Any, limit: int) -> None:
    if indices.dtype.kind not in "iu":
        raise ValueError("indices that are no whole numbers")
    if len(indices) and not (0 <= indices.min() and indices.max() < limit):
        raise ValueError(f"indices from {indices.min()} to {indices.max()} where 0 to {limit - 1} fit")
