"""What is evaluated of a penalty that Rust has built: value, prox, envelope, slopes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from melmo import _melmo
from melmo._arrays import Array, Blocks, Layout, Packing, Variable
from melmo._checks import number


class Proximal:
    """A function with a proximal operator, built for the layout of whatever it is asked about."""

    __slots__ = ()

    def _build(self, precision: str, layout: Layout) -> _melmo.Penalty:
        """It on a variable of that layout."""
        raise NotImplementedError

    def _at(self, u: Any) -> tuple[_melmo.Penalty, Packing, Array]:
        packing = Packing.of(u)
        flat = packing.pack("u", u)
        return self._build(packing.precision, packing.layout), packing, flat

    def value(self, u: Any) -> float:
        """g(u); infinite outside the domain."""
        built, _, flat = self._at(u)
        return built.value(flat)

    __call__ = value

    @overload
    def prox(self, u: Mapping[str, Any], beta: float = ..., out: None = ...) -> Blocks: ...
    @overload
    def prox(self, u: npt.ArrayLike, beta: float = ..., out: Array | None = ...) -> Array: ...
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

    @overload
    def envelope_gradient(self, u: Mapping[str, Any], beta: float = ...) -> Blocks: ...
    @overload
    def envelope_gradient(self, u: npt.ArrayLike, beta: float = ...) -> Array: ...
    def envelope_gradient(self, u: Any, beta: float = 1.0) -> Variable:
        """∇g_β(u) = (u − prox_{βg}(u))/β."""
        return self._into(u, None, lambda built, flat, to: built.envelope(flat, number("beta", beta), to))[0]

    @overload
    def subgradient(self, u: Mapping[str, Any]) -> Blocks: ...
    @overload
    def subgradient(self, u: npt.ArrayLike) -> Array: ...
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
