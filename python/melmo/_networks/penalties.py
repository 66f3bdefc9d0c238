"""ψ(s) of a magnitude s ≥ 0 and its proximal point, as the catalogue of penalties has them."""

from __future__ import annotations

from typing import Any

from melmo._networks import schedules

#: The name of each penalty's second parameter, with its default.
SHAPES: dict[str, tuple[str, float] | None] = {
    "l1": None,
    "mcp": ("mu", 3.0),
    "scad": ("a", 3.7),
    "log-sum": ("theta", 1.0),
}
PLACES = ("entries", "rows", "columns", "heads", "singular-values")
_SAME = {"filters": "rows", "outputs": "rows", "inputs": "columns", "singular_values": "singular-values"}


def penalty(
    name: str,
    lam: Any,
    *,
    on: str = "entries",
    heads: int | None = None,
    axes: tuple[int, ...] | None = None,
    stacked: tuple[int, ...] | None = None,
    weight: Any = 1.0,
    scaled: bool = True,
    **shape: Any,
) -> dict[str, Any]:
    """g = Σ ω·w·ψ(s): a penalty of the magnitudes s of the entries, rows, … of a parameter, as plain data.

    Parameters
    ----------
    name : str
        ψ: ``"l1"`` (group ℓ1 where it is on groups), ``"mcp"``, ``"scad"`` or ``"log-sum"``.
    lam : float or schedule
        λ.
    on : str, default 'entries'
        What ψ is applied to: ``"entries"``, ``"rows"`` (also ``"filters"``, ``"outputs"``), ``"columns"`` (also ``"inputs"``),
        ``"heads"`` or ``"singular-values"``.
    heads : int, optional
        How many attention heads an axis is cut into, for ``on="heads"``.
    axes : tuple of int, optional
        The axis of each parameter that the units lie along; 0 for rows and heads, 1 for columns. An attention's output
        matrix has its heads along axis 1.
    stacked : tuple of int, optional
        How many matrices are stacked along that axis of each parameter: 3 for PyTorch's ``in_proj_weight``.
    weight : float or schedule, default 1
        ω, in front of all: a ramp of ω leaves the shape of ψ as it is, a ramp of λ does not.
    scaled : bool, default True
        Whether a unit of n entries has the weight w = √n (else 1).
    mu, a, theta : float or schedule
        The second parameter of MCP, SCAD and log-sum.
    """
    if name not in SHAPES:
        raise ValueError(f"no penalty is called {name!r} here; known: {', '.join(SHAPES)}")
    place = _SAME.get(on, on)
    if place not in PLACES:
        raise ValueError(f"on: {on!r} is none of {', '.join(PLACES)}")
    if (place == "heads") != (heads is not None):
        raise ValueError("heads: give the number of heads with on='heads', and only there")
    rule: dict[str, Any] = {"name": name, "lam": schedules.checked("lam", lam), "on": place}
    own = SHAPES[name]
    if set(shape) - ({own[0]} if own else set()):
        raise TypeError(f"{name} has no parameter {', '.join(sorted(shape))}")
    if own:
        rule["shape"] = schedules.checked(own[0], shape.get(own[0], own[1]))
    rule |= {"heads": heads, "axes": axes, "stacked": stacked, "scaled": bool(scaled)}
    return rule | {"weight": schedules.checked("weight", weight)}


def prox(xp: Any, name: str, s: Any, beta: Any, lam: Any, shape: Any = None) -> Any:
    """prox_{βψ}(s) for s ≥ 0; βρ < 1."""
    zero = 0.0 * s
    if name == "l1":
        return xp.where(s > beta * lam, s - beta * lam, zero)
    if name == "mcp":
        between = (s - beta * lam) / (1.0 - beta / shape)
        return xp.where(s <= beta * lam, zero, xp.where(s <= shape * lam, between, s))
    if name == "scad":
        soft = xp.where(s > beta * lam, s - beta * lam, zero)
        between = ((shape - 1.0) * s - shape * beta * lam) / (shape - 1.0 - beta)
        return xp.where(s <= lam * (1.0 + beta), soft, xp.where(s <= shape * lam, between, s))
    inside = (s + shape) ** 2 - 4.0 * beta * lam
    root = xp.sqrt(xp.where(inside > 0.0, inside, zero))
    return xp.where(s <= beta * lam / shape, zero, 0.5 * (s - shape + root))


def value(xp: Any, name: str, s: Any, lam: Any, shape: Any = None) -> Any:
    """ψ(s) for s ≥ 0."""
    if name == "l1":
        return lam * s
    if name == "mcp":
        return xp.where(s <= shape * lam, lam * s - s * s / (2.0 * shape), 0.0 * s + 0.5 * shape * lam**2)
    if name == "scad":
        between = (2.0 * shape * lam * s - s * s - lam**2) / (2.0 * (shape - 1.0))
        flat = 0.0 * s + 0.5 * lam**2 * (shape + 1.0)
        return xp.where(s <= lam, lam * s, xp.where(s <= shape * lam, between, flat))
    return lam * xp.log1p(s / shape)


def weak_convexity(name: str, lam: Any, shape: Any = None) -> Any:
    """ρ of ψ."""
    if name == "l1":
        return 0.0
    if name == "mcp":
        return 1.0 / shape
    return 1.0 / (shape - 1.0) if name == "scad" else lam / shape**2
