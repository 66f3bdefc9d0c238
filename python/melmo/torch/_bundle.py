"""The magnitudes of many families of units as one vector: a penalty's slope costs few kernels, however many layers have it."""

from __future__ import annotations

from typing import Any

import torch

from melmo._networks import penalties
from melmo._networks.units import Numbers, Rule, axis_of
from melmo.torch._small import beside

Params = list[Any]


class Bundle:
    """Families with one penalty, the same number of parameters in each."""

    def __init__(self, families: list[Params], rule: Rule) -> None:
        self.families, self.rule = families, rule
        first = families[0][0]
        self.counts, sizes = [], []
        for params in families:
            views = [_split(p.detach(), rule, j) for j, p in enumerate(params)]
            self.counts.append(int(views[0][0].shape[views[0][1]]))
            entries = sum(v.numel() // self.counts[-1] for v, _ in views)
            sizes.append(float(entries) ** 0.5 if rule["scaled"] else 1.0)
        kind = torch.promote_types(first.dtype, torch.float32)
        weights = [torch.full((n,), w, dtype=kind) for n, w in zip(self.counts, sizes, strict=True)]
        #: The weight of every unit. Made once: nothing is copied to a device while a graph is captured.
        self.weights = torch.cat(weights).to(first.device)
        self.largest_weight = max(sizes)
        self.last: tuple[float, Any] = (1.0, self.weights)

    def magnitudes(self) -> Any:
        """s of every unit, family after family."""
        parts = len(self.families[0])
        lengths = torch.cat(beside(_lengths, [(params[j], self.rule, j) for j in range(parts) for params in self.families])).view(parts, -1)
        return torch.linalg.vector_norm(lengths, dim=0)

    def add_slopes(self, phis: dict[Any, Any], beta: Any, k: Any, frozen: bool | str) -> None:
        """φ ← φ + ∇g_β(x), where the penalty is on; φ ← 0 in units that are zero, where those stay zero."""
        s = self.magnitudes()
        lost = None if frozen is True else self._lost(s, beta, k).split(self.counts)
        alive = (s > 0).to(s.dtype).split(self.counts) if frozen else None
        changes = []
        for index, params in enumerate(self.families):
            of_units = [None if part is None else part[index] for part in (lost, alive)]
            changes += [(phis[p], p, self.rule, j, *of_units) for j, p in enumerate(params) if p in phis]
        for (_, p, *_), changed in zip(changes, beside(_changed, changes), strict=True):
            phis[p] = changed

    def _lost(self, s: Any, beta: Any, k: Any) -> Any:
        """(1 − z/s)/β of every unit: ∇g_β(x) = (x − z)/β."""
        numbers = Numbers(self.rule, k, torch)
        if not any(isinstance(n, torch.Tensor) for n in (beta, numbers.lam, numbers.shape, numbers.weight)):
            numbers.check_beta(beta, self.largest_weight)  # numbers on the device are not looked at: that would wait for it
        lam, omega = numbers.lam, numbers.weight
        shape: Any = numbers.shape
        if numbers.name == "l1":
            return (self._weighted(lam * omega) / s).clamp(max=1.0 / beta)
        if numbers.name == "mcp":  # between βλ and μλ: w(λ/s − 1/μ)/(1 − βw/μ), w with ω; 1/β below, 0 above
            steeper = self._weighted(omega)
            steeper = steeper / (1.0 - steeper * (beta / shape))
            return ((lam / s - 1.0 / shape) * steeper).clamp(min=0.0).clamp(max=1.0 / beta)
        z = penalties.prox(torch, numbers.name, s, self.weights * (beta * omega), lam, shape)
        return (1.0 - z / s.clamp_min(torch.finfo(s.dtype).tiny)) / beta


    def _weighted(self, number: Any) -> Any:
        """The weights times a number; kept where that is one of the host."""
        if isinstance(number, torch.Tensor):
            return self.weights * number
        if self.last[0] != number:
            self.last = number, self.weights * number
        return self.last[1]


def _split(x: Any, rule: Rule, j: int) -> tuple[Any, int]:
    """A view of x with one axis for its units, and which axis that is."""
    axis, stacked, count = axis_of(x.shape, rule, j)
    if count == x.shape[axis]:
        return x, axis
    return x.unflatten(axis, (stacked, count, x.shape[axis] // (stacked * count))), axis + 1


def _lengths(p: Any, rule: Rule, j: int) -> Any:
    x, axis = _split(_full(p), rule, j)
    if x.ndim == 1:
        return x
    return torch.linalg.vector_norm(x, dim=[a for a in range(x.ndim) if a != axis])


def _changed(phi: Any, p: Any, rule: Rule, j: int, lost: Any, alive: Any) -> Any:
    seen, axis = _split(phi, rule, j)
    along = [-1 if a == axis else 1 for a in range(seen.ndim)]
    if alive is not None:
        seen = seen * alive.view(along)
    if lost is not None:
        seen = torch.addcmul(seen, _split(_full(p), rule, j)[0], lost.view(along))
    return seen.reshape(phi.shape) if seen.ndim != phi.ndim else seen


def _full(p: Any) -> Any:
    """Half-precision parameters are looked at in f32."""
    x = p.detach()
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
