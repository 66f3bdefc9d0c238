"""What the estimators share: penalties as Rust reads them, seeds, settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from melmo._penalty import Penalty

Floats = npt.NDArray[np.floating[Any]]


def penalty_text(penalty: str | Penalty, lam: float | None = None) -> str:
    """The penalty as the program spells it, its λ replaced where `lam` is given.

    >>> penalty_text("mcp:mu=2", 0.5)
    'mcp:mu=2,lambda=0.5'
    """
    if isinstance(penalty, Penalty):
        if penalty.on != "entries" or penalty.weights is not None:
            raise ValueError(f"penalty: expected one of entries without weights, got {penalty!r}")
        text = penalty._choice()
    elif isinstance(penalty, str):
        text = penalty
    else:
        raise TypeError(f"penalty: expected a name or a melmo.penalty, got {type(penalty).__name__}")
    if lam is None:
        return text
    return f"{text}{',' if ':' in text else ':'}lambda={float(lam)!r}"


def given_lam(penalty: str | Penalty, lam: float | None) -> float | None:
    """λ, where somebody said it: as `lam`, or with the penalty."""
    if lam is not None:
        return float(lam)
    _, _, parameters = penalty_text(penalty).partition(":")
    for part in parameters.split(","):
        name, _, value = part.partition("=")
        if name.strip() in ("lambda", "lam"):
            over, _, under = value.partition("/")
            return float(over) / float(under) if under else float(over)
    return None


def seed_of(random_state: Any) -> int:
    """A seed for Rust from what scikit-learn takes as `random_state`."""
    from sklearn.utils import check_random_state

    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
