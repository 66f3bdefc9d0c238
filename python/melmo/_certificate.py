"""Certificates: what was reached, re-checkable from the point and the problem alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from melmo import _melmo
from melmo._arrays import Variable

if TYPE_CHECKING:
    from melmo._problem import Problem


class Check(NamedTuple):
    """One line of a verification."""

    what: str
    left: float
    right: float
    slack: float
    holds: bool


class Verification(tuple[Check, ...]):
    """What a verification found, line by line; true when every line holds."""

    __slots__ = ()

    @property
    def passed(self) -> bool:
        """Every line holds."""
        return all(check.holds for check in self)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        lines = [f"{'holds' if c.holds else 'FAILS'}  {c.what}: {c.left:.6g}, {c.right:.6g}" for c in self]
        return "\n".join(["passed" if self.passed else "failed", *lines])


class BlockNorm(NamedTuple):
    """The norm of one block."""

    block: str
    rows: int
    cols: int
    norm: str
    radius: float


class Stationarity(NamedTuple):
    """For surjective T: x̃ near x with Tx̃ = z, and a bound on dist(−∇f(x̃), T*∂g(Tx̃))."""

    point: Variable
    distance: float
    bound: float


class Certificate:
    """At x, with z = prox_{βg}(Tx): ‖∇F_β(x)‖_* lies in `dual_norm` and ‖Tx − z‖₂ is `prox_gap`.

    It remembers the problem and the point of its run, so that ``verify()`` needs nothing; a copy that was pickled, or made
    by ``from_json``, has to be given both.
    """

    __slots__ = ("_raw", "_problem", "_x")

    def __init__(self, raw: _melmo.Certificate, problem: Problem | None = None, x: Any = None):
        self._raw = raw
        self._problem = problem
        self._x = x

    @property
    def precision(self) -> str:
        """``f32`` or ``f64``: the precision of the point."""
        return self._raw.precision

    @property
    def beta(self) -> float:
        """β, the smoothing."""
        return self._raw.beta

    @property
    def norms(self) -> list[BlockNorm]:
        """The norm, block by block."""
        return [BlockNorm(*row) for row in self._raw.norms]

    @property
    def dual_norm(self) -> tuple[float, float]:
        """Bounds on ‖∇F_β(x)‖_*."""
        return self._raw.dual_norm

    @property
    def prox_gap(self) -> float:
        """‖Tx − z‖₂."""
        return self._raw.prox_gap

    @property
    def claim(self) -> tuple[float, float] | None:
        """The ε of the dual norm and of the gap that were asked for and reached, if they were."""
        return self._raw.claim

    @property
    def stationarity(self) -> Stationarity | None:
        """Near-stationarity of the problem itself, where T is surjective."""
        found = self._raw.stationarity
        if found is None:
            return None
        point = found[0] if self._problem is None else self._problem.packing.unpack(found[0])
        return Stationarity(point, found[1], found[2])

    def verify(self, problem: Problem | None = None, x: Any = None, *, tolerance: float | None = None) -> Verification:
        """Recompute everything from the point and the problem, by the plain formulas and a dense SVD.

        Parameters
        ----------
        problem : Problem, optional
            The problem; that of the run unless given.
        x : array or dict of arrays, optional
            The point; that of the run unless given.
        tolerance : float, optional
            Relative to the sizes involved; 1e-6 in double and 1e-4 in single precision unless given.

        Returns
        -------
        Verification
            Line by line what was compared; true when every line holds.
        """
        problem = problem or self._problem
        x = self._x if x is None else x
        if problem is None or x is None:
            raise ValueError("this certificate does not remember its problem and point: give both to verify()")
        lines = problem._raw.verify(self._raw, problem.packing.pack("x", x), tolerance)
        return Verification(Check(*line) for line in lines)

    def to_json(self) -> str:
        """Every digit, in the form that the program stores."""
        return self._raw.to_json()

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """What ``to_json`` wrote."""
        precision = json.loads(text).get("precision", "f64")
        return cls(_melmo.Certificate.from_json(text, precision))

    def __reduce__(self) -> Any:
        return Certificate.from_json, (self.to_json(),)

    def __copy__(self) -> Certificate:
        return self

    def __deepcopy__(self, memo: Any) -> Certificate:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lower, upper = self.dual_norm
        about = f"dual_norm=({lower:.4g}, {upper:.4g}), prox_gap={self.prox_gap:.4g}, beta={self.beta:.4g}"
        if self.claim is not None:
            about += f", claim=({self.claim[0]:.4g}, {self.claim[1]:.4g})"
        found = self._raw.stationarity
        if found is not None:
            about += f", stationary to {found[2]:.4g} at distance {found[1]:.4g}"
        return f"Certificate({about})"
