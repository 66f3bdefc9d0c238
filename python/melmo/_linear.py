"""What linear models with a penalty share: the path of solutions, and how X and groups of columns go to Rust."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_sample_weight, check_array, column_or_1d

from melmo import _melmo
from melmo._checks import brief, number, several, whole
from melmo._estimator import ConvergenceWarning, Floats, given_lam, penalty_text
from melmo._penalty import Penalty
from melmo._communicator import Ranks
from melmo._shared_rows import follow
from melmo._together import OnRanks, agreed

#: λ_min/λ_max where no λ is given.
_DEFAULT_RATIO = 1e-2


@dataclass(frozen=True)
class RegressionPath:
    """Solutions for one λ after another.

    Attributes
    ----------
    lambdas : array of shape (n_lambdas,)
        From the largest downwards.
    coefs : array of shape (n_lambdas, n_features) or (n_lambdas, n_outputs, n_features)
        The coefficients for each λ; of each class or target, where there are several.
    intercepts : array of shape (n_lambdas,) or (n_lambdas, n_outputs)
        The intercepts.
    objectives : array of shape (n_lambdas,)
        The mean loss (for squares half the mean squared error) plus the penalty, on columns as they were penalised.
    violations : array of shape (n_lambdas,)
        The largest distance of a coefficient from stationary, relative to the largest slope of the penalty at 0 (λ for most).
    n_iter : array of shape (n_lambdas,)
        Rounds of coordinate descent.
    lambda_max : float
        The least λ for which every coefficient is 0.
    """

    lambdas: npt.NDArray[np.float64]
    coefs: Floats
    intercepts: npt.NDArray[np.float64]
    objectives: npt.NDArray[np.float64]
    violations: npt.NDArray[np.float64]
    n_iter: npt.NDArray[np.int64]
    lambda_max: float


@dataclass(frozen=True)
class Rows:
    """What is known of the rows besides X and y."""

    weights: list[float] | None = None
    offset: list[float] | None = None
    #: Who has the others, if anybody has.
    ranks: Ranks | None = None

    @classmethod
    def checked(cls, X: Any, sample_weight: Any, offset: Any, ranks: Ranks | None = None) -> Rows:
        """A number for every row each, or nothing; weights are not negative."""
        return agreed(ranks, lambda: cls._checked(X, sample_weight, offset, ranks))

    @classmethod
    def _checked(cls, X: Any, sample_weight: Any, offset: Any, ranks: Ranks | None) -> Rows:
        if X.shape[0] == 0:  # on one of several ranks
            return cls(None if sample_weight is None else [], None if offset is None else [], ranks)
        weights = None
        if sample_weight is not None:
            checked: Any = _check_sample_weight  # it has no types
            weights = checked(sample_weight, X, dtype=np.float64, ensure_non_negative=True).tolist()
            if ranks is None and not any(weights):
                raise ValueError("sample_weight: expected a weight above 0 in at least one row")
        if offset is not None:
            offset = check_array(offset, ensure_2d=False, dtype=np.float64, input_name="offset").tolist()
            if np.ndim(offset) != 1 or len(offset) != X.shape[0]:
                raise ValueError(f"offset: expected {X.shape[0]} numbers, one a row")
        return cls(weights, offset, ranks)

    def some(self, rows: Any) -> Rows:
        """Of some rows."""
        return Rows(_some(self.weights, rows), _some(self.offset, rows), self.ranks)


def _some(values: list[float] | None, rows: Any) -> list[float] | None:
    return None if values is None else [float(v) for v in np.asarray(values)[rows]]


def _columns(X: Any) -> tuple[Any, bool]:
    """X as Rust reads it, row by row, or column by column where it lies so: an array in C order, or a compressed matrix."""
    by_columns = X.format == "csc" if hasattr(X, "tocsr") else X.flags.f_contiguous and not X.flags.c_contiguous
    if not hasattr(X, "tocsr"):
        return np.ascontiguousarray(X.T if by_columns else X), by_columns
    X = X if by_columns else X.tocsr()
    X.sum_duplicates()
    return (X.indptr.astype(np.uintp), X.indices.astype(np.uintp), np.ascontiguousarray(X.data), list(X.shape)), by_columns


def _groups(groups: Any, columns: int) -> list[list[int]] | None:
    """Groups of columns as lists, from lists or from a label for every column."""
    if groups is None:
        return None
    groups = several("groups", groups, "lists of columns or a label for every column")
    if groups and all(np.ndim(group) == 0 for group in groups):
        labels = column_or_1d(groups)
        if len(labels) != columns:
            raise ValueError(f"groups: {len(labels)} labels for {columns} columns")
        if any(label != label for label in labels):
            raise ValueError("groups: a label is NaN; expected one for every column")
        return [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    return [_members(at, group, columns) for at, group in enumerate(groups)]


def _members(at: int, group: Any, columns: int) -> list[int]:
    if np.ndim(group) != 1:
        raise ValueError(f"groups: expected a list of columns as group {at}, got {brief(group)}")
    return [whole(f"groups: a column of group {at}", column, most=columns - 1) for column in group]


class SparseLinear(OnRanks):
    """A linear model with a penalty on its coefficients."""

    def __init__(
        self,
        penalty: str | Penalty = "l1",
        lam: float | None = None,
        *,
        groups: Sequence[Any] | None = None,
        fit_intercept: bool = True,
        standardize: bool = False,
        positive: bool = False,
        penalty_weights: Any = None,
        tol: float = 1e-7,
        max_iter: int = 1000,
        warm_start: bool = False,
        comm: Any = None,
    ):
        self.comm = comm
        self.penalty = penalty
        self.lam = lam
        self.groups = groups
        self.positive = positive
        self.penalty_weights = penalty_weights
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter

    if TYPE_CHECKING:  # scikit-learn's, which says nothing of types

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    def _loss(self) -> str:
        raise NotImplementedError

    def _tolerance(self, dtype: Any) -> float:
        """Rounding of single precision shows from 1e-4 on."""
        tol = number("tol", self.tol)
        return max(tol, 1e-4) if dtype == np.float32 else tol

    def _follow(
        self,
        X: Any,
        y: Floats,
        lambdas: Any = None,
        n_lambdas: int = 20,
        ratio: float = _DEFAULT_RATIO,
        stopped: Callable[[], bool] | None = None,
        rows: Rows | None = None,
        start: Any = None,
    ) -> RegressionPath:
        """The path on data that have been checked. `stopped` is for threads, which hear no signals."""
        if lambdas is not None:
            lambdas = [number("lambdas", lam) for lam in several("lambdas", lambdas, "a list of numbers")]
        rows = rows or Rows()
        columns, transposed = _columns(X) if rows.ranks is None else (None, False)
        asked = {
            "loss": self._loss(),
            "penalty": penalty_text(self.penalty),
            "groups": _groups(self.groups, X.shape[1]),
            "intercept": bool(self.fit_intercept),
            "standardize": bool(self.standardize),
            "transposed": transposed,
            "weights": rows.weights,
            "offset": rows.offset,
            "factors": self._factors(X.shape[1]),
            "positive": bool(self.positive),
            "start": start,
            "lambdas": lambdas,
            "count": whole("n_lambdas", n_lambdas, 1),
            "ratio": number("ratio", ratio),
            "tolerance": self._tolerance(X.dtype),
            "rounds": whole("max_iter", self.max_iter, 1, 2**32 - 1),
            "stopped": stopped,
        }
        if rows.ranks is None:
            raw = _melmo.regress(columns, np.ascontiguousarray(y.T, dtype=np.float64).ravel(), asked)
        else:
            raw = follow(rows.ranks, X, (y[:, None] if y.ndim == 1 else y).astype(np.float64), asked, self._outputs(y))
        count, outputs = len(raw["lambdas"]), raw["intercept"].size // len(raw["lambdas"])
        of_outputs = () if outputs == 1 else (outputs,)
        return RegressionPath(
            raw["lambdas"],
            raw["coef"].reshape(count, *of_outputs, X.shape[1]).astype(X.dtype, copy=False),
            raw["intercept"].reshape(count, *of_outputs),
            raw["objective"],
            raw["violation"],
            raw["rounds"],
            raw["lambda_max"],
        )

    def _factors(self, columns: int) -> list[float] | None:
        """What the penalty of every column is multiplied by."""
        if self.penalty_weights is None:
            return None
        factors = several("penalty_weights", self.penalty_weights, "a number for every column")
        if len(factors) != columns:
            raise ValueError(f"penalty_weights: {len(factors)} numbers for {columns} columns")
        return [number("penalty_weights", factor) for factor in factors]

    def _start(self, X: Any) -> list[tuple[list[float], float]] | None:
        """The last solution, where the next fit starts from it."""
        coefs = getattr(self, "coef_", None)
        if not self.warm_start or coefs is None or np.shape(coefs)[-1] != X.shape[1]:
            return None
        coefs, intercepts = np.atleast_2d(coefs).astype(float), np.atleast_1d(self.intercept_).astype(float)
        return [(row.tolist(), float(c)) for row, c in zip(coefs, intercepts)]

    def _fit_one(self, X: Any, y: Floats, rows: Rows | None = None) -> tuple[RegressionPath, float]:
        """The last point is the answer: for one λ, or for λ_max/100 at the end of a path."""
        lam, start = given_lam(self.penalty, self.lam), self._start(X)
        if start is not None and len(start) != self._outputs(y):
            start = None
        path = self._follow(X, y, None if lam is None else [lam], rows=rows, start=start)
        return path, float(path.lambdas[-1])

    def _outputs(self, y: Floats) -> int:
        """How many numbers are predicted for a row."""
        return 1 if y.ndim == 1 else y.shape[1]

    def _warn_of(self, path: RegressionPath, places: Any = slice(None), above: int = 3) -> None:
        """Says so where solutions of a path are farther from stationary than they should be; so many calls below whoever asked for them."""
        violations, tol = np.atleast_1d(path.violations[places]), self._tolerance(path.coefs.dtype)
        far = ~(violations <= tol * (1 + 1e-9))
        if not far.any():
            return
        which = "" if len(far) == 1 else f" for {far.sum()} of {len(far)} λ"
        message = f"{type(self).__name__} did not converge{which}: after {path.n_iter[places].max()} rounds the violation is "
        message += f"{violations.max():.2g}, not {tol:.2g}. Raise max_iter or tol."
        warnings.warn(message, ConvergenceWarning, stacklevel=above)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
