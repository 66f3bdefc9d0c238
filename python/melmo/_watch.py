"""Watching a run: what is known at a point, callbacks, a bar, and the result that an exception carries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Union, cast

from melmo._arrays import Array, Packing, Variable, X
from melmo._checks import brief
from melmo._result import Result

#: The fields of an Info but the point, as Rust gives them.
Fields = tuple[int, Union[int, None], float, tuple[float, float], float, float, float, float, float]


@dataclass(frozen=True)
class Info(Generic[X]):
    """The scalars at a point of a run, and the point."""

    #: Which point: x_k, k = 1 for the start.
    k: int
    #: The epoch that evaluated it, for methods that run in epochs.
    epoch: int | None
    #: F(x).
    fun: float
    #: Bounds on ‖∇F_β(x)‖_*, as the step's oracle has them. Where there are singular values they leave room for rounding of its
    #: usual size; those of ``certificate.dual_norm`` hold whatever rounding does.
    dual_norm: tuple[float, float]
    #: ‖Tx − z‖₂.
    prox_gap: float
    #: The smoothing; 0 for a method without.
    beta: float
    #: The length of the step.
    gamma: float
    #: ⟨φ, d⟩ ≤ −(1 − η)‖φ‖_* for the oracle's direction d.
    eta: float
    #: ν with ‖d‖ ≤ 1 + ν.
    excess: float
    #: The point, a copy.
    x: X

    @classmethod
    def _of(cls, fields: Fields, x: Variable) -> Info[X]:
        return cls(*fields, cast(X, x))


class Callback:
    """Shows a point to the user in its shape."""

    def __init__(self, callback: Callable[[Info[Any]], Any], packing: Packing):
        self.callback = callback
        self.packing = packing

    def __call__(self, fields: Fields, x: Array) -> Any:
        return self.callback(Info._of(fields, self.packing.unpack(x)))


class Progress:
    """A bar of tqdm, the user's own function, or nothing."""

    def __init__(self, progress: bool | Callable[[int, float], Any], total: int | None):
        if not isinstance(progress, bool) and progress is not None and not callable(progress):
            raise TypeError(f"progress: expected True, False or a function of k and F, got {brief(progress)}")
        self.call = progress if callable(progress) else None
        self.bar: Any = None
        if progress is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                raise ImportError("progress=True needs tqdm: pip install tqdm") from None
            self.bar = tqdm(total=total, unit="step")
            self.call = self.update

    def update(self, k: int, fun: float) -> None:
        """Moves the bar to k."""
        self.bar.set_postfix(F=f"{fun:.6g}", refresh=False)
        self.bar.update(k - 1 - self.bar.n)

    def __enter__(self) -> Callable[[int, float], Any] | None:
        return self.call

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.close()


def attach(error: BaseException, result: Result[Any]) -> None:
    """The result so far, for whoever catches the exception."""
    try:
        error.result = result  # type: ignore[attr-defined]
    except AttributeError:
        pass
    if hasattr(error, "add_note"):
        error.add_note(f"melmo: the run ended after {result.nit} steps; the point so far is in this exception's `result`")
