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
    """What a verification found, line by line; true when every line holds.

    It says that the certificate was *reproduced* and that its claims are true, not that the problem is solved:
    :meth:`Certificate.passed` asks that.
    """

    __slots__ = ()

    @property
    def passed(self) -> bool:
        """Every line holds."""
        return all(check.holds for check in self)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        lines = [
            f"{'holds' if c.holds else 'FAILS'}  {c.what}: {c.left:.6g} against {c.right:.6g}, give or take {c.slack:.2g}"
            for c in self
        ]
        return "\n".join(["reproduced" if self.passed else "not reproduced", *lines])


class BlockNorm(NamedTuple):
    """The norm of one block."""

    block: str
    rows: int
    cols: int
    norm: str
    radius: float


class Optimality(NamedTuple):
    """F(x), what no point lies below, and a bound on F(x) − F*."""

    objective: float
    bound: float
    gap: float


class Claim(NamedTuple):
    """What was asked for and reached; None for what was not asked for."""

    dual_norm: float | None
    prox_gap: float | None
    gap: float | None


class Stationarity(NamedTuple):
    """For surjective T: x̃ near x with Tx̃ = z, and ‖∇f(x̃) + T*w‖₂ with w ∈ ∂g(z)."""

    point: Variable
    distance: float
    bound: float
    residual: float | None


class Certificate:
    """At (x, u, β), with z = prox_{βg}(u) and w = (u − z)/β ∈ ∂g(z): ‖∇f(x) + T*w‖_* lies in `dual_norm`, ‖Tx − z‖₂ is `prox_gap`,
    and F(x) − F* is at most `gap`, where that can be told. Methods that smooth have u = Tx.

    It remembers the problem and the point of its run, so that ``verify()`` needs nothing; a copy that was pickled, or made
    by ``from_json``, has to be given both, and one of a run on ranks cannot be verified by one of them.
    """

    __slots__ = ("_raw", "_problem", "_x")

    def __init__(self, raw: _melmo.Certificate, problem: Problem[Any] | None = None, x: Any = None):
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
        """Bounds on ‖∇f(x) + T*w‖_*."""
        return self._raw.dual_norm

    @property
    def prox_gap(self) -> float:
        """‖Tx − z‖₂."""
        return self._raw.prox_gap

    @property
    def x(self) -> Variable | None:
        """The point that it speaks of, if it remembers it."""
        point: Variable | None = self._x
        return point

    @property
    def u(self) -> Variable | None:
        """u, where it is not Tx."""
        u = self._raw.u
        return u if u is None or self._problem is None else self._problem.range.unpack(u)

    @property
    def claim(self) -> Claim | None:
        """What was asked for and reached, if it was."""
        claim = self._raw.claim
        return None if claim is None else Claim(*claim)

    @property
    def optimality(self) -> Optimality | None:
        """F(x) and a lower bound on F*, where there is one."""
        found = self._raw.optimality[0]
        return None if found is None else Optimality(*found)

    @property
    def gap(self) -> float | None:
        """A bound on F(x) − F*; None where there is none, and then `no_gap` says why."""
        found = self.optimality
        return None if found is None else found.gap

    @property
    def no_gap(self) -> str | None:
        """Why there is no bound on F(x) − F*, where there is none."""
        return self._raw.optimality[1]

    @property
    def stationarity(self) -> Stationarity | None:
        """Near-stationarity of the problem itself, where T is surjective."""
        found = self._raw.stationarity
        if found is None:
            return None
        point = found[0] if self._problem is None else self._problem.packing.unpack(found[0])
        return Stationarity(point, *found[1:])

    def verify(self, problem: Problem[Any] | None = None, x: Any = None, *, tolerance: float | None = None) -> Verification:
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
        problem, x = self._remembered(problem, x)
        lines = problem._raw.verify(self._raw, problem.packing.pack("x", x), tolerance)
        return Verification(Check(*line) for line in lines)

    def passed(self, tol: float = 1e-6, problem: Problem[Any] | None = None, x: Any = None) -> bool:
        """Whether the point is any good, recomputed and with rounding added.

        Parameters
        ----------
        tol : float, default 1e-6
            ‖∇f(x) + T*w‖₂ ≤ tol·(‖∇f(x)‖₂ + ‖T*w‖₂) and ‖Tx − z‖₂ ≤ tol·‖Tx‖₂, or F(x) − F* ≤ tol·|F(x)|.
        problem, x
            As in :meth:`verify`.
        """
        problem, x = self._remembered(problem, x)
        return problem._raw.passed(self._raw, problem.packing.pack("x", x), tol)

    def _remembered(self, problem: Problem[Any] | None, x: Any) -> tuple[Problem[Any], Any]:
        problem = problem or self._problem
        x = self._x if x is None else x
        if problem is None or x is None:
            raise ValueError("this certificate does not remember its problem and point: give both")
        return problem, x

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
            said = (f"{name} <= {limit:.4g}" for name, limit in self.claim._asdict().items() if limit is not None)
            about += ", claimed: " + " and ".join(said)
        found = self._raw.stationarity
        if found is not None:
            about += f", stationary to {found[2]:.4g} at distance {found[1]:.4g}"
        if self.gap is not None:
            about += f", F within {self.gap:.4g} of the least"
        return f"Certificate({about})"
