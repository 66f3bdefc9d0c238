# Made from the catalogue by `python -m melmo._stubs`.
from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from melmo._penalty import Penalty as Penalty
from melmo._sum import Sum as Sum

__all__ = ['Penalty', 'Sum', 'L1', 'MCP', 'SCAD', 'Huber', 'LogSum', 'ElasticNet', 'Ridge', 'Spline', 'Nonnegative', 'Box']

class L1(Penalty):
    """λ|x|: convex; soft thresholding; the lasso, anisotropic TV, the nuclear norm.

    Parameters
    ----------
    lam : float, default 1.0
        weight λ > 0.
    on : str, default 'entries'
        What ψ is applied to: entries, nonnegative, rows, columns, pixels, groups, singular-values. An array of more than two axes is the matrix of its last one, the others stacked.
    weights : array, optional
        w ≥ 0: a weight for every entry, row, column, pixel or group; adaptive penalties have them.
    groups : list of lists of int, optional
        The entries of each group, for ``on='groups'``.

    Examples
    --------
    >>> import melmo
    >>> g = melmo.penalty.L1()
    >>> float(g.value(g.prox([3.0, -0.1, 0.2], 0.1))) >= 0
    True"""
    def __init__(self, lam: float = ..., *, on: str = ..., weights: npt.ArrayLike | None = ..., groups: Sequence[Sequence[int]] | None = ...) -> None: ...
    @property
    def lam(self) -> float: ...
    @property
    def on(self) -> str: ...
    @property
    def weights(self) -> npt.ArrayLike | None: ...
    @property
    def groups(self) -> Sequence[Sequence[int]] | None: ...

class MCP(Penalty):
    """λ|x| − x²/(2μ) if |x| ≤ μλ, else μλ²/2: minimax concave penalty; firm thresholding; ρ = 1/μ; large entries are not shrunk.

    Parameters
    ----------
    lam : float, default 1.0
        weight λ > 0.
    mu : float, default 3.0
        concavity μ > 0.
    on : str, default 'entries'
        What ψ is applied to: entries, nonnegative, rows, columns, pixels, groups, singular-values. An array of more than two axes is the matrix of its last one, the others stacked.
    weights : array, optional
        w ≥ 0: a weight for every entry, row, column, pixel or group; adaptive penalties have them.
    groups : list of lists of int, optional
        The entries of each group, for ``on='groups'``.

    Examples
    --------
    >>> import melmo
    >>> g = melmo.penalty.MCP()
    >>> float(g.value(g.prox([3.0, -0.1, 0.2], 0.1))) >= 0
    True"""
    def __init__(self, lam: float = ..., mu: float = ..., *, on: str = ..., weights: npt.ArrayLike | None = ..., groups: Sequence[Sequence[int]] | None = ...) -> None: ...
    @property
    def lam(self) -> float: ...
    @property
    def mu(self) -> float: ...
    @property
    def on(self) -> str: ...
    @property
    def weights(self) -> npt.ArrayLike | None: ...
    @property
    def groups(self) -> Sequence[Sequence[int]] | None: ...

class SCAD(Penalty):
    """λ|x| if |x| ≤ λ; (2aλ|x| − x² − λ²)/(2(a−1)) if |x| ≤ aλ; else λ²(a+1)/2: smoothly clipped absolute deviation; ρ = 1/(a−1); large entries are not shrunk.

    Parameters
    ----------
    lam : float, default 1.0
        weight λ > 0.
    a : float, default 3.7
        where it flattens, a > 2.
    on : str, default 'entries'
        What ψ is applied to: entries, nonnegative, rows, columns, pixels, groups, singular-values. An array of more than two axes is the matrix of its last one, the others stacked.
    weights : array, optional
        w ≥ 0: a weight for every entry, row, column, pixel or group; adaptive penalties have them.
    groups : list of lists of int, optional
        The entries of each group, for ``on='groups'``.

    Examples
    --------
    >>> import melmo
    >>> g = melmo.penalty.SCAD()
    >>> float(g.value(g.prox([3.0, -0.1, 0.2], 0.1))) >= 0
    True"""
    def __init__(self, lam: float = ..., a: float = ..., *, on: str = ..., weights: npt.ArrayLike | None = ..., groups: Sequence[Sequence[int]] | None = ...) -> None: ...
    @property
    def lam(self) -> float: ...
    @property
    def a(self) -> float: ...
    @property
    def on(self) -> str: ...
    @property
    def weights(self) -> npt.ArrayLike | None: ...
    @property
    def groups(self) -> Sequence[Sequence[int]] | None: ...

class Huber(Penalty):
    """λx²/(2δ) if |x| ≤ δ, else λ(|x| − δ/2): convex and smooth; small entries are shrunk, not set to zero.

    Parameters
    ----------
    lam : float, default 1.0
        weight λ > 0.
    delta : float, default 1.0
        where it becomes linear, δ > 0.
    on : str, default 'entries'
        What ψ is applied to: entries, nonnegative, rows, columns, pixels, groups, singular-values. An array of more than two axes is the matrix of its last one, the others stacked.
    weights : array, optional
        w ≥ 0: a weight for every entry, row, column, pixel or group; adaptive penalties have them.
    groups : list of lists of int, optional
        The entries of each group, for ``on='groups'``.

    Examples
    --------
    >>> import melmo
    >>> g = melmo.penalty.Huber()
    >>> float(g.value(g.prox([3.0, -0.1, 0.2], 0.1))) >= 0
    True"""
    def __init__(self, lam: float = ..., delta: float = ..., *, on: str = ..., weights: npt.ArrayLike | None = ..., groups: Sequence[Sequence[int]] | None = ...) -> None: ...
    @property
    def lam(self) -> float: ...
    @property
    def delta(self) -> float: ...
    @property
    def on(self) -> str: ...
    @property
    def weights(self) -> npt.ArrayLike | None: ...
    @property
    def groups(self) -> Sequence[Sequence[int]] | None: ...

class LogSum(Penalty):
    """λ·log(1 + |x|/θ): the limit of reweighted ℓ1; ρ = λ/θ².

    Parameters
    ----------
    lam : float, default 1.0
        weight λ > 0.
    theta : float, default 1.0
        scale θ > 0.
    on : str, default 'entries'
        What ψ is applied to: entries, nonnegative, rows, columns, pixels, groups, singular-values. An array of more than two axes is the matrix of its last one, the others stacked.
    weights : array, optional
        w ≥ 0: a weight for every entry, row, column, pixel or group; adaptive penalties have them.
    groups : list of lists of int, optional
        The entries of each group, for ``on='groups'``.

    Examples
    --------
    >>> import melmo
    >>> g = melmo.penalty.LogSum()
    >>> float(g.value(g.prox([3.0, -0.1, 0.2], 0.1))) >= 0
    True"""
    def __init__(self, lam: float = ..., theta: float = ..., *, on: str = ..., weights: npt.ArrayLike | None = ..., groups: Sequence[Sequence[int]] | None = ...) -> None: ...
    @property
    def lam(self) -> float: ...
    @property
    def theta(self) -> float: ...
    @property
    def on(self) -> str: ...
    @property
    def weights(self) -> npt.ArrayLike | None: ...
    @property
    def groups(self) -> Sequence[Sequence[int]] | None: ...

class ElasticNet(Penalty):
    """λ|x| + νx²/2: convex; sparse and shrunk; not Lipschitz, so statements that need L_g do not apply.

    Parameters
    ----------
    lam : float, default 1.0
        weight λ > 0.
    nu : float, default 1.0
        ridge ν ≥ 0.
    on : str, default 'entries'
        What ψ is applied to: entries, nonnegative, rows, columns, pixels, groups, singular-values. An array of more than two axes is the matrix of its last one, the others stacked.
    weights : array, optional
        w ≥ 0: a weight for every entry, row, column, pixel or group; adaptive penalties have them.
    groups : list of lists of int, optional
        The entries of each group, for ``on='groups'``.

    Examples
    --------
    >>> import melmo
    >>> g = melmo.penalty.ElasticNet()
    >>> float(g.value(g.prox([3.0, -0.1, 0.2], 0.1))) >= 0
    True"""
    def __init__(self, lam: float = ..., nu: float = ..., *, on: str = ..., weights: npt.ArrayLike | None = ..., groups: Sequence[Sequence[int]] | None = ...) -> None: ...
    @property
    def lam(self) -> float: ...
    @property
    def nu(self) -> float: ...
    @property
    def on(self) -> str: ...
    @property
    def weights(self) -> npt.ArrayLike | None: ...
    @property
    def groups(self) -> Sequence[Sequence[int]] | None: ...

class Ridge(Penalty):
    """νx²/2: convex and smooth; on both factors of a matrix it is the nuclear norm; not Lipschitz.

    Parameters
    ----------
    nu : float, default 1.0
        weight ν > 0.
    on : str, default 'entries'
        What ψ is applied to: entries, nonnegative, rows, columns, pixels, groups, singular-values. An array of more than two axes is the matrix of its last one, the others stacked.
    weights : array, optional
        w ≥ 0: a weight for every entry, row, column, pixel or group; adaptive penalties have them.
    groups : list of lists of int, optional
        The entries of each group, for ``on='groups'``.

    Examples
    --------
    >>> import melmo
    >>> g = melmo.penalty.Ridge()
    >>> float(g.value(g.prox([3.0, -0.1, 0.2], 0.1))) >= 0
    True"""
    def __init__(self, nu: float = ..., *, on: str = ..., weights: npt.ArrayLike | None = ..., groups: Sequence[Sequence[int]] | None = ...) -> None: ...
    @property
    def nu(self) -> float: ...
    @property
    def on(self) -> str: ...
    @property
    def weights(self) -> npt.ArrayLike | None: ...
    @property
    def groups(self) -> Sequence[Sequence[int]] | None: ...

class Spline(Penalty):
    """ψ′ piecewise linear: up to λ at p, down to t at e, t from there: smooth; ρ = (λ − t)/(e − p); large entries are not shrunk where t = 0; learned potentials are of this kind.

    Parameters
    ----------
    lam : float, default 1.0
        λ ≥ 0, what ψ′ rises to.
    peak : float, default 0.25
        where it gets there, p > 0.
    end : float, default 2.25
        where it has fallen, e > p.
    tail : float, default 0.0
        t ≥ 0, what is left of ψ′.
    on : str, default 'entries'
        What ψ is applied to: entries, nonnegative, rows, columns, pixels, groups, singular-values. An array of more than two axes is the matrix of its last one, the others stacked.
    weights : array, optional
        w ≥ 0: a weight for every entry, row, column, pixel or group; adaptive penalties have them.
    groups : list of lists of int, optional
        The entries of each group, for ``on='groups'``.

    Examples
    --------
    >>> import melmo
    >>> g = melmo.penalty.Spline()
    >>> float(g.value(g.prox([3.0, -0.1, 0.2], 0.1))) >= 0
    True"""
    def __init__(self, lam: float = ..., peak: float = ..., end: float = ..., tail: float = ..., *, on: str = ..., weights: npt.ArrayLike | None = ..., groups: Sequence[Sequence[int]] | None = ...) -> None: ...
    @property
    def lam(self) -> float: ...
    @property
    def peak(self) -> float: ...
    @property
    def end(self) -> float: ...
    @property
    def tail(self) -> float: ...
    @property
    def on(self) -> str: ...
    @property
    def weights(self) -> npt.ArrayLike | None: ...
    @property
    def groups(self) -> Sequence[Sequence[int]] | None: ...

class Nonnegative(Penalty):
    """0 if x ≥ 0, else ∞: indicator; the prox is the projection; not Lipschitz.

    Parameters
    ----------
    on : str, default 'entries'
        What ψ is applied to: entries.
    weights : array, optional
        w ≥ 0: a weight for every entry, row, column, pixel or group; adaptive penalties have them.
    groups : list of lists of int, optional
        The entries of each group, for ``on='groups'``.

    Examples
    --------
    >>> import melmo
    >>> g = melmo.penalty.Nonnegative()
    >>> float(g.value(g.prox([3.0, -0.1, 0.2], 0.1))) >= 0
    True"""
    def __init__(self, *, on: str = ..., weights: npt.ArrayLike | None = ..., groups: Sequence[Sequence[int]] | None = ...) -> None: ...
    @property
    def on(self) -> str: ...
    @property
    def weights(self) -> npt.ArrayLike | None: ...
    @property
    def groups(self) -> Sequence[Sequence[int]] | None: ...

class Box(Penalty):
    """0 if lower ≤ x ≤ upper, else ∞: indicator; the prox is the projection; not Lipschitz.

    Parameters
    ----------
    lower : float, default 0.0
        smallest value allowed.
    upper : float, default 1.0
        largest value allowed.
    on : str, default 'entries'
        What ψ is applied to: entries.
    weights : array, optional
        w ≥ 0: a weight for every entry, row, column, pixel or group; adaptive penalties have them.
    groups : list of lists of int, optional
        The entries of each group, for ``on='groups'``.

    Examples
    --------
    >>> import melmo
    >>> g = melmo.penalty.Box()
    >>> float(g.value(g.prox([3.0, -0.1, 0.2], 0.1))) >= 0
    True"""
    def __init__(self, lower: float = ..., upper: float = ..., *, on: str = ..., weights: npt.ArrayLike | None = ..., groups: Sequence[Sequence[int]] | None = ...) -> None: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...
    @property
    def on(self) -> str: ...
    @property
    def weights(self) -> npt.ArrayLike | None: ...
    @property
    def groups(self) -> Sequence[Sequence[int]] | None: ...
