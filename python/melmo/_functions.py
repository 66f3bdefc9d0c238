"""The building blocks as functions."""

from __future__ import annotations

from typing import Any

from melmo import geometry as _geometries
from melmo._arrays import Variable
from melmo._catalogue import class_name
from melmo._geometry import Geometry
from melmo._penalty import Penalty


def prox(g: Penalty, u: Any, beta: float = 1.0) -> Variable:
    """prox_{βg}(u): the z that minimises g(z) + ‖z − u‖²/(2β).

    Examples
    --------
    >>> import melmo
    >>> melmo.prox(melmo.penalty.L1(1.0), [3.0, -0.2], 0.5)
    array([2.5, 0. ])
    """
    return g.prox(u, beta)


def envelope(g: Penalty, u: Any, beta: float = 1.0) -> float:
    """g_β(u), the Moreau envelope.

    Examples
    --------
    >>> import melmo
    >>> melmo.envelope(melmo.penalty.L1(1.0), [3.0], 0.5)
    2.75
    """
    return g.envelope(u, beta)


def lmo(geometry: Geometry | str, phi: Any) -> Variable:
    """The direction d that minimises ⟨φ, d⟩ over the unit ball of a norm.

    Examples
    --------
    >>> import melmo
    >>> melmo.lmo("linf", [0.5, -2.0])
    array([-1.,  1.])
    """
    return named(geometry).lmo(phi)


def dual_norm(geometry: Geometry | str, phi: Any) -> float:
    """‖φ‖_*, the largest ⟨φ, d⟩ over the unit ball of a norm.

    Examples
    --------
    >>> import melmo
    >>> melmo.dual_norm("linf", [0.5, -2.0])
    2.5
    """
    return named(geometry).dual_norm(phi)


def named(geometry: Geometry | str) -> Geometry:
    """A geometry, also by its name."""
    if isinstance(geometry, Geometry):
        return geometry
    found = getattr(_geometries, class_name(str(geometry)), None)
    if found is None:
        known = ", ".join(row._row["name"] for row in Geometry.__subclasses__())
        raise ValueError(f"no geometry is called `{geometry}`; known: {known}")
    made: Geometry = found()
    return made
