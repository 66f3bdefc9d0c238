"""The building blocks as functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

import numpy.typing as npt

from melmo import geometry as _geometries
from melmo._arrays import Array, Blocks, Variable, precision_of, real_array
from melmo._catalogue import class_name, rows
from melmo._checks import brief, made, number
from melmo._geometry import Geometry
from melmo._proximal import Proximal


@overload
def prox(g: Any, u: Mapping[str, Any], beta: float = ...) -> Blocks: ...
@overload
def prox(g: Any, u: npt.ArrayLike, beta: float = ...) -> Array: ...
def prox(g: Any, u: Any, beta: float = 1.0) -> Variable:
    """prox_{βg}(u): the z that minimises g(z) + ‖z − u‖²/(2β).

    Examples
    --------
    >>> import melmo
    >>> melmo.prox(melmo.penalty.L1(1.0), [3.0, -0.2], 0.5)
    array([2.5, 0. ])
    """
    _expect("prox", g)
    found: Variable = g.prox(_array(g, u), number("beta", beta))
    return found


def envelope(g: Any, u: Any, beta: float = 1.0) -> float:
    """g_β(u), the Moreau envelope.

    Examples
    --------
    >>> import melmo
    >>> melmo.envelope(melmo.penalty.L1(1.0), [3.0], 0.5)
    2.75
    """
    _expect("envelope", g)
    return number("g: the envelope", g.envelope(_array(g, u), number("beta", beta)))


@overload
def lmo(geometry: Geometry | str, phi: Mapping[str, Any]) -> Blocks: ...
@overload
def lmo(geometry: Geometry | str, phi: npt.ArrayLike) -> Array: ...
def lmo(geometry: Geometry | str, phi: Any) -> Variable:
    """The direction d that minimises ⟨φ, d⟩ over the unit ball of a norm.

    Examples
    --------
    >>> import melmo
    >>> melmo.lmo("linf", [0.5, -2.0])
    array([-1.,  1.])
    """
    direction: Variable = named(geometry).lmo(phi)
    return direction


def dual_norm(geometry: Geometry | str, phi: Any) -> float:
    """‖φ‖_*, the largest ⟨φ, d⟩ over the unit ball of a norm.

    Examples
    --------
    >>> import melmo
    >>> melmo.dual_norm("linf", [0.5, -2.0])
    2.5
    """
    return named(geometry).dual_norm(phi)


def _expect(method: str, g: Any) -> None:
    """Refuses what does not have what is asked for."""
    if not callable(getattr(made("g", g), method, None)):
        raise TypeError(f"g: expected a penalty of melmo.penalty, got {brief(g)}, which has no {method}(u, beta)")


def _array(g: Any, u: Any) -> Any:
    """u as a penalty of the user's own may rely on it: an array."""
    return u if isinstance(g, Proximal) or isinstance(u, Mapping) else real_array("u", u, precision_of(u))


def named(geometry: Geometry | str) -> Geometry:
    """A geometry, also by its name."""
    made("geometry", geometry)
    if isinstance(geometry, Geometry):
        return geometry
    if not isinstance(geometry, str):
        raise TypeError(f"geometry: expected a geometry or its name, got {type(geometry).__name__}")
    names = [row["name"] for row in rows("geometries")]
    if geometry not in names:
        raise ValueError(f"no geometry is called `{geometry}`; known: {', '.join(names)}")
    found: Geometry = getattr(_geometries, class_name(geometry))()
    return found
