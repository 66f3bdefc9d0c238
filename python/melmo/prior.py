"""What pictures are like, as a smooth term beside any loss."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

from melmo import _melmo
from melmo._arrays import Packing, Shape, X
from melmo._checks import number, whole
from melmo._loss import Loss

__all__ = ["Learned"]


class Learned:
    """The prior that ``melmo denoise`` has: R(x) = Σ_c Σᵢ noise²·ψ_c((T_c x)ᵢ/noise), filters T and potentials ψ_c learned from photographs.

    It is the plain kind, without local scales, as those need a first picture. R is smooth and not convex, but bends down less than
    ½‖x‖² bends up: ½‖x − y‖² + R(x) has one minimiser. Where a loss bends up less than that everywhere (a blur, missing pixels), a run
    ends at a stationary point.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns of the picture.
    noise : float
        How much it removes, as if the picture had noise of this standard deviation.
    channels : int, default 1
        1, or 3: red, green and blue, one plane after another, which are seen as light and colour.
    range : float, default 1.0
        The full range of samples: 1, or 255.

    Examples
    --------
    >>> import numpy as np
    >>> import melmo
    >>> clean = np.add.outer(np.linspace(0, 1, 32), np.zeros(32))
    >>> noisy = clean + 0.1 * np.random.default_rng(0).normal(size=clean.shape)
    >>> f = melmo.prior.Learned(clean.shape, noise=0.1).beside(melmo.loss.Masked(noisy))
    >>> result = melmo.minimize(f, melmo.penalty.Box(0, 1), x0=noisy, max_iter=60)
    >>> bool(np.std(result.x - clean) < 0.05)
    True
    """

    __slots__ = ("channels", "noise", "range", "shape")

    def __init__(self, shape: tuple[int, int], noise: float, *, channels: int = 1, range: float = 1.0) -> None:
        rows, cols = shape
        self.shape: tuple[int, int] = (whole("shape", rows), whole("shape", cols))
        self.noise: float = number("noise", noise)
        self.channels: int = whole("channels", channels)
        self.range: float = number("range", range)

    def beside(self, loss: Loss[X]) -> Loss[X]:
        """The sum of `loss` and this prior, a loss like any other: for :func:`melmo.minimize` and :class:`melmo.Problem`."""
        return _Beside(loss, self)

    def __repr__(self) -> str:
        return f"Learned({self.shape}, {self.noise}, channels={self.channels}, range={self.range})"


class _Beside(Loss[X]):
    """A loss and a prior."""

    __slots__ = ()
    __signature__: ClassVar[inspect.Signature] = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("loss", "prior")]
    )

    def _check(self) -> None:
        loss = self._arguments["loss"]
        if not isinstance(loss, Loss):
            raise TypeError(f"loss: expected a loss of melmo.loss, got {loss!r}")
        self._build(self._precision())

    def _precision(self) -> str:
        return self._arguments["loss"]._precision()  # type: ignore[no-any-return]

    def _is_complex(self) -> bool:
        return self._arguments["loss"]._is_complex()  # type: ignore[no-any-return]

    def _lies_on_gpu(self) -> bool:
        return self._arguments["loss"]._lies_on_gpu()  # type: ignore[no-any-return]

    def _pairs(self, precision: str, like: Any = None) -> Packing:
        raise TypeError("x: expected real numbers, got complex ones: a learned prior is one of real images")

    def _build(self, precision: str, x: Packing | None = None) -> _melmo.Loss:
        if self._is_complex():
            self._pairs(precision)
        if precision not in self._built:
            prior = self._arguments["prior"]
            own = self._arguments["loss"]._build(precision)
            self._built[precision] = own.with_learned_prior(prior.shape, prior.channels, prior.noise, prior.range)
        built: _melmo.Loss = self._built[precision]
        return built

    def _natural(self) -> Shape | None:
        return self._arguments["loss"]._natural()  # type: ignore[no-any-return]
