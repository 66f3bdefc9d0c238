# Made from the catalogue by `python -m melmo._stubs`.
from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from melmo._arrays import Blocks
from melmo._loss import Loss as Loss

__all__ = ['Loss', 'LeastSquares', 'Masked', 'Factorization', 'RobustPCA', 'Logistic', 'Huber', 'Poisson', 'Quantile', 'Multinomial', 'Cox']

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

class Poisson(Loss):
    """Σ exp((Ax)ᵢ) − bᵢ(Ax)ᵢ − bᵢ + bᵢ·log bᵢ: counts bᵢ ≥ 0 whose means are exp(Ax); half the deviance; no L_f.

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

class Quantile(Loss):
    """Σ q_s((Ax − b)ᵢ), q_s′(u) = u/s, at least −τ and at most 1 − τ: quantile regression at the level τ, smoothed over a width s; L_f = ‖A‖²/s.

    Parameters
    ----------
    A
        The design: a matrix, a SciPy sparse matrix, or an operator.
    b
        The right-hand side, an entry for each row of A; or several, a column each, and x is then a matrix of as many columns.
    level : float, default 0.5
        τ, between 0 and 1.
    width : float, default 0.1
        where it is smooth, s > 0.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, A: Any, b: npt.ArrayLike, *, level: float = ..., width: float = ...) -> None: ...
    @property
    def A(self) -> Any: ...
    @property
    def b(self) -> npt.ArrayLike: ...
    @property
    def level(self) -> float: ...
    @property
    def width(self) -> float: ...

class Multinomial(Loss):
    """Σ log Σ_k exp((AX)_ik) − (AX)_ib for the class b of row i: several classes b = 0, 1, …; X has a column a class; L_f = ‖A‖²/2.

    Parameters
    ----------
    A
        The design: a matrix, a SciPy sparse matrix, or an operator.
    b
        The right-hand side, an entry for each row of A; or several, a column each, and x is then a matrix of as many columns.
    classes : float, default 3
        how many classes, 2 at least.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, A: Any, b: npt.ArrayLike, *, classes: float = ...) -> None: ...
    @property
    def A(self) -> Any: ...
    @property
    def b(self) -> npt.ArrayLike: ...
    @property
    def classes(self) -> float: ...

class Cox(Loss):
    """Σ log Σ_{tⱼ ≥ tᵢ} exp((Ax)ⱼ) − (Ax)ᵢ over rows i with an event at tᵢ: times bᵢ = tᵢ until an event, bᵢ = −tᵢ where it was not seen until tᵢ; Breslow's ties; L_f = ‖A‖²/2 an event.

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
