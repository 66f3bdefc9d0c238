"""Schedules as data: a number, or a tuple (name, numbers…). k counts steps from 1."""

from __future__ import annotations

import math
from typing import Any

#: A number for every step.
Schedule = Any


def power(first: float, exponent: float) -> Schedule:
    """first·k^(−exponent)."""
    return ("power", float(first), float(exponent))


def horizon(first: float, exponent: float, steps: int) -> Schedule:
    """first·K^(−exponent) at every step of a run of K steps."""
    return ("horizon", float(first), float(exponent), _steps(steps))


def ramp(first: float, last: float, begin: int, end: int) -> Schedule:
    """`first` up to step `begin`, then in a straight line to `last` at step `end`, and `last` from there on."""
    return ("ramp", float(first), float(last), *_span(begin, end))


def geometric(first: float, last: float, begin: int, end: int) -> Schedule:
    """As `ramp`, by equal factors: for the continuation of μ or β. Both ends are above 0."""
    if not (first > 0 and last > 0):
        raise ValueError(f"geometric: both ends have to be above 0, got {first} and {last}")
    return ("geometric", float(first), float(last), *_span(begin, end))


def at(schedule: Schedule, k: Any, xp: Any = None) -> Any:
    """The number for step k; `xp` clips where k is traced."""
    if not isinstance(schedule, (tuple, list)):
        return schedule
    name, first, *rest = schedule
    if name == "power":
        return first * (k * 1.0) ** -rest[0]
    if name == "horizon":
        return first * float(rest[1]) ** -rest[0]
    last, begin, end = rest
    done = (k - begin) / (end - begin)
    done = min(max(done, 0.0), 1.0) if isinstance(done, float) else xp.clip(done, 0.0, 1.0)
    return first + (last - first) * done if name == "ramp" else first * (last / first) ** done


def averaging(alpha: Schedule, k: Any, xp: Any = None) -> Any:
    """α for step k, at least 1/k: the first steps take the mean of their gradients, and the very first one does not linger."""
    value, least = at(alpha, k, xp), 1.0 / k
    if isinstance(least, float):
        return max(value, least)
    return least.clamp(min=value) if hasattr(least, "clamp") else xp.maximum(value, least)


def checked(name: str, schedule: Schedule) -> Schedule:
    """The schedule, or an error that says what is wrong with it."""
    if isinstance(schedule, (tuple, list)):
        if not schedule or schedule[0] not in ("power", "horizon", "ramp", "geometric"):
            raise ValueError(f"{name}: no such schedule: {schedule!r}; see power, horizon, ramp and geometric")
        return tuple(schedule)
    if isinstance(schedule, bool) or not isinstance(schedule, (int, float)) or not math.isfinite(schedule):
        raise ValueError(f"{name}: expected a number or a schedule, got {schedule!r}")
    return float(schedule)


def _steps(steps: int) -> int:
    if steps < 1:
        raise ValueError(f"horizon: at least one step, got {steps}")
    return int(steps)


def _span(begin: int, end: int) -> tuple[int, int]:
    if not 0 <= begin < end:
        raise ValueError(f"a ramp begins before it ends: got steps {begin} to {end}")
    return int(begin), int(end)
