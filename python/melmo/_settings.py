"""The settings of a run, checked, as Rust takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from melmo._geometry import spelled


def checked_settings(
    *,
    geometry: Any = None,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    max_iter: int | None = None,
    epsilon: float | None = None,
    relative_epsilon: float | None = None,
    max_epochs: int | None = None,
    time_limit: float | None = None,
    trace_every: int | None = None,
    exact_dual_norms: bool = False,
) -> dict[str, Any]:
    """The settings as Rust takes them."""
    if epsilon is not None and relative_epsilon is not None:
        raise ValueError("epsilon and relative_epsilon: give one of them")
    counts = {"max_iter": max_iter, "max_epochs": max_epochs, "trace_every": trace_every}
    for name, value in counts.items():
        if value is not None and (isinstance(value, bool) or int(value) != value or value < 0):
            raise ValueError(f"{name} = {value!r}: must be a whole number, at least 0")
    steps = max_iter
    if steps is None:
        steps = 5000 if max_epochs is None else 2 ** min(int(max_epochs), 62) - 1
    return {
        **spelled(geometry),
        "method": method,
        "options": None if options is None else dict(options),
        "max_iter": int(steps),
        "epsilon": epsilon,
        "relative_epsilon": relative_epsilon,
        "max_epochs": max_epochs,
        "time_limit": time_limit,
        "trace_every": max(1, steps // 100) if trace_every is None else int(trace_every),
        "exact_dual_norms": bool(exact_dual_norms),
    }
