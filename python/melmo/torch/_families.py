"""Families of parameters: which share their units, and what is done to them together."""

from __future__ import annotations

from typing import Any

import torch

from melmo._networks import schedules
from melmo._networks.units import Family, rescaled

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
    k = max(int(group["k"]), 1)
    made = Family(torch, [p.detach().to(torch.promote_types(p.dtype, torch.float32)) for p in params], group["penalty"], beta(group, k), k)
    made.check_beta()
    return made


def add_slope(group: Group, params: list[Any], phis: dict[Any, Any]) -> None:
    """φ ← φ + ∇g_β(x) for one family, and 0 in entries that stay zero: what a `Bundle` does for many, for entries and singular values."""
    rule = group["penalty"]
    if group["frozen"] is not True:
        for p, part in zip(params, family(params, group).gradient(), strict=True):
            if p in phis:
                phis[p] = phis[p] + part
    if group["frozen"] and rule["on"] != "singular-values":
        for p in params:
            if p in phis:
                phis[p] = phis[p] * (p.detach() != 0)


def factors(made: list[Family], keep: Any) -> list[Any]:
    """What every unit is multiplied by: z/s, or 1 and 0 for the units that `keep` says."""
    if keep is None:
        return [f.kept for f in made]
    if not callable(keep):
        return largest(made, keep)
    found = list(keep([f.s for f in made]))
    if [tuple(k.shape) for k in found] != [tuple(f.s.shape) for f in made]:
        raise ValueError("keep: expected a tensor for each family, with one number for each of its units")
    return [k.to(f.s.device, f.s.dtype) for k, f in zip(found, made, strict=True)]


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
