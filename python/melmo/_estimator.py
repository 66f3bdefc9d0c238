"""What the estimators share: penalties as Rust reads them, seeds, settings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from melmo._catalogue import rows
from melmo._checks import brief, made, number, whole
from melmo._penalty import Penalty
from melmo._sparse import checked_sparse
from melmo._sum import Sum

try:
    from sklearn.exceptions import ConvergenceWarning as ConvergenceWarning
except ImportError:  # only estimators warn, and they need scikit-learn; functions share this module

    class ConvergenceWarning(UserWarning):  # type: ignore[no-redef]
        """A solver ended before it converged."""


Floats = npt.NDArray[np.floating[Any]]


def penalty_text(penalty: str | Penalty, lam: Any = None) -> str:
    """The penalty as the program spells it, its weight replaced where `lam` is given.

    >>> penalty_text("mcp:mu=2", 0.5), penalty_text("ridge", 0.5)
    ('mcp:mu=2,lambda=0.5', 'ridge:nu=0.5')
    """
    if isinstance(penalty, Penalty):
        if penalty.on != "entries" or penalty.weights is not None:
            raise ValueError(f"penalty: expected one of entries without weights, got {penalty!r}")
        text = penalty._choice()
    elif isinstance(penalty, str):
        text = penalty
    else:
        advice = "; L1 and a ridge are ElasticNet" if isinstance(penalty, Sum) else ""
        raise TypeError(f"penalty: expected a name or one melmo.penalty, got {brief(made('penalty', penalty))}{advice}")
    if lam is None:
        return text
    lam, name = number("lam", lam), text.partition(":")[0].strip()
    weight = _weight(name)
    if weight is None:
        raise ValueError(f"lam: the penalty `{name}` has no λ")
    return f"{text}{',' if ':' in text else ':'}{weight}={lam!r}"


def _weight(name: str) -> str | None:
    """What the weight of a penalty is called: λ, or the ν of a ridge; a constraint has none."""
    for row in rows("penalties"):
        if row["name"] == name:
            names = [parameter["name"] for parameter in row["parameters"]]
            return "lambda" if "lambda" in names else "nu" if "nu" in names else None
    return "lambda"  # no such penalty: Rust says so, with those there are


def given_lam(penalty: str | Penalty, lam: Any) -> float | None:
    """λ, where somebody said it: as `lam`, or with the penalty."""
    text = penalty_text(penalty, lam)
    name, _, parameters = text.partition(":")
    weight, found = _weight(name.strip()), None
    names = (weight, "lam") if weight == "lambda" else (weight,)
    for part in parameters.split(","):
        key, _, value = part.partition("=")
        if key.strip() in names:
            found = _fraction(key.strip(), value)
    return found


def _fraction(name: str, text: str) -> float:
    """A number as people write it: 0.25, or 7/12."""
    over, _, under = text.partition("/")
    try:
        return float(over) / float(under) if under else float(over)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{name}: expected a number such as 0.25, 1e-3 or 7/12, got {text!r}") from None


def seed_of(random_state: Any) -> int:
    """A seed for Rust from what scikit-learn takes as `random_state`."""
    from sklearn.utils import check_random_state

    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return whole("random_state", int(random_state), most=2**64 - 1)
    return int(check_random_state(random_state).randint(2**31 - 1))


def validated(model: Any, X: Any, *y: Any, **how: Any) -> Any:
    """X, or X and y, as scikit-learn takes them; what makes its own checks fail is refused here."""
    from sklearn.utils.validation import validate_data

    # Sparse targets are converted by SciPy, whose own code may crash on one that is damaged.
    if any(hasattr(target, "tocsr") for target in y):
        raise ValueError("y: expected an array, got a sparse matrix; y.toarray() is one")
    try:
        return validate_data(model, checked_sparse("X", X), *y, **how)
    except OverflowError:
        raise ValueError("X and y: expected numbers, got one that is too large for floating point") from None


def warn_unless_settled(model: Any, raw: dict[str, Any], scale: float, above: int = 3) -> None:
    """Says so where a solver ended far from stationary: its gradient, next to how large gradients of such data are. It is so many calls below
    whoever asked for a fit."""
    if raw["status"] in ("certified", "settled"):
        return
    certificate = raw["certificate"]
    violation = np.inf if certificate is None else certificate.dual_norm[1] / max(scale, np.finfo(float).tiny)
    tolerance = 1e-4 if raw["x"].dtype == np.float64 else 1e-3
    if violation <= tolerance:
        return
    message = f"{type(model).__name__} did not converge: after {raw['nit']} steps ({raw['status']}) the violation is "
    warnings.warn(f"{message}{violation:.2g}, not {tolerance:.0e}. Raise max_iter.", ConvergenceWarning, stacklevel=above)
