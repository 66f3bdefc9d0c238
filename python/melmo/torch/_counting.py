"""Steps of a group: an int, or a number on the device where a step is captured."""

from __future__ import annotations

from typing import Any

import torch

Groups = list[dict[str, Any]]


def place(groups: Groups) -> None:
    """Groups that are captured count on their device: one number for all groups that have taken as many steps."""
    shared: dict[Any, Any] = {}
    for group in groups:
        if not group.get("capturable", False):
            continue
        device = group["params"][0].device
        k = group["k"]
        if isinstance(k, torch.Tensor) and id(k) in shared:
            continue
        made = shared.setdefault((float(k), device), torch.as_tensor(float(k), device=device).clone())
        group["k"] = made
        shared[id(made)] = made


def advance(groups: Groups) -> None:
    """k ← k + 1."""
    done = set()
    for group in groups:
        if not isinstance(group["k"], torch.Tensor):
            group["k"] += 1
        elif id(group["k"]) not in done:
            done.add(id(group["k"]))
            group["k"].add_(1.0)


def number(group: dict[str, Any]) -> Any:
    """k, for schedules; no int, so that quotients are floats."""
    k = group["k"]
    return k if isinstance(k, torch.Tensor) else float(k)


def key(group: dict[str, Any]) -> Any:
    """Equal where steps are equal."""
    return id(group["k"]) if isinstance(group["k"], torch.Tensor) else group["k"]


def capturing() -> bool:
    """Whether a CUDA graph is being captured, where nothing can be looked at."""
    return bool(torch.cuda.is_available() and torch.cuda.is_current_stream_capturing())
