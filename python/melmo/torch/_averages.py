"""m ← (1−α)m + α∇f_B(x), for all parameters of a kind at once."""

from __future__ import annotations

from typing import Any

import torch

from melmo._networks import schedules
from melmo.torch import _counting


def update(groups: list[dict[str, Any]], states: Any) -> dict[Any, Any]:
    """Updates every m; what φ starts from: m, or m with Nesterov's look ahead. Of parameters that have a gradient."""
    phis: dict[Any, Any] = {}
    kinds: dict[Any, tuple[list[Any], dict[str, Any]]] = {}
    for group in groups:
        for p in group["params"]:
            if p.grad is None:
                continue
            if p.grad.is_sparse:
                raise ValueError("melmo.torch: sparse gradients are not supported; use dense ones (sparse=False)")
            phis[p] = None
            if "m" not in states[p]:
                states[p]["m"] = p.grad.detach().to(torch.promote_types(p.dtype, torch.float32), copy=True)
            ahead = group["momentum"] == "nesterov"
            key = (group["alpha"], _counting.key(group), ahead, states[p].get("last") is not None, states[p]["m"].dtype, p.device)
            kinds.setdefault(key, ([], group))[0].append(p)
    for (_, _, ahead, storm, dtype, _), (params, group) in kinds.items():
        alpha = schedules.averaging(group["alpha"], _counting.number(group), torch)
        ms = [states[p]["m"] for p in params]
        grads = [p.grad if p.grad.dtype == dtype else p.grad.to(dtype) for p in params]
        if storm:  # m ← ∇f_B(x) + (1−α)(m − ∇f_B(x before))
            torch._foreach_sub_(ms, [states[p].pop("last").to(dtype) for p in params])
            torch._foreach_mul_(ms, 1.0 - alpha)
            torch._foreach_add_(ms, grads)
        elif at_once(alpha):
            torch._foreach_lerp_(ms, grads, alpha)
        else:
            torch._foreach_add_(ms, _towards(ms, grads, alpha))
        if not ahead:
            seen = ms
        elif at_once(alpha):
            seen = torch._foreach_lerp(ms, grads, alpha)
        else:
            seen = torch._foreach_add(ms, _towards(ms, grads, alpha))
        phis.update(zip(params, seen, strict=True))
    return phis


def at_once(alpha: Any) -> bool:
    """Whether one call does it: for a number of the host, since PyTorch 2.0."""
    return isinstance(alpha, float) and hasattr(torch, "_foreach_lerp")


def _towards(ms: list[Any], grads: list[Any], alpha: Any) -> list[Any]:
    """α(g − m)."""
    difference = list(torch._foreach_sub(grads, ms))
    torch._foreach_mul_(difference, alpha)
    return difference
