"""What a full pass over the data proves about a point."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from melmo._networks import norms
from melmo._networks.certificate import Certificate
from melmo.torch import _families


def certificate(optimizer: Any, loader: Iterable[Any], loss: Callable[[Any], Any]) -> Certificate:
    """Two passes: at x, and at z."""
    params = [p for g in optimizer.param_groups for p in g["params"]]
    f, grads, samples = _full(params, loader, loss)
    points = _smoothing(optimizer)
    z = [points[p][0] if p in points else p.detach() for p in params]
    slopes = [points[p][1] if p in points else torch.zeros_like(p) for p in params]
    here = [p.detach().clone() for p in params]
    try:
        _place(params, z)
        at_z = _full(params, loader, loss)[1]
    finally:
        _place(params, here)
    phis = [g + s for g, s in zip(grads, slopes, strict=True)]
    dual, gap = _duals(optimizer, dict(zip(params, phis, strict=True)))
    penalty, envelope = _penalties(optimizer)
    return Certificate(
        loss=f,
        penalty=penalty,
        smoothed=f + envelope,
        dual_norm=dual,
        prox_gap=_length([x - y for x, y in zip(here, z, strict=True)]),
        stationarity=_length([g + s for g, s in zip(at_z, slopes, strict=True)]),
        frank_wolfe_gap=gap,
        samples=samples,
    )


def _full(params: list[Any], loader: Iterable[Any], loss: Callable[[Any], Any]) -> tuple[float, list[Any], int]:
    """f, ∇f and the number of samples, summed in f64."""
    total, samples = 0.0, 0
    sums = [torch.zeros_like(p, dtype=torch.float64) for p in params]
    for batch in loader:
        count = len(batch[0] if isinstance(batch, (tuple, list)) else batch)
        with torch.enable_grad():
            value = loss(batch)
            found = torch.autograd.grad(value, params, allow_unused=True)
        for into, grad in zip(sums, found, strict=True):
            if grad is not None:
                into.add_(grad.detach(), alpha=count)
        total, samples = total + value.item() * count, samples + count
    if samples == 0:
        raise ValueError("certificate: the loader gave no samples")
    return total / samples, [s / samples for s in sums], samples


def _smoothing(optimizer: Any) -> dict[Any, tuple[Any, Any]]:
    """(z, ∇g_β(x)) of every parameter under a penalty that is on."""
    found = {}
    for params, made in _made(optimizer):
        for p, z, slope in zip(params, made.prox(), made.gradient(), strict=True):
            found[p] = (z.to(p.dtype), slope)
    return found


def _penalties(optimizer: Any) -> tuple[float, float]:
    """g(x) and g_β(x)."""
    made = [family for _, family in _made(optimizer)]
    return sum(float(f.value(f.s)) for f in made), sum(float(f.envelope()) for f in made)


def _made(optimizer: Any) -> list[tuple[list[Any], Any]]:
    on = [g for g in optimizer.param_groups if g["frozen"] is not True]
    return [(params, _families.family(params, g)) for g in on for params in _families.families(g)]


def _duals(optimizer: Any, phis: dict[Any, Any]) -> tuple[float, float | None]:
    """Σ r_b‖φ_b‖_*, and the Frank–Wolfe gap Σ ⟨φ_b, x_b⟩ + r·r_b‖φ_b‖_* over the groups with a ball."""
    dual, gap = 0.0, None
    for group in optimizer.param_groups:
        for p in group["params"]:
            norm = norms.chosen(group["norm"], p.shape)
            phi = phis[p].double()
            size = float(norms.dual_norm(torch, norm, phi.reshape(norms.matrix_shape(p.shape))))
            size *= norms.radius(group["radius"], norm, p.shape)
            dual += size
            if group["ball"] is not None:
                gap = (gap or 0.0) + float((phi * p.detach()).sum()) + group["ball"] * size
    return dual, gap


def _place(params: list[Any], at: list[Any]) -> None:
    with torch.no_grad():
        for p, x in zip(params, at, strict=True):
            p.copy_(x)


def _length(parts: list[Any]) -> float:
    return float(sum(float((part.double() ** 2).sum()) for part in parts) ** 0.5)
