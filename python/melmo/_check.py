"""Whether terms are what they say: gradient, adjoint, prox, constants."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from melmo import _melmo
from melmo._arrays import Variable
from melmo._checks import optional_number, optional_whole, whole
from melmo._loss import Loss
from melmo._operator import Operator
from melmo._penalty import Penalty
from melmo._sum import Sum

if TYPE_CHECKING:
    from melmo._problem import Problem


@dataclass(frozen=True, repr=False)
class Finding:
    """A law, and the comparison that broke it by most or came nearest to it."""

    #: ``"f"``, ``"g"`` or ``"T"``.
    term: str
    #: The name of the law, such as ``"adjoint"``.
    law: str
    #: What was compared.
    formula: str
    #: How many comparisons were made.
    tests: int
    #: The two sides of the formula, and how far rounding may have moved them.
    left: float
    right: float
    slack: float
    #: Whether every comparison held.
    holds: bool
    #: Where it fails: what more is known.
    advice: str
    #: Where it fails: the points that show it, by their names in the formula, in the shape of x or Tx.
    witness: dict[str, Union[Variable, float]] = field(compare=False)
    _text: str = field(compare=False)

    def __repr__(self) -> str:
        return self._text


class Checked(tuple[Finding, ...]):
    """What :func:`melmo.check` found, law by law; true when every law holds."""

    __slots__ = ()

    @property
    def passed(self) -> bool:
        """Every law holds."""
        return all(finding.holds for finding in self)

    @property
    def failures(self) -> list[Finding]:
        """The laws that do not."""
        return [finding for finding in self if not finding.holds]

    def raise_for_failure(self) -> None:
        """Raise ``ValueError`` with the laws that do not hold, if there are any."""
        if not self.passed:
            raise ValueError("\n".join(map(repr, self.failures)))

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return "\n".join(["passed" if self.passed else "failed", *map(repr, self)])


def check(
    f: Any,
    g: Any = None,
    T: Any = None,
    x0: Any = None,
    *,
    probes: int | None = None,
    seed: int = 1,
    tolerance: float | None = None,
) -> Checked:
    """Check that terms are what they say, before a run trusts them.

    At random points at and around `x0`: the gradient of f against differences and its Lipschitz constant; whether T is linear,
    ``rmatvec`` its adjoint and ``norm_bound`` large enough; whether ``prox`` gives the minimiser that defines it, and
    ``weak_convexity`` (ρ) and ``lipschitz`` are large enough. A law that fails comes with the points that show it. One that holds
    was not refuted, which is no proof.

    Parameters
    ----------
    f : Problem, Loss or callable
        A problem; or the loss, with the other terms as in :func:`melmo.minimize`.
    g, T, x0
        As in :func:`melmo.minimize`.
    probes : int, optional
        Random points for each term; 12 unless given, fewer for large x. Each costs some fifty evaluations.
    seed : int, default 1
        Where the points come from.
    tolerance : float, optional
        What counts as rounding, relative to the sizes involved; 1e-8 in double and 2e-4 in single precision unless given.

    Returns
    -------
    Checked
        Law by law what was compared; ``passed``, ``failures``, ``raise_for_failure()``.

    Examples
    --------
    The factor 2 is missing in this gradient:

    >>> import melmo, numpy as np
    >>> def fun(x):
    ...     return (x**2).sum(), x
    >>> checked = melmo.check(fun, melmo.penalty.L1(0.5), x0=np.ones(3))
    >>> checked.passed
    False
    >>> [(wrong.term, wrong.law, wrong.advice) for wrong in checked.failures]
    [('f', 'gradient', 'the left side is 2.0000 times the right one throughout')]
    """
    from melmo._problem import Problem

    problem: Problem[Any] = f if isinstance(f, Problem) else Problem(f, g, T, x0)
    return problem.check(x0, probes=probes, seed=seed, tolerance=tolerance)


def check_terms(
    problem: Problem[Any], x0: Any, terms: str, probes: int | None, seed: int = 1, tolerance: float | None = None
) -> Checked:
    """The laws of some terms of a problem."""
    probes, seed = optional_whole("probes", probes), whole("seed", seed)
    tolerance = optional_number("tolerance", tolerance)
    if tolerance is not None and not tolerance >= 0:
        raise ValueError(f"tolerance = {tolerance!r}: must be at least 0")
    effort = (probes, seed, tolerance, probes != 0 and _descends(problem.g))
    raw = problem._raw.check(problem._start(x0), terms, effort)
    return Checked(_finding(problem, law) for law in raw)


def _finding(problem: Problem[Any], law: _melmo.Law) -> Finding:
    witness: dict[str, Variable | float] = {}
    for name, point in law.witness:
        if name == "β":
            witness[name] = float(point[0])
        else:
            in_range = law.term == "g" or (law.term == "T" and name == "y")
            witness[name] = (problem.range if in_range else problem.packing).unpack(point)
    sides = (law.tests, law.left, law.right, law.slack, law.holds, law.advice)
    return Finding(law.term, law.law, law.formula, *sides, witness, law.text)


def _descends(g: Any) -> bool:
    """Whether g has subgradients: those of the catalogue have."""
    return all(isinstance(part, Penalty) or hasattr(part, "subgradient") for part in _parts(g))


def _parts(g: Any) -> list[Any]:
    """The penalties of a dict, a list or a sum, one by one."""
    several = g.values() if isinstance(g, dict) else g.parts if isinstance(g, Sum) else g
    return [part for inner in several for part in _parts(inner)] if isinstance(g, (dict, list, tuple, Sum)) else [g]


def own_terms(f: Any, g: Any, T: Any) -> str:
    """Those of f, T, g that are the user's own Python."""
    own_f = "" if isinstance(f, Loss) else "f"
    own_t = "T" if not isinstance(T, Operator) and hasattr(T, "matvec") and not hasattr(T, "tocsr") else ""
    return own_f + own_t + ("" if all(isinstance(part, Penalty) for part in _parts(g)) else "g")


def warn_of_terms(problem: Problem[Any], x: Any, status: str) -> bool:
    """At the end of a run with terms of the user's own: a first look at them, and a warning that names what is wrong.

    Returns whether they can be believed: a law has to be broken by more than an inexact prox or single precision would.
    """
    if not problem._own or status in ("interrupted", "stopped", "raised", "time"):
        return True
    flat = problem.packing.pack("x", x)
    near = x if np.isfinite(flat).all() else None
    failures = check_terms(problem, near, problem._own, probes=0).failures
    if failures:
        about = "\n".join(["the run trusted terms that are not what they say; see melmo.check", *map(repr, failures)])
        warnings.warn(about, RuntimeWarning, stacklevel=4)
        coarse = 1e-3 if problem.packing.precision == "f32" else 1e-5
        # What raises where the run has not been is only told.
        return all(found.law == "answers" for found in check_terms(problem, near, problem._own, 0, tolerance=coarse).failures)
    if status == "not-finite":
        about = "the run met a number that is not finite; melmo.check(f, g, T, x0) tries your terms at more points"
        warnings.warn(about, RuntimeWarning, stacklevel=4)
    return True
