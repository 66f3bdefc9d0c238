"""Norms of a layer: how a parameter is seen as a matrix, how long a step is, the oracle and the dual norm."""

from __future__ import annotations

import math
from typing import Any

from melmo._networks.polar import frobenius, or_one, polar

NORMS = ("spectral", "row", "column", "linf", "nuclear", "l2")
RADII = ("muon", "scion", "rms")


def matrix_shape(shape: Any) -> tuple[int, int]:
    """(outputs, inputs): a vector is one column, a filter is one row."""
    rows = int(shape[0]) if len(shape) else 1
    size = 1
    for length in shape:
        size *= int(length)
    return rows, (size // rows if rows else 0)


def chosen(norm: str, shape: Any) -> str:
    """``"auto"``: spectral for matrices and filters, ℓ2 for vectors."""
    if norm == "auto":
        return "spectral" if len(shape) > 1 and min(matrix_shape(shape)) > 1 else "l2"
    if norm not in NORMS:
        raise ValueError(f"norm: {norm!r} is none of auto, {', '.join(NORMS)}")
    return norm


def radius(rule: Any, norm: str, shape: Any) -> float:
    """How long a step of γ = 1 is, in the norm: a number, or a rule that makes one γ serve layers of all widths.

    ``"muon"``: √max(1, outputs/inputs) and ``"scion"``: √(outputs/inputs) for the spectral and the nuclear norm; both, and
    ``"rms"``, take steps whose entries have root mean square 1 in ℓ2, rows and columns, and 1/inputs in ℓ∞.
    """
    if not isinstance(rule, str):
        return float(rule)
    if rule not in RADII:
        raise ValueError(f"radius: {rule!r} is no number and none of {', '.join(RADII)}")
    m, n = matrix_shape(shape)
    if norm in ("spectral", "nuclear"):
        return math.sqrt({"muon": max(1.0, m / n), "scion": m / n, "rms": max(m, n)}[rule])
    return {"l2": math.sqrt(m * n), "row": math.sqrt(n), "column": math.sqrt(m), "linf": 1.0 / n}[norm]


def direction(xp: Any, norm: str, m: Any, work: Any = None) -> tuple[Any, Any]:
    """−lmo of every matrix of a stack, and which of them failed the check (spectral only; else None)."""
    if norm == "spectral":
        return polar(xp, m, work)
    if norm == "linf":
        return xp.sign(m), None
    if norm == "nuclear":
        return _leading(xp, m), None
    squares = m * m
    if norm == "l2":
        length = frobenius(xp, m)
    elif norm == "row":
        length = xp.sqrt(squares.sum(-1))[..., None]
    else:
        length = xp.sqrt(squares.sum(-2))[..., None, :]
    return m / or_one(xp, length), None


def dual_norm(xp: Any, norm: str, m: Any) -> Any:
    """‖M‖_* to rounding."""
    if norm == "spectral":
        return xp.linalg.svd(m, full_matrices=False)[1].sum(-1)
    if norm == "nuclear":
        return xp.linalg.svd(m, full_matrices=False)[1][..., 0]
    if norm == "linf":
        return xp.abs(m).sum(-1).sum(-1)
    squares = m * m
    if norm == "l2":
        return xp.sqrt(squares.sum(-1).sum(-1))
    return xp.sqrt(squares.sum(-1 if norm == "row" else -2)).sum(-1)


def _leading(xp: Any, m: Any) -> Any:
    """u₁v₁ᵀ: the Gram matrix squared ten times over has its leading eigenvector in every column."""
    wide = m.shape[-1] > m.shape[-2]
    x = xp.swapaxes(m, -1, -2) if wide else m
    norm = frobenius(xp, x)
    x = x / or_one(xp, norm)
    gram = xp.swapaxes(x, -1, -2) @ x
    for _ in range(10):
        gram = gram @ gram
        size = frobenius(xp, gram)
        gram = gram / or_one(xp, size)
    take = xp.take_along_axis if hasattr(xp, "take_along_axis") else xp.take_along_dim
    largest = xp.argmax((gram * gram).sum(-2), -1)[..., None, None]
    v = take(gram, largest + 0 * (gram[..., :1] > 0.0), -1)
    v = v / or_one(xp, frobenius(xp, v))
    u = x @ v
    u = u / or_one(xp, frobenius(xp, u))
    out = u @ xp.swapaxes(v, -1, -2)
    return xp.swapaxes(out, -1, -2) if wide else out

