"""What linear models with a penalty share: the path of solutions, and how X and groups of columns go to Rust."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import column_or_1d

from melmo import _melmo
from melmo._estimator import Floats, given_lam, penalty_text
from melmo._penalty import Penalty

#: λ_min/λ_max where no λ is given.
_DEFAULT_RATIO = 1e-2


@dataclass(frozen=True)
class RegressionPath:
    """Solutions for one λ after another.

    Attributes
    ----------
    lambdas : array of shape (n_lambdas,)
        From the largest downwards.
    coefs : array of shape (n_lambdas, n_features)
        The coefficients for each λ.
    intercepts : array of shape (n_lambdas,)
        The intercepts.
    objectives : array of shape (n_lambdas,)
        The mean loss (for squares half the mean squared error) plus the penalty, on columns as they were penalised.
    violations : array of shape (n_lambdas,)
        The largest distance of a coefficient from stationary, relative to λ.
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


def _columns(X: Any) -> Any:
    """X as Rust reads it: an array in C order, or compressed rows."""
    if not hasattr(X, "tocsr"):
        return np.ascontiguousarray(X)
    X = X.tocsr()
    X.sum_duplicates()
    return X.indptr.astype(np.uintp), X.indices.astype(np.uintp), np.ascontiguousarray(X.data), list(X.shape)


def _groups(groups: Any, columns: int) -> list[list[int]] | None:
    """Groups of columns as lists, from lists or from a label for every column."""
    if groups is None:
        return None
    if len(groups) and np.ndim(groups[0]) == 0:
        labels = column_or_1d(groups)
        if len(labels) != columns:
            raise ValueError(f"groups: {len(labels)} labels for {columns} columns")
        return [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    return [[int(i) for i in group] for group in groups]


class SparseLinear(BaseEstimator):  # type: ignore[misc]
    """A linear model with a penalty on its coefficients."""

    def __init__(
        self,
        penalty: str | Penalty = "l1",
        lam: float | None = None,
        *,
        groups: Sequence[Any] | None = None,
        fit_intercept: bool = True,
        standardize: bool = False,
        tol: float = 1e-7,
        max_iter: int = 1000,
    ):
        self.penalty = penalty
        self.lam = lam
        self.groups = groups
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter

    def _loss(self) -> str:
        raise NotImplementedError

    def _follow(
        self,
        X: Any,
        y: Floats,
        lambdas: Any = None,
        n_lambdas: int = 20,
        ratio: float = _DEFAULT_RATIO,
        stopped: Callable[[], bool] | None = None,
    ) -> RegressionPath:
        """The path on data that have been checked. `stopped` is for threads, which hear no signals."""
        if lambdas is not None:
            lambdas = [float(lam) for lam in lambdas]
        single = X.dtype == np.float32
        asked = {
            "loss": self._loss(),
            "penalty": penalty_text(self.penalty),
            "groups": _groups(self.groups, X.shape[1]),
            "intercept": bool(self.fit_intercept),
            "standardize": bool(self.standardize),
            "lambdas": lambdas,
            "count": int(n_lambdas),
            "ratio": float(ratio),
            # Rounding of single precision shows from there on.
            "tolerance": max(float(self.tol), 1e-4) if single else float(self.tol),
            "rounds": int(self.max_iter),
            "stopped": stopped,
        }
        raw = _melmo.regress(_columns(X), np.ascontiguousarray(y, dtype=np.float64), asked)
        return RegressionPath(
            raw["lambdas"],
            raw["coef"].reshape(-1, X.shape[1]).astype(X.dtype, copy=False),
            raw["intercept"],
            raw["objective"],
            raw["violation"],
            raw["rounds"],
            raw["lambda_max"],
        )

    def _fit_one(self, X: Any, y: Floats) -> tuple[RegressionPath, float]:
        """The last point is the answer: for one λ, or for λ_max/100 at the end of a path."""
        lam = given_lam(self.penalty, self.lam)
        path = self._follow(X, y, None if lam is None else [lam])
        return path, float(path.lambdas[-1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
