"""x ← x + γ·lmo(φ), matrices of one shape and norm together; small ones of all shapes."""

from __future__ import annotations

from typing import Any

import torch

from melmo._networks import norms
from melmo.torch import _small

Group = dict[str, Any]


class Move:
    """A parameter, its φ, and how far it goes: γ times a radius."""

    def __init__(self, p: Any, phi: Any, group: Group) -> None:
        self.p, self.phi = p, phi
        self.norm, self.shape, self.radius = _measures(group["norm"], group["radius"], p.shape)
        self.lr, self.ball = group["lr"], group["ball"]

    def key(self) -> Any:
        """Moves with equal keys are made together."""
        kind = (id(self.lr) if isinstance(self.lr, torch.Tensor) else float(self.lr), self.phi.dtype, self.p.device)
        if self.norm == "l2":
            return "l2", *kind
        if self.norm == "spectral" and _small.fits(self.shape, self.phi):
            return "small", *kind
        return self.norm, tuple(sorted(self.shape)) if self.norm == "spectral" else self.shape, *kind


def _measures(norm: str, radius: Any, shape: Any) -> tuple[str, tuple[int, int], float]:
    """Which norm, of which matrix, and how long a step is."""
    chosen = norms.chosen(norm, shape)
    return chosen, norms.matrix_shape(shape), norms.radius(radius, chosen, shape)


def move(groups: list[Group], phis: dict[Any, Any], constants: dict[Any, Any], failed: dict[Any, Any]) -> None:
    """`constants` keeps tensors between steps, `failed` counts polar factors on their device."""
    together: dict[Any, list[Move]] = {}
    for group in groups:
        for p in group["params"]:
            if p in phis:
                made = Move(p, phis[p], group)
                together.setdefault(made.key(), []).append(made)
    for moves in together.values():
        for made in moves:
            if made.ball is not None:
                made.p.mul_(1.0 - _at_most_one(made.lr / made.ball))
    jobs = [({"l2": _l2, "small": _small_spectral}.get(key[0], _stack), moves) for key, moves in together.items()]
    jobs.sort(key=lambda job: job[0] is _l2)  # the shortest last
    for (_, moves), wrong in zip(jobs, _small.beside(lambda job, moves: job(moves, constants), jobs), strict=True):
        if wrong is not None:
            device = moves[0].p.device
            if device not in failed:
                failed[device] = torch.zeros((), dtype=torch.int64, device=device)
            failed[device].add_(wrong.sum())


def _stack(moves: list[Move], _: Any) -> Any:
    """Matrices of one shape, also turned by a quarter."""
    norm = moves[0].norm
    turned = [norm == "spectral" and m.shape[1] > m.shape[0] for m in moves]
    matrices = [m.phi.reshape(m.shape) for m in moves]
    work = torch.bfloat16 if moves[0].p.is_cuda else None
    stack = torch.stack([phi.mT if t else phi for phi, t in zip(matrices, turned, strict=True)])
    found, failed = norms.direction(torch, norm, stack, work)
    for m, d, t in zip(moves, found.unbind(), turned, strict=True):
        d = (d.mT if t else d).reshape(m.p.shape).to(m.p.dtype)
        if isinstance(m.lr, torch.Tensor):
            m.p.addcmul_(d, m.lr, value=-m.radius)
        else:
            m.p.add_(d, alpha=-float(m.lr) * m.radius)
    return failed


def _l2(moves: list[Move], constants: Any) -> Any:
    """x ← x − γrφ/‖φ‖₂ for all of them, with one look at their lengths."""
    lengths = torch.stack(list(torch._foreach_norm([m.phi for m in moves])))
    scale = _numbers(constants, "radius", moves, lengths) * -moves[0].lr
    scale = torch.where(lengths > 0.0, scale / lengths, 0.0)
    for m, s in zip(moves, scale.unbind(), strict=True):
        if m.phi.dtype == m.p.dtype:
            m.p.addcmul_(m.phi, s)
        else:
            m.p.add_((m.phi * s).to(m.p.dtype))


def _small_spectral(moves: list[Move], constants: Any) -> Any:
    """x ← x − γr·QM, straight into x."""
    views = [_matrices(m) for m in moves]
    q, failed = _small.polar_factors([phi for _, phi in views], _numbers(constants, "short", moves, views[0][1]), constants)
    q = q * (_numbers(constants, "radius", moves, q) * -moves[0].lr)[:, None, None]
    straight = []
    for m, (x, phi), factor in zip(moves, views, q, strict=True):
        short = min(m.shape)
        factor = factor[:short, :short]
        product = (phi, factor) if m.shape[0] > m.shape[1] else (factor, phi)
        if x is not None and x.dtype == phi.dtype:
            straight.append((x, *product))
        else:
            m.p.add_(torch.mm(*product).reshape(m.p.shape).to(m.p.dtype))
    _small.beside(_add_product, straight)
    return failed


def _add_product(x: Any, left: Any, right: Any) -> None:
    x.addmm_(left, right)


def _matrices(m: Move) -> tuple[Any, Any]:
    """x as a matrix that shares its memory (None where there is none), and φ with its columns in the same order."""
    x = m.p.detach()
    if x.is_contiguous():
        return x.view(m.shape), m.phi.reshape(m.shape)
    if x.ndim == 4 and x.is_contiguous(memory_format=torch.channels_last):  # columns in another order: a polar factor has them in it too
        return x.permute(0, 2, 3, 1).view(m.shape), m.phi.permute(0, 2, 3, 1).reshape(m.shape)
    return None, m.phi.reshape(m.shape)


def _numbers(constants: Any, name: str, moves: list[Move], like: Any) -> Any:
    """A number for each move, as a tensor that stays on the device."""
    numbers = tuple(min(m.shape) if name == "short" else m.radius for m in moves)
    key = (numbers, like.dtype, like.device)
    if key not in constants:
        constants[key] = torch.tensor(numbers, dtype=like.dtype, device=like.device)
    return constants[key]


def _at_most_one(share: Any) -> Any:
    return share.clamp(max=1.0) if isinstance(share, torch.Tensor) else min(float(share), 1.0)
