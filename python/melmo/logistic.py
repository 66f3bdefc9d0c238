"""Sparse classification: logistic regression with convex and weakly convex penalties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.extmath import safe_sparse_dot, softmax
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from melmo._cross_validation import CrossValidated
from melmo._estimator import Floats, validated
from melmo._linear import RegressionPath, Rows, SparseLinear
from melmo._penalty import Penalty
from melmo._communicator import Ranks
from melmo._together import agreed, has_no_rows


class SparseLogistic(ClassifierMixin, SparseLinear):  # type: ignore[misc]
    """Logistic regression with a penalty that sets coefficients to zero.

    Minimises (1/n)·Σ log(1 + exp(−yᵢ(xᵢᵀb + c))) + Σ ψ(bⱼ) for classes y = ±1; for more than two, the multinomial
    (1/n)·Σ log Σ_k exp(xᵢᵀb_k + c_k) − xᵢᵀb_y − c_y, with a b and a c a class. For the penalty ``"l1"`` it is scikit-learn's ``LogisticRegression`` with ``C = 1/(n·lam)`` and an intercept that is not
    penalised.

    Parameters
    ----------
    penalty, lam, groups, fit_intercept, standardize, positive, penalty_weights, tol, max_iter, warm_start
        As for :class:`SparseRegression`; with more than two classes, a group holds the coefficients of all of them.
    class_weight : dict or "balanced", optional
        How much the rows of each class count, as scikit-learn has it.
    comm : mpi4py communicator, optional
        As for :class:`SparseRegression`: X and y are this rank's rows. The classes are those of all.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        b, one row for two classes.
    intercept_ : array of shape (1,) or (n_classes,)
        c.
    lam_ : float
        λ.
    objective_, violation_ : float
        What is minimised, and how far the solution is from stationary.
    n_iter_ : array of shape (1,)
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
        class_weight: Any = None,
        tol: float = 1e-7,
        max_iter: int = 1000,
        warm_start: bool = False,
        comm: Any = None,
    ):
        super().__init__(
            penalty,
            lam,
            groups=groups,
            fit_intercept=fit_intercept,
            standardize=standardize,
            positive=positive,
            penalty_weights=penalty_weights,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
            comm=comm,
        )
        self.class_weight = class_weight

    def _loss(self) -> str:
        return "logistic" if len(self.classes_) == 2 else f"multinomial:classes={len(self.classes_)}"

    def _outputs(self, y: Floats) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _rows(
        self, X: Any, codes: npt.NDArray[np.int64], sample_weight: Any, offset: Any, ranks: Ranks | None = None
    ) -> Rows:
        """Weights of rows times those of their classes."""
        rows = Rows.checked(X, sample_weight, offset, ranks)
        if self.class_weight is None:
            return rows
        balanced = isinstance(self.class_weight, str) and self.class_weight == "balanced"
        if not (balanced or isinstance(self.class_weight, dict)):
            raise ValueError(f'class_weight: expected a dict from classes to weights, or "balanced", got {self.class_weight!r}')
        if ranks is not None and balanced:
            weights = np.ones(len(codes)) if rows.weights is None else np.asarray(rows.weights)
            totals = ranks.sums(lambda: np.bincount(codes, weights, len(self.classes_)))
            return Rows(_balanced(codes, weights, totals).tolist(), rows.offset, ranks)
        labels = self.classes_[codes]
        weights = compute_sample_weight(self.class_weight, labels)
        if balanced and rows.weights is not None:
            weights = _balanced(codes, np.asarray(rows.weights))
        return Rows.checked(X, weights if rows.weights is None else weights * rows.weights, offset, ranks)

    def _checked(self, X: Any, y: Any, ranks: Ranks | None = None) -> tuple[Any, npt.NDArray[np.int64]]:
        def check() -> tuple[Any, Any]:
            if ranks is not None and has_no_rows(X):
                return self._no_rows(X), np.zeros(0)
            rows, classes = validated(self, X, y, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32])
            check_classification_targets(classes)
            return rows, classes

        X, y = agreed(ranks, check)
        if ranks is not None:
            self._expect_same(ranks, X)
        encoder = LabelEncoder()
        # All classes, those of other ranks' rows too.
        encoder.fit(y if ranks is None else np.array([label for of_rank in ranks.objects(np.unique(y).tolist()) for label in of_rank]))
        codes = encoder.transform(y) if len(y) else np.zeros(0, dtype=np.int64)
        self.classes_: npt.NDArray[Any] = encoder.classes_
        if len(self.classes_) < 2:
            raise ValueError(f"y: expected at least two classes, got one class, {self.classes_[0]!r}")
        return X, codes

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> SparseLogistic:
        """Fits the coefficients to rows X (full, or a SciPy sparse matrix) and their classes y.

        ``sample_weight`` says how much each row counts, ``offset`` what is known of each xᵢᵀb + c already.
        """
        with self._together() as ranks:
            X, codes = self._checked(X, y, ranks)
            rows = self._rows(X, codes, sample_weight, offset, ranks)
            path, self.lam_ = self._fit_one(X, codes.astype(np.float64), rows)
        self._warn_of(path, -1)
        self._take(path, -1)
        return self

    def _take(self, path: RegressionPath, at: int) -> None:
        self.coef_: Floats = np.atleast_2d(path.coefs[at]).copy()
        self.intercept_ = np.atleast_1d(path.intercepts[at]).astype(self.coef_.dtype)
        if self.intercept_.size > 1:  # the same number more for every class changes nothing: they add up to 0
            self.intercept_ -= self.intercept_.mean()
        self.objective_ = float(path.objectives[at])
        self.violation_ = float(path.violations[at])
        self.n_iter_: npt.NDArray[np.int64] = np.array([max(1, int(path.n_iter[at]))])

    def decision_function(self, X: Any, offset: Any = None) -> Floats:
        """xᵢᵀb + c, with the offset where there is one: of one number for two classes, else of one for every class."""
        check_is_fitted(self)
        X = validated(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        margins = np.asarray(safe_sparse_dot(X, self.coef_.T)) + self.intercept_
        if offset is not None:
            margins = margins + np.asarray(Rows.checked(X, None, offset).offset, dtype=X.dtype)[:, None]
        return np.asarray(margins[:, 0] if margins.shape[1] == 1 else margins)

    def predict(self, X: Any, offset: Any = None) -> npt.NDArray[Any]:
        """The class of every row."""
        margins = self.decision_function(X, offset)
        codes = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any, offset: Any = None) -> Floats:
        """The probability of every class."""
        margins = self.decision_function(X, offset)
        if margins.ndim == 2:
            return np.asarray(softmax(margins))
        chances = np.exp(-np.logaddexp(0, -margins))
        return np.stack([1 - chances, chances], axis=1)

    def predict_log_proba(self, X: Any, offset: Any = None) -> Floats:
        """The logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, offset))

    def path(
        self,
        X: Any,
        y: Any,
        lambdas: Any = None,
        n_lambdas: int = 100,
        ratio: float = 1e-2,
        sample_weight: Any = None,
        offset: Any = None,
    ) -> RegressionPath:
        """Solutions for a decreasing sequence of λ; as for :meth:`SparseRegression.path`."""
        with self._together() as ranks:
            X, codes = self._checked(X, y, ranks)
            rows = self._rows(X, codes, sample_weight, offset, ranks)
            path = self._follow(X, codes.astype(np.float64), lambdas, n_lambdas, ratio, rows=rows)
        self._warn_of(path)
        return path


def _balanced(codes: npt.NDArray[np.int64], weights: Floats, totals: Floats | None = None) -> Floats:
    """Every class counts the same in all, with the weights that its rows have: `totals`, class by class."""
    found: Any = np.bincount(codes, weights=weights) if totals is None else totals
    return np.asarray((found.sum() / (np.count_nonzero(found) * np.where(found > 0, found, 1)))[codes])


class SparseLogisticCV(CrossValidated, SparseLogistic):
    """:class:`SparseLogistic` with λ chosen by cross-validation.

    Parameters
    ----------
    penalty, groups, fit_intercept, standardize, positive, penalty_weights, class_weight, tol, max_iter
        As for :class:`SparseLogistic`.
    lambdas, n_lambdas, ratio, cv, select, n_jobs, comm
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
        lambdas: Sequence[float] | None = None,
        n_lambdas: int = 50,
        ratio: float = 1e-2,
        cv: Any = 5,
        select: str = "min",
        fit_intercept: bool = True,
        standardize: bool = False,
        positive: bool = False,
        penalty_weights: Any = None,
        class_weight: Any = None,
        tol: float = 1e-5,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        comm: Any = None,
    ):
        super().__init__(
            penalty,
            None,
            groups=groups,
            fit_intercept=fit_intercept,
            standardize=standardize,
            positive=positive,
            penalty_weights=penalty_weights,
            class_weight=class_weight,
            tol=tol,
            max_iter=max_iter,
            comm=comm,
        )
        self._validate_by(lambdas, n_lambdas, ratio, cv, select, n_jobs)

    def _held_out(self, path: RegressionPath, X: Any, y: Floats, rows: Rows) -> Floats:
        """Two classes are ±1 there."""
        return super()._held_out(path, X, 2 * y - 1 if len(self.classes_) == 2 else y, rows)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, groups: Any = None) -> SparseLogisticCV:
        """Chooses λ and fits the coefficients. ``groups`` are labels of rows, for a ``cv`` that keeps those of one label together."""
        with self._together() as ranks:
            X, codes = self._checked(X, y, ranks)
            rows = self._rows(X, codes, sample_weight, offset, ranks)
            folds = self._folds(X, codes, groups, classifier=True, ranks=ranks)
            at = self._choose(X, codes.astype(np.float64), folds, rows)
        self._warn_of(self.path_, at)
        self._take(self.path_, at)
        return self
