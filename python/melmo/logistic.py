"""Sparse classification: logistic regression with convex and weakly convex penalties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from melmo._cross_validation import CrossValidated
from melmo._estimator import Floats, validated
from melmo._linear import RegressionPath, SparseLinear
from melmo._penalty import Penalty


class SparseLogistic(ClassifierMixin, SparseLinear):  # type: ignore[misc]
    """Logistic regression with a penalty that sets coefficients to zero.

    Minimises (1/n)·Σ log(1 + exp(−yᵢ(xᵢᵀb + c))) + Σ φ(bⱼ) for classes y = ±1; more than two classes are told apart one against the
    rest. For the penalty ``"l1"`` it is scikit-learn's ``LogisticRegression`` with ``C = 1/(n·lam)`` and an intercept that is not
    penalised.

    Parameters
    ----------
    penalty, lam, groups, fit_intercept, standardize, tol, max_iter
        As for :class:`SparseRegression`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        b, one row for two classes.
    intercept_ : array of shape (1,) or (n_classes,)
        c.
    lam_ : float or array
        λ, of each row where it was chosen.
    objective_, violation_ : array
        What is minimised and how far the solution is from stationary, of each row.
    n_iter_ : array
        Rounds of coordinate descent.

    Examples
    --------
    >>> import numpy as np
    >>> from melmo import SparseLogistic
    >>> X = np.random.default_rng(0).normal(size=(200, 10))
    >>> model = SparseLogistic(lam=0.05).fit(X, X[:, 3] > 0)
    >>> np.flatnonzero(model.coef_[0]).tolist(), model.score(X, X[:, 3] > 0) > 0.95
    ([3], True)
    """

    def _loss(self) -> str:
        return "logistic"

    def _checked(self, X: Any, y: Any) -> tuple[Any, npt.NDArray[np.int64]]:
        X, y = validated(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        check_classification_targets(y)
        encoder = LabelEncoder()
        codes = encoder.fit_transform(y)
        self.classes_: npt.NDArray[Any] = encoder.classes_
        if len(self.classes_) < 2:
            raise ValueError(f"y: expected at least two classes, got one class, {self.classes_[0]!r}")
        return X, codes

    def fit(self, X: Any, y: Any) -> SparseLogistic:
        """Fits the coefficients to rows X (full, or a SciPy sparse matrix) and their classes y."""
        X, codes = self._checked(X, y)
        told_apart = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        found = [self._fit_one(X, (codes == code).astype(np.float64)) for code in told_apart]
        for path, _ in found:
            self._warn_of(path, -1)
        self._take([path for path, _ in found], -1)
        self.lam_ = found[0][1] if len(found) == 1 else np.array([lam for _, lam in found])
        return self

    def _take(self, paths: list[RegressionPath], at: int) -> None:
        self.coef_: Floats = np.stack([path.coefs[at] for path in paths])
        self.intercept_ = np.array([path.intercepts[at] for path in paths]).astype(self.coef_.dtype)
        self.objective_ = np.array([path.objectives[at] for path in paths])
        self.violation_ = np.array([path.violations[at] for path in paths])
        self.n_iter_: npt.NDArray[np.int64] = np.array([max(1, int(path.n_iter[at])) for path in paths])

    def decision_function(self, X: Any) -> Floats:
        """xᵢᵀb + c: of one number for two classes, else of one for every class."""
        check_is_fitted(self)
        X = validated(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        margins = np.asarray(safe_sparse_dot(X, self.coef_.T)) + self.intercept_
        return np.asarray(margins[:, 0] if margins.shape[1] == 1 else margins)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of every row."""
        margins = self.decision_function(X)
        codes = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> Floats:
        """The probability of every class; for more than two, those of one against the rest, made to sum to 1."""
        margins = self.decision_function(X)
        chances = np.exp(-np.logaddexp(0, -margins))
        if chances.ndim == 1:
            return np.stack([1 - chances, chances], axis=1)
        # Where no class is likely at all, the least unlikely ones share.
        total = chances.sum(axis=1, keepdims=True)
        return np.where(total > 0, chances / np.where(total > 0, total, 1), 1 / chances.shape[1])

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def path(self, X: Any, y: Any, lambdas: Any = None, n_lambdas: int = 100, ratio: float = 1e-2) -> RegressionPath:
        """Solutions for a decreasing sequence of λ, for two classes; as for :meth:`SparseRegression.path`."""
        X, codes = self._checked(X, y)
        if len(self.classes_) != 2:
            raise ValueError(f"y: expected two classes for a path, got {len(self.classes_)}")
        path = self._follow(X, codes.astype(np.float64), lambdas, n_lambdas, ratio)
        self._warn_of(path)
        return path


class SparseLogisticCV(CrossValidated, SparseLogistic):  # type: ignore[misc]
    """:class:`SparseLogistic` for two classes, with λ chosen by cross-validation.

    Parameters
    ----------
    penalty, groups, fit_intercept, standardize, tol, max_iter
        As for :class:`SparseRegression`.
    n_lambdas, ratio, cv, select, n_jobs
        As for :class:`SparseRegressionCV`; `ratio` is 1e-2 unless given.

    Attributes
    ----------
    lam_ : float
        The λ that was chosen.
    lambdas_ : array of shape (n_lambdas,)
        Those that were tried.
    losses_ : array of shape (n_lambdas, n_folds)
        Held-out log-losses.
    path_ : RegressionPath
        The solutions on all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from melmo import SparseLogisticCV
    >>> X = np.random.default_rng(0).normal(size=(200, 10))
    >>> model = SparseLogisticCV(n_lambdas=20).fit(X, X[:, 3] > 0)
    >>> model.score(X, X[:, 3] > 0) > 0.95
    True
    """

    def __init__(
        self,
        penalty: str | Penalty = "l1",
        *,
        groups: Sequence[Any] | None = None,
        n_lambdas: int = 50,
        ratio: float = 1e-2,
        cv: Any = 5,
        select: str = "min",
        fit_intercept: bool = True,
        standardize: bool = False,
        tol: float = 1e-5,
        max_iter: int = 1000,
        n_jobs: int | None = None,
    ):
        super().__init__(
            penalty,
            None,
            groups=groups,
            fit_intercept=fit_intercept,
            standardize=standardize,
            tol=tol,
            max_iter=max_iter,
        )
        self._validate_by(n_lambdas, ratio, cv, select, n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _held_out(self, y: Floats, margins: Floats) -> Floats:
        return np.logaddexp(0, -(2 * y - 1) * margins)

    def fit(self, X: Any, y: Any) -> SparseLogisticCV:
        """Chooses λ and fits the coefficients."""
        X, codes = self._checked(X, y)
        if len(self.classes_) != 2:
            raise ValueError("Only binary classification is supported. The type of the target is multiclass.")
        folds = self._folds(X, codes, classifier=True)
        at = self._choose(X, codes.astype(np.float64), folds)
        self._warn_of(self.path_, at)
        self._take([self.path_], at)
        return self
