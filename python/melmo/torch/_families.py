"""Families of parameters: which share their units, and what is done to them together."""

from __future__ import annotations

from typing import Any

import torch

from melmo._networks import schedules
from melmo._networks.units import Family, magnitudes, rescaled

Group = dict[str, Any]


def families(group: Group) -> list[list[Any]]:
    """All parameters of a tied group together, or each on its own; none without a penalty."""
    if group["penalty"] is None:
        return []
    return [group["params"]] if group["tied"] else [[p] for p in group["params"]]


def beta(group: Group, k: int) -> float:
    return float(schedules.at(group["beta"], k))


def family(params: list[Any], group: Group) -> Family:
    """The family at the group's step."""
    k = max(group["k"], 1)
    made = Family(torch, [p.detach().to(torch.promote_types(p.dtype, torch.float32)) for p in params], group["penalty"], beta(group, k), k)
    made.check_beta()
    return made


def masked(group: Group, phis: dict[Any, Any]) -> None:
    """φ ← 0 in the units that are zero: they stay zero, and oracles see only the units that are left."""
    for params in families(group):
        s, _ = magnitudes(torch, params, group["penalty"])
        for index, p in enumerate(params):
            if p in phis and group["penalty"]["on"] != "singular-values":
                phis[p] = rescaled(torch, phis[p], (s > 0).to(phis[p].dtype), group["penalty"], index)


def largest(made: list[Family], keep: float) -> list[Any]:
    """1 for the share `keep` of all units that are largest beside the mean of their family, 0 for the others."""
    if not 0.0 < keep <= 1.0:
        raise ValueError(f"keep: expected a share above 0 and up to 1, got {keep}")
    relative = [f.s / f.s.mean().clamp_min(torch.finfo(f.s.dtype).tiny) for f in made]
    everything = torch.cat([r.reshape(-1) for r in relative])
    count = max(1, round(keep * everything.numel()))
    threshold = torch.topk(everything, count).values[-1]
    return [((r >= threshold) & (r > 0)).to(r.dtype) for r in relative]


def write(params: list[Any], family: Family, factor: Any) -> None:
    """Every unit times its factor, in place."""
    for index, (p, x) in enumerate(zip(params, family.xs, strict=True)):
        p.copy_(rescaled(torch, x, factor, family.rule, index))
