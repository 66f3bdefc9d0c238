# Made from the catalogue by `python -m melmo._stubs`.
from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from melmo._arrays import Blocks
from melmo._loss import Loss as Loss

__all__ = ['Loss', 'LeastSquares', 'Masked', 'Factorization', 'RobustPCA', 'Logistic', 'Huber']

class LeastSquares(Loss):
    """½‖Ax − b‖²: A any operator; L_f = ‖A‖².

    Parameters
    ----------
    A
        The design: a matrix, a SciPy sparse matrix, or an operator.
    b
        The right-hand side, an entry for each row of A; or several, a column each, and x is then a matrix of as many columns.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, A: Any, b: npt.ArrayLike) -> None: ...
    @property
    def A(self) -> Any: ...
    @property
    def b(self) -> npt.ArrayLike: ...

class Masked(Loss):
    """½‖M⊙(X − Y)‖²: denoising (no mask) and recovery of masked entries; L_f = 1.

    Parameters
    ----------
    Y
        The data.
    mask
        1 where an entry is observed, 0 elsewhere; all are unless given.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, Y: npt.ArrayLike, mask: npt.ArrayLike | None = ...) -> None: ...
    @property
    def Y(self) -> npt.ArrayLike: ...
    @property
    def mask(self) -> npt.ArrayLike | None: ...

class Factorization(Loss[Blocks]):
    """c‖M⊙(Y − WH)‖² + ν/2·‖H‖²: blocks W (m×r) and H (r×n); no global L_f.

    Parameters
    ----------
    Y
        The data.
    mask
        1 where an entry is observed, 0 elsewhere; all are unless given.
    rank : float, default 2
        r ≥ 1.
    c : float, default 1.0
        coefficient c > 0.
    ridge : float, default 0.0
        ν ≥ 0.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, Y: npt.ArrayLike, mask: npt.ArrayLike | None = ..., *, rank: float = ..., c: float = ..., ridge: float = ...) -> None: ...
    @property
    def Y(self) -> npt.ArrayLike: ...
    @property
    def mask(self) -> npt.ArrayLike | None: ...
    @property
    def rank(self) -> float: ...
    @property
    def c(self) -> float: ...
    @property
    def ridge(self) -> float: ...

class RobustPCA(Loss[Blocks]):
    """½‖M⊙(Y − L − S)‖²: blocks L and S; L_f = 2.

    Parameters
    ----------
    Y
        The data.
    mask
        1 where an entry is observed, 0 elsewhere; all are unless given.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, Y: npt.ArrayLike, mask: npt.ArrayLike | None = ...) -> None: ...
    @property
    def Y(self) -> npt.ArrayLike: ...
    @property
    def mask(self) -> npt.ArrayLike | None: ...

class Logistic(Loss):
    """Σ log(1 + exp(−bᵢ(Ax)ᵢ)): labels bᵢ = ±1 (or 0/1); L_f = ‖A‖²/4.

    Parameters
    ----------
    A
        The design: a matrix, a SciPy sparse matrix, or an operator.
    b
        The right-hand side, an entry for each row of A; or several, a column each, and x is then a matrix of as many columns.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, A: Any, b: npt.ArrayLike) -> None: ...
    @property
    def A(self) -> Any: ...
    @property
    def b(self) -> npt.ArrayLike: ...

class Huber(Loss):
    """Σ h_δ((Ax − b)ᵢ), h_δ(r) = r²/2 if |r| ≤ δ, else δ|r| − δ²/2: regression that outliers do not bend; L_f = ‖A‖².

    Parameters
    ----------
    A
        The design: a matrix, a SciPy sparse matrix, or an operator.
    b
        The right-hand side, an entry for each row of A; or several, a column each, and x is then a matrix of as many columns.
    delta : float, default 1.35
        where it becomes linear, δ > 0.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, A: Any, b: npt.ArrayLike, *, delta: float = ...) -> None: ...
    @property
    def A(self) -> Any: ...
    @property
    def b(self) -> npt.ArrayLike: ...
    @property
    def delta(self) -> float: ...
