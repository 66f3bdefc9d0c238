"""Polar factors UVᵀ of stacks of matrices by products alone, with a check that they are some."""

from __future__ import annotations

from typing import Any

#: X ← X(aI + bG + cG²), G = XᵀX: the coefficients of the catalogue's oracle `newton-schulz`, times 1024.
STEPS = (
    (3955, -8306, 5008),
    (3735, -6681, 3463),
    (3799, -6499, 3211),
    (4019, -6385, 2906),
    (2677, -3029, 1162),
    (2172, -1833, 682),
)
#: In bf16 a singular value can be rounded above 1, where the polynomials grow without bound. Every step but the last then divides
#: by this first.
SAFETY = 1.01


def inner(xp: Any, a: Any, b: Any) -> Any:
    """⟨A, B⟩ of every pair of a stack."""
    return xp.einsum("...ij,...ij->...", a, b)


def frobenius(xp: Any, m: Any) -> Any:
    """‖M‖_F of every matrix of a stack, kept as (…, 1, 1)."""
    return xp.sqrt(inner(xp, m, m))[..., None, None]


def or_one(xp: Any, length: Any) -> Any:
    """A length to divide by: 1 in the place of 0."""
    return xp.where(length > 0.0, length, 1.0)


def newton_schulz(xp: Any, x: Any, safety: float = 1.0) -> Any:
    """UVᵀ of every matrix of a stack with ‖X‖_F ≤ 1 and no more columns than rows.

    To half a percent for singular values above 0.002.
    """
    for step, coefficients in enumerate(STEPS):
        t = safety if step + 1 < len(STEPS) else 1.0
        a, b, c = (coefficient / (1024.0 * t**power) for coefficient, power in zip(coefficients, (1, 3, 5), strict=True))
        gram = xp.swapaxes(x, -1, -2) @ x
        if hasattr(xp, "baddbmm"):  # PyTorch's products that add: three kernels a step
            x = xp.baddbmm(x, x, xp.baddbmm(gram, gram, gram, beta=b, alpha=c), beta=a)
        else:
            x = a * x + x @ (b * gram + c * (gram @ gram))
    return x


def polar(xp: Any, m: Any, work: Any = None) -> tuple[Any, Any]:
    """UVᵀ of every matrix of a stack (n, rows, columns); M/‖M‖_F in its place where it failed its check; and which ones did.

    `work` is the type that products are computed in; one of less precision than M's gets safe coefficients. A polar factor Q has
    ‖Q‖_F² ≤ r = min(rows, columns), and ⟨M, Q⟩ = Σσ ≥ ‖M‖_F: two sums see a bracket that failed.
    """
    wide = m.shape[-1] > m.shape[-2]
    tall = xp.swapaxes(m, -1, -2) if wide else m
    start = tall / or_one(xp, frobenius(xp, tall))
    lower = work is not None and work != m.dtype
    found = newton_schulz(xp, _as(start, work) if lower else start, SAFETY if lower else 1.0)
    q = _as(found, m.dtype) if lower else found
    good = (inner(xp, q, q) <= 1.1 * q.shape[-1]) & (inner(xp, start, q) >= 0.9 * inner(xp, start, start))
    q = xp.where(good[..., None, None], q, start)
    return (xp.swapaxes(q, -1, -2) if wide else q), ~good


def _as(x: Any, kind: Any) -> Any:
    return x.to(kind) if hasattr(x, "to") else x.astype(kind)
