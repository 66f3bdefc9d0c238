"""f, g and T in their places: what stands in another's is named before anything is built."""

from __future__ import annotations

from typing import Any

import numpy as np

from melmo._checks import brief, described, made
from melmo._loss import Loss
from melmo._matrix import expect_operator
from melmo._operator import Operator
from melmo._penalty import Penalty
from melmo._sum import Sum


def in_their_places(f: Any, g: Any, T: Any) -> tuple[Any, Any, Any]:
    """The three terms, where each is an object and none is of another's kind."""
    for name, term in (("f", f), ("g", g), ("T", T)):
        made(name, term)
    _expect_loss(f, g)
    _expect_penalty(g, T)
    if isinstance(T, (Loss, Penalty, Sum)):
        kind = "loss" if isinstance(T, Loss) else "penalty"
        raise TypeError(f"T: expected an operator, got the {kind} {brief(T)}")
    if T is not None:
        expect_operator("T", T)
    if isinstance(T, np.ndarray) and T.ndim == 1:
        raise ValueError(f"T: expected a matrix, got an array of the shape {T.shape}; a start is x0=")
    return f, g, T


def _expect_loss(f: Any, g: Any) -> None:
    if isinstance(f, (Penalty, Sum)) or (hasattr(f, "prox") and not hasattr(g, "prox")):
        swapped = "; f and g are swapped" if isinstance(g, Loss) or callable(g) else ""
        raise TypeError(f"f: expected a loss or a function, got the penalty {brief(f)}{swapped}")
    if isinstance(f, Operator):
        raise TypeError(f"f: expected a loss or a function, got the operator {brief(f)}")
    if isinstance(f, str):
        raise TypeError(f"f: expected a loss or a function, got {f!r}; those of melmo.loss are objects, such as Masked(y)")


def _expect_penalty(g: Any, T: Any) -> None:
    if isinstance(g, (Loss, Operator)):
        kind = "loss" if isinstance(g, Loss) else "operator"
        swapped = "; g and T are swapped" if isinstance(g, Operator) and hasattr(T, "prox") else ""
        raise TypeError(f"g: expected a penalty, got the {kind} {brief(g)}{swapped}")
    if isinstance(g, str):
        raise TypeError(f"g: expected a penalty, got {g!r}; those of melmo.penalty are objects, such as L1(0.1)")
    if isinstance(g, np.ndarray) or hasattr(g, "tocsr") or hasattr(g, "rmatvec"):
        raise TypeError(f"g: expected a penalty, got {described(g)}; T is the third argument")
