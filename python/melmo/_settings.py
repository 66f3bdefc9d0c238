"""The settings of a run, checked, as Rust takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, Union

from melmo._checks import number, optional_number, optional_whole, word
from melmo._geometry import Geometry, chosen

if TYPE_CHECKING:
    from melmo._ranks import Share
    from melmo._watch import Info


class Settings(TypedDict, total=False):
    """The keywords of :func:`melmo.minimize`, for type checkers."""

    geometry: Union[Geometry, str, Mapping[str, Union[Geometry, str]], None]
    method: str
    options: Union[Mapping[str, Any], None]
    max_iter: Union[int, None]
    epsilon: Union[float, None]
    relative_epsilon: Union[float, None]
    gap: Union[float, None]
    relative_gap: Union[float, None]
    radius: Union[float, None]
    tol: Union[float, None]
    target: Union[float, None]
    max_epochs: Union[int, None]
    time_limit: Union[float, None]
    trace_every: Union[int, None]
    exact_dual_norms: bool
    callback: Union[Callable[[Info[Any]], Any], None]
    progress: Union[bool, Callable[[int, float], Any]]
    n_jobs: Union[int, None]
    threads: Union[int, None]
    device: str
    comm: Any
    split: Union[Share, Mapping[str, Share], None]


def checked_settings(
    *,
    geometry: Any = None,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    max_iter: int | None = None,
    epsilon: float | None = None,
    relative_epsilon: float | None = None,
    gap: float | None = None,
    relative_gap: float | None = None,
    radius: float | None = None,
    tol: float | None = None,
    target: float | None = None,
    max_epochs: int | None = None,
    time_limit: float | None = None,
    trace_every: int | None = None,
    exact_dual_norms: bool = False,
    threads: int | None = None,
    device: str = "cpu",
) -> dict[str, Any]:
    """The settings as Rust takes them."""
    stops = {"epsilon": epsilon, "relative_epsilon": relative_epsilon, "gap": gap, "relative_gap": relative_gap}
    given = [name for name, value in stops.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)}: give one of them")
    steps = optional_whole("max_iter", max_iter)
    epochs = optional_whole("max_epochs", max_epochs, most=2**32 - 1)
    every = optional_whole("trace_every", trace_every)
    if steps is None:
        steps = 5000 if epochs is None else 2 ** min(epochs, 53) - 1
    return {
        **chosen(geometry),
        "method": word("method", method),
        "options": None if options is None else _named("options", options),
        "max_iter": steps,
        "epsilon": optional_number("epsilon", epsilon),
        "relative_epsilon": optional_number("relative_epsilon", relative_epsilon),
        "gap": optional_number("gap", gap),
        "relative_gap": optional_number("relative_gap", relative_gap),
        "radius": optional_number("radius", radius),
        "tol": _tolerance(tol),
        "target": optional_number("target", target),
        "max_epochs": epochs,
        "time_limit": optional_number("time_limit", time_limit),
        "trace_every": max(1, steps // 100) if every is None else every,
        "exact_dual_norms": bool(exact_dual_norms),
        "threads": optional_whole("threads", threads, most=4096),
        "device": word("device", device),
    }


def _tolerance(tol: Any) -> float | None:
    found = optional_number("tol", tol)
    if found is not None and not 0.0 <= found < float("inf"):
        raise ValueError(f"tol = {found:g}: must be a finite number, at least 0; with 0 a run never settles")
    return found


def _named(what: str, given: Any) -> dict[str, Any]:
    """Parameters by name: numbers, or words where a parameter is one."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{what}: expected a dict, got {type(given).__name__}")
    return {
        word(f"a name in {what}", name): value if isinstance(value, str) else number(f"{what}: {name}", value)
        for name, value in given.items()
    }
