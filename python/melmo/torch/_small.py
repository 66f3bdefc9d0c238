"""Polar factors of many small matrices at once, whatever their shapes: through their Gram matrices.

UVᵀ = (MMᵀ)^(−1/2)M. Each M has a Gram matrix of its short side; padded with zeros they are one stack, and the steps of Newton–Schulz are
products of that stack: Q ← P(G)Q, G ← P(G)²G, from Q = I and G = MMᵀ/‖M‖_F². A network with twenty shapes costs as many kernels as one
matrix. Gram matrices square singular values: all of this is in full f32, where those above 0.002·‖M‖_F come out to a hundredth or better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from melmo._networks.polar import STEPS
from melmo.torch._counting import capturing

#: Matrices with a short side up to this go here; a padded product then costs less than the kernels that it saves.
LARGEST = 256
#: Branches of a captured graph for products that do not need one another; 0 for none.
STREAMS = 4


def fits(shape: tuple[int, int], x: Any) -> bool:
    """Whether a matrix on this device is better off here. On a CPU launches cost nothing: never."""
    return bool(x.is_cuda) and x.dtype == torch.float32 and 1 < min(shape) <= LARGEST


def polar_factors(matrices: list[Any], short: Any, constants: dict[Any, Any] | None = None) -> tuple[Any, Any]:
    """(Q, failed): the polar factor of M is Q[i, :r, :r]·M, or M·Q[i, :r, :r] for a tall M; r is the short side, `short` all r as a tensor.

    Where the check of `melmo._networks.polar.polar` fails, Q is I/‖M‖_F. `constants` keeps room between steps.
    """
    padded, one = _room(matrices, {} if constants is None else constants)
    with _full_precision():
        beside(_gram, list(zip(padded, matrices, strict=True)))
        size = padded.diagonal(dim1=-2, dim2=-1).sum(-1)
        divisor = torch.where(size == 0.0, 1.0, size)
        gram = padded / divisor[:, None, None]
        q = inverse_root(gram, one)
        product = q @ gram
    inner = product.diagonal(dim1=-2, dim2=-1).sum(-1)
    good = ((product * q).sum((-1, -2)) <= 1.1 * short) & (inner * divisor >= 0.9 * size)
    return torch.where(good[:, None, None], q, one) * divisor.rsqrt()[:, None, None], ~good


def _room(matrices: list[Any], constants: dict[Any, Any]) -> tuple[Any, Any]:
    """Zeros that Gram matrices are written into, always at the same places, and I, for every matrix."""
    sides = tuple(min(m.shape) for m in matrices)
    key = ("room", sides, matrices[0].dtype, matrices[0].device)
    if key not in constants:
        padded = matrices[0].new_zeros(len(sides), max(sides), max(sides))
        one = torch.zeros_like(padded)
        one.diagonal(dim1=-2, dim2=-1).fill_(1.0)
        constants[key] = padded, one
    padded, one = constants[key]
    return padded, one


def inverse_root(gram: Any, one: Any) -> Any:
    """Q with QG^(1/2) = I, nearly, for eigenvalues of G between 4·10⁻⁶ and 1: the product of the polynomials of the steps."""
    q, g = one, gram
    for step, coefficients in enumerate(STEPS):
        a, b, c = (coefficient / 1024.0 for coefficient in coefficients)
        p = torch.baddbmm(g, g, g, beta=b, alpha=c)  # bG + cG², and a·I is added by what follows
        q = p + a * one if step == 0 else torch.baddbmm(q, p, q, beta=a)
        if step + 1 < len(STEPS):
            h = torch.baddbmm(g, p, g, beta=a)
            g = torch.baddbmm(h, p, h, beta=a)
    return q


def _gram(g: Any, m: Any) -> None:
    r = min(m.shape)
    if m.shape[0] > m.shape[1]:
        torch.mm(m.mT, m, out=g[:r, :r])
    else:
        torch.mm(m, m.mT, out=g[:r, :r])


def beside(job: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
    """What calls return that do not need one another: side by side in a captured graph, where each alone is too small for a GPU."""
    if not (STREAMS and capturing()) or len(arguments) < 2:
        return [job(*each) for each in arguments]
    here = torch.cuda.current_stream()
    sides = [torch.cuda.Stream() for _ in range(min(STREAMS, len(arguments)))]
    found: list[Any] = [None] * len(arguments)
    for number, side in enumerate(sides):
        side.wait_stream(here)
        with torch.cuda.stream(side):
            for index in range(number, len(arguments), len(sides)):
                found[index] = job(*arguments[index])
    for side in sides:
        here.wait_stream(side)
    return found


@contextmanager
def _full_precision() -> Iterator[None]:
    """Without TF32, whatever the program has chosen for its network."""
    before = torch.get_float32_matmul_precision()
    if before != "highest":
        torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        if before != "highest":
            torch.set_float32_matmul_precision(before)
