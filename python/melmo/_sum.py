"""Sums of penalties of one variable: exact where the prox is known, split where it is not."""

from __future__ import annotations

from typing import Any

from melmo import _melmo
from melmo._arrays import Layout, Packing
from melmo._checks import brief, made
from melmo._pairs import Pairs, of_moduli
from melmo._penalty import Penalty
from melmo._proximal import Proximal


class Sum(Proximal):
    """g₁ + g₂ + …, all of the same Tx: what ``L1(0.1) + MCP(0.2, 3.0)`` makes.

    The prox is exact where it is known: for a ridge with anything; for L1 of entries, weighted or not, and ``Nonnegative`` with one other
    penalty of entries, rows, columns, pixels or groups (sparse group lasso); for L1 with another penalty of the same norms or singular
    values; for a ``Box`` with penalties of entries. L1 and a ridge are ``ElasticNet``, any ψ and ``Nonnegative`` are ``on="nonnegative"``.

    Any other sum, also one with a penalty of your own, has no prox; ``minimize`` solves it all the same, with T once for each part: as
    if T were ``Stack(T, T)`` and g the list of the parts. z then has a block for each.

    Examples
    --------
    >>> import melmo
    >>> g = melmo.penalty.L1(0.5) + melmo.penalty.Ridge(1.0)
    >>> g, g.value([2.0]), g.prox([2.0], 1.0)
    (L1(lam=0.5) + Ridge(), 3.0, array([0.75]))
    """

    __slots__ = ("parts",)
    parts: tuple[Any, ...]

    def __init__(self, *parts: Any) -> None:
        flat: list[Any] = []
        for part in parts:
            flat.extend(part.parts if isinstance(part, Sum) else (_addend(part),))
        self.parts = tuple(flat)

    def _build(self, precision: str, layout: Layout) -> _melmo.Penalty:
        built = _exact(self.parts, precision, layout)
        if built is None:
            raise ValueError(f"{self!r}: the prox of this sum is not known; minimize solves it with T once for each part")
        return built

    def value(self, u: Any) -> float:
        """g(u); infinite outside the domain."""
        return float(sum(part.value(u) if hasattr(part, "value") else part(u) for part in self.parts))

    __call__ = value

    @property
    def weak_convexity(self) -> float:
        """ρ, or an upper bound on it: the parts' own, added up."""
        rhos = (getattr(part, "weak_convexity", 0.0) for part in self.parts)
        return float(sum(rho() if callable(rho) else rho for rho in rhos))

    def _of_moduli(self, packing: Pairs) -> Sum:
        """The same of a complex variable."""
        return Sum(*_of(self.parts, packing))

    def _split(self, packing: Packing) -> list[Any]:
        """The fewest sums, of one part or more, whose proxes are known on such a variable."""
        groups: list[list[Any]] = []
        for part in self.parts:
            for group in groups:
                together = _of((*group, part), packing)
                if _exact(together, packing.precision, packing.layout) is not None:
                    group.append(part)
                    break
            else:
                groups.append([part])
        return [group[0] if len(group) == 1 else Sum(*group) for group in groups]

    def __add__(self, other: Any) -> Sum:
        return Sum(self, other)

    def __radd__(self, other: Any) -> Sum:
        return Sum(other, self)  # sums of penalties of one's own begin with one of those

    def __eq__(self, other: object) -> bool:
        return self.parts == other.parts if isinstance(other, Sum) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.parts)

    def __reduce__(self) -> Any:
        return Sum, self.parts

    def __repr__(self) -> str:
        return " + ".join(repr(part) if isinstance(part, Penalty) else brief(part) for part in self.parts)


def _of(parts: tuple[Any, ...], packing: Packing) -> tuple[Any, ...]:
    """Those of moduli where the variable is complex."""
    if not isinstance(packing, Pairs):
        return parts
    return tuple(of_moduli(part, packing) if isinstance(part, Penalty) else part for part in parts)


def _addend(part: Any) -> Any:
    """A penalty: of the catalogue, or the user's own."""
    if not isinstance(made("a sum", part), Penalty) and not callable(getattr(part, "prox", None)):
        raise TypeError(f"a sum: expected a penalty, got {brief(part)}")
    return part


def _exact(parts: tuple[Any, ...], precision: str, layout: Layout) -> _melmo.Penalty | None:
    """The sum as one penalty, where its prox is known."""
    if not all(isinstance(part, Penalty) for part in parts):
        return None
    return _melmo.Penalty.sum(precision, [part._described(precision, layout) for part in parts], layout)
