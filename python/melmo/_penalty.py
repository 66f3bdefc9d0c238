"""g: penalties with a proximal operator."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from melmo import _melmo
from melmo._arrays import Array, Layout, Packing, Variable, real_array
from melmo._catalogue import Row, class_name, default_of, document, numbers, python_name, rows
from melmo._checks import brief, number, several, whole
from melmo._term import Term

_LIFTS = [row["name"] for row in rows("lifts")]
_SEE = """Examples
--------
>>> import melmo
>>> g = melmo.penalty.{name}()
>>> float(g.value(g.prox([3.0, -0.1, 0.2], 0.1))) >= 0
True
"""


class Penalty(Term):
    """A penalty g of the catalogue: a function φ of one number, applied to entries, groups or singular values.

    g is ρ-weakly convex: g + ρ/2·‖·‖² is convex. Its proximal operator is defined for β < 1/ρ.
    """

    __slots__ = ()

    @classmethod
    def _shape(cls, row: Row) -> tuple[inspect.Signature, str]:
        parameter, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        own = [inspect.Parameter(python_name(p["name"]), parameter, default=default_of(p)) for p in row["parameters"]]
        own += [
            inspect.Parameter("on", keyword, default="entries"),
            inspect.Parameter("weights", keyword, default=None),
            inspect.Parameter("groups", keyword, default=None),
        ]
        on = ", ".join(_LIFTS) if row["even"] else "entries"
        more = [
            ("on : str, default 'entries'", f"What φ is applied to: {on}."),
            ("weights : array, optional", "A weight for every entry or group."),
            ("groups : list of lists of int, optional", "The entries of each group, for ``on='groups'``."),
        ]
        return inspect.Signature(own), document(row, [], more, _SEE.format(name=class_name(row["name"])))

    def _check(self) -> None:
        if not isinstance(self.on, str) or self.on not in _LIFTS:
            called = self.on if isinstance(self.on, str) else brief(self.on)
            raise ValueError(f"no lift is called `{called}`; known: {', '.join(_LIFTS)}")
        if not self._row["even"] and self.on != "entries":
            raise ValueError(f"{type(self).__name__}: φ(−x) ≠ φ(x), so that it can be applied to entries only")
        if self.weights is not None:
            real_array("weights", self.weights, "f64")
        if self.groups is not None:
            _groups(self.groups)
        _melmo.Penalty.named("f64", self._row["name"], self._numbers(), {}, [("x", 1, 1)])

    def _numbers(self) -> list[tuple[str, float | str]]:
        return numbers(self._row, self._arguments)

    def _choice(self) -> str:
        """The penalty as the program spells it: ``mcp:lambda=0.5,mu=2.0``."""
        given = ",".join(f"{name}={value!r}" for name, value in self._numbers())
        return f"{self._row['name']}:{given}" if given else self._row["name"]

    def _build(self, precision: str, layout: Layout) -> _melmo.Penalty:
        lift: dict[str, Any] = {"on": self.on}
        if self.weights is not None:
            lift["weights"] = real_array("weights", self.weights, precision).reshape(-1)
        if self.groups is not None:
            lift["groups"] = _groups(self.groups)
        return _melmo.Penalty.named(precision, self._row["name"], self._numbers(), lift, layout)

    def _at(self, u: Any) -> tuple[_melmo.Penalty, Packing, Array]:
        packing = Packing.of(u)
        return self._build(packing.precision, packing.layout), packing, packing.pack("u", u)

    def value(self, u: Any) -> float:
        """g(u); infinite outside the domain."""
        built, _, flat = self._at(u)
        return built.value(flat)

    __call__ = value

    def prox(self, u: Any, beta: float = 1.0, out: Array | None = None) -> Variable:
        """prox_{βg}(u): the z that minimises g(z) + ‖z − u‖²/(2β).

        Parameters
        ----------
        u : array or dict of arrays
            Where.
        beta : float
            β > 0, below 1/ρ.
        out : array, optional
            Where the answer is written; it may be `u` itself.

        Returns
        -------
        array or dict of arrays
            z, in the shape and precision of `u`.
        """
        return self._into(u, out, lambda built, flat, to: built.prox(flat, number("beta", beta), to))[0]

    def envelope(self, u: Any, beta: float = 1.0) -> float:
        """g_β(u), the Moreau envelope: min over z of g(z) + ‖z − u‖²/(2β)."""
        return self._into(u, None, lambda built, flat, to: built.envelope(flat, number("beta", beta), to))[1]

    def envelope_gradient(self, u: Any, beta: float = 1.0) -> Variable:
        """∇g_β(u) = (u − prox_{βg}(u))/β."""
        return self._into(u, None, lambda built, flat, to: built.envelope(flat, number("beta", beta), to))[0]

    def subgradient(self, u: Any) -> Variable:
        """An element of ∂g(u); 0 where g has a kink at 0."""
        return self._into(u, None, lambda built, flat, to: built.subgradient(flat, to))[0]

    def _into(self, u: Any, out: Array | None, work: Any) -> tuple[Variable, float]:
        built, packing, flat = self._at(u)
        if out is None:
            to = np.empty_like(flat)
            value = work(built, flat, to)
            return packing.unpack(to), value
        if not isinstance(out, np.ndarray) or not out.flags.c_contiguous or out.dtype != flat.dtype:
            raise ValueError(f"out: expected an array of {flat.dtype} in C order")
        if np.shares_memory(out, flat):
            flat = flat.copy()
        return out, work(built, flat, out.reshape(-1))

    def _constants(self) -> _melmo.Penalty:
        size = 1
        if self.weights is not None and self.groups is None:
            size = int(np.size(self.weights))
        if self.groups is not None:
            size = 1 + max((max(group, default=0) for group in _groups(self.groups)), default=0)
        layout: Layout = [("x", size, 1)] if self.on != "pixels" else [("dx", 1, 1), ("dy", 1, 1)]
        return self._build("f64", layout)

    @property
    def weak_convexity(self) -> float:
        """ρ; 0 for a convex penalty."""
        return self._constants().weak_convexity


def _groups(groups: Any) -> list[list[int]]:
    """Groups of entries as lists of whole numbers."""
    expected = "lists of entries"
    parts = [several("groups", group, expected) for group in several("groups", groups, expected)]
    return [[whole("groups: an entry", entry) for entry in group] for group in parts]
