"""Sparse regression and classification: linear models with convex and weakly convex penalties."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import check_cv
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

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


class _SparseLinear(BaseEstimator):  # type: ignore[misc]
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
        self, X: Any, y: Floats, lambdas: Any = None, n_lambdas: int = 20, ratio: float = _DEFAULT_RATIO
    ) -> RegressionPath:
        """The path on data that have been checked."""
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


class SparseRegression(RegressorMixin, _SparseLinear):  # type: ignore[misc]
    """Linear regression with a penalty that sets coefficients to zero.

    Minimises (1/n)·Σ ℓ(yᵢ, xᵢᵀb + c) + Σ φ(bⱼ) with ℓ(y, t) = ½(y − t)² or Huber's. The intercept c is not penalised. For the
    penalty ``"l1"`` it is scikit-learn's ``Lasso`` with ``alpha = lam``. Penalties that are not convex are approached from large λ
    downwards.

    Parameters
    ----------
    penalty : str or melmo.penalty, default "l1"
        φ: ``"l1"``, ``"mcp"``, ``"scad"``, ``"elastic-net"``, ``"log-sum"``, ``"ridge"``, …, with parameters as in ``"mcp:mu=2"``, or an
        object of ``melmo.penalty``. The elastic net's ``nu`` is its λ unless it is given.
    lam : float, optional
        λ. Unless it is given here or with the penalty: λ_max/100, where λ_max is the least with which all coefficients are 0.
    loss : str, default "squares"
        ``"squares"``, ``"huber"`` (δ = 1.345 robust standard deviations of y) or ``"huber:delta=1.5"``.
    groups : list of lists of int, or a label for every column, optional
        Columns that are penalised together, by φ of the norm of their coefficients times the root of their number.
    fit_intercept : bool, default True
        Whether there is a c.
    standardize : bool, default False
        Penalise the coefficients of columns of standard deviation 1. They come back in the data's own units.
    tol : float, default 1e-7
        The largest distance of a coefficient from stationary, relative to λ.
    max_iter : int, default 1000
        Rounds of coordinate descent, at most.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        b.
    intercept_ : float
        c.
    lam_ : float
        λ.
    objective_ : float
        What is minimised, at the solution.
    violation_ : float
        How far it is from stationary, relative to λ.
    n_iter_ : int
        Rounds of coordinate descent.
    n_features_in_ : int
        Columns of X.

    Examples
    --------
    >>> import numpy as np
    >>> from melmo import SparseRegression
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> y = 3 * X[:, 2] - 2 * X[:, 7] + 1
    >>> model = SparseRegression("mcp", lam=0.2).fit(X, y)
    >>> np.flatnonzero(model.coef_).tolist(), round(float(model.coef_[2]), 3)
    ([2, 7], 3.0)
    """

    def __init__(
        self,
        penalty: str | Penalty = "l1",
        lam: float | None = None,
        *,
        loss: str = "squares",
        groups: Sequence[Any] | None = None,
        fit_intercept: bool = True,
        standardize: bool = False,
        tol: float = 1e-7,
        max_iter: int = 1000,
    ):
        super().__init__(
            penalty,
            lam,
            groups=groups,
            fit_intercept=fit_intercept,
            standardize=standardize,
            tol=tol,
            max_iter=max_iter,
        )
        self.loss = loss

    def _loss(self) -> str:
        if self.loss == "logistic":
            raise ValueError("loss: classes are the business of SparseLogistic")
        return self.loss

    def _checked(self, X: Any, y: Any) -> tuple[Any, Floats]:
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", y_numeric=True, multi_output=False
        )
        return X, y.astype(np.float64, copy=False)

    def fit(self, X: Any, y: Any) -> SparseRegression:
        """Fits the coefficients to rows X (full, or a SciPy sparse matrix) and their targets y."""
        X, y = self._checked(X, y)
        path, self.lam_ = self._fit_one(X, y)
        self._take(path, -1)
        return self

    def _take(self, path: RegressionPath, at: int) -> None:
        self.coef_ = path.coefs[at].copy()
        self.intercept_ = float(path.intercepts[at])
        self.objective_ = float(path.objectives[at])
        self.violation_ = float(path.violations[at])
        self.n_iter_ = max(1, int(path.n_iter[at]))

    def predict(self, X: Any) -> Floats:
        """xᵢᵀb + c for every row."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return np.asarray(safe_sparse_dot(X, self.coef_) + X.dtype.type(self.intercept_))

    def path(self, X: Any, y: Any, lambdas: Any = None, n_lambdas: int = 100, ratio: float = 1e-3) -> RegressionPath:
        """Solutions for a decreasing sequence of λ, each from the last.

        Parameters
        ----------
        X, y : array-like
            As for ``fit``.
        lambdas : sequence of float, optional
            The λ; unless given, `n_lambdas` from λ_max to λ_max·`ratio`.
        n_lambdas : int, default 100
            How many.
        ratio : float, default 1e-3
            The last λ over the first.

        Examples
        --------
        >>> import numpy as np
        >>> from melmo import SparseRegression
        >>> X = np.random.default_rng(0).normal(size=(50, 5))
        >>> path = SparseRegression().path(X, X[:, 1], n_lambdas=10)
        >>> path.coefs.shape, int(np.count_nonzero(path.coefs[-1]))
        ((10, 5), 1)
        """
        X, y = self._checked(X, y)
        return self._follow(X, y, lambdas, n_lambdas, ratio)


class SparseLogistic(ClassifierMixin, _SparseLinear):  # type: ignore[misc]
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
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        check_classification_targets(y)
        encoder = LabelEncoder()
        codes = encoder.fit_transform(y)
        self.classes_ = encoder.classes_
        if len(self.classes_) < 2:
            raise ValueError(f"y: expected at least two classes, got one class, {self.classes_[0]!r}")
        return X, codes

    def fit(self, X: Any, y: Any) -> SparseLogistic:
        """Fits the coefficients to rows X (full, or a SciPy sparse matrix) and their classes y."""
        X, codes = self._checked(X, y)
        told_apart = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        found = [self._fit_one(X, (codes == code).astype(np.float64)) for code in told_apart]
        self._take([path for path, _ in found], -1)
        self.lam_ = found[0][1] if len(found) == 1 else np.array([lam for _, lam in found])
        return self

    def _take(self, paths: list[RegressionPath], at: int) -> None:
        self.coef_ = np.stack([path.coefs[at] for path in paths])
        self.intercept_ = np.array([path.intercepts[at] for path in paths]).astype(self.coef_.dtype)
        self.objective_ = np.array([path.objectives[at] for path in paths])
        self.violation_ = np.array([path.violations[at] for path in paths])
        self.n_iter_ = np.array([max(1, int(path.n_iter[at])) for path in paths])

    def decision_function(self, X: Any) -> Floats:
        """xᵢᵀb + c: of one number for two classes, else of one for every class."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
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
        _expect_two(self.classes_)
        return self._follow(X, codes.astype(np.float64), lambdas, n_lambdas, ratio)


def _expect_two(classes: npt.NDArray[Any]) -> None:
    if len(classes) != 2:
        raise ValueError(f"y: expected two classes for a path, got {len(classes)}")


def _threads(n_jobs: int | None) -> int:
    import os

    if n_jobs is None:
        return 1
    return max(1, (os.cpu_count() or 1) + 1 + n_jobs) if n_jobs < 0 else max(1, n_jobs)


def _judge(model: Any, X: Any, y: Floats, folds: list[Any], n_jobs: int | None) -> tuple[RegressionPath, Floats]:
    """The path on all rows, and the held-out loss of each of its λ on each fold."""
    whole = model._follow(X, y, None, model.n_lambdas, model.ratio)

    def fold(rows: Any) -> Floats:
        kept, held = rows
        path = model._follow(X[kept], y[kept], whole.lambdas)
        margins = np.asarray(safe_sparse_dot(X[held], path.coefs.T)) + path.intercepts
        return np.asarray(model._held_out(y[held][:, None], margins).mean(axis=0))

    with ThreadPoolExecutor(_threads(n_jobs)) as pool:
        return whole, np.stack(list(pool.map(fold, folds)), axis=1)


def _chosen(losses: Floats, select: str) -> int:
    """The λ of the least held-out loss, or the largest within one standard error of it."""
    mean = losses.mean(axis=1)
    best = int(mean.argmin())
    if select == "min":
        return best
    if select != "1se":
        raise ValueError(f"select: expected 'min' or '1se', got {select!r}")
    error = losses.std(axis=1, ddof=1)[best] / np.sqrt(losses.shape[1])
    return int(np.argmax(mean <= mean[best] + error))


class SparseRegressionCV(SparseRegression):
    """:class:`SparseRegression` with λ chosen by cross-validation.

    Parameters
    ----------
    penalty, loss, groups, fit_intercept, standardize, tol, max_iter
        As for :class:`SparseRegression`.
    n_lambdas : int, default 50
        λ from λ_max to λ_max·`ratio`.
    ratio : float, default 1e-3
        The last λ over the first.
    cv : int, cross-validation generator or iterable, default 5
        The folds, as scikit-learn takes them.
    select : {"min", "1se"}, default "min"
        The λ of the least held-out loss, or the largest within one standard error of it.
    n_jobs : int, optional
        Threads over the folds; −1 for all cores.

    Attributes
    ----------
    lam_ : float
        The λ that was chosen.
    lambdas_ : array of shape (n_lambdas,)
        Those that were tried.
    losses_ : array of shape (n_lambdas, n_folds)
        Held-out mean squared errors, or Huber losses.
    path_ : RegressionPath
        The solutions on all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from melmo import SparseRegressionCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 20))
    >>> model = SparseRegressionCV("mcp").fit(X, 3 * X[:, 2] + rng.normal(size=100))
    >>> abs(float(model.coef_[2]) - 3) < 0.3, int(np.count_nonzero(model.coef_)) < 8
    (True, True)
    """

    def __init__(
        self,
        penalty: str | Penalty = "l1",
        *,
        loss: str = "squares",
        groups: Sequence[Any] | None = None,
        n_lambdas: int = 50,
        ratio: float = 1e-3,
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
            loss=loss,
            groups=groups,
            fit_intercept=fit_intercept,
            standardize=standardize,
            tol=tol,
            max_iter=max_iter,
        )
        del self.lam
        self.n_lambdas = n_lambdas
        self.ratio = ratio
        self.cv = cv
        self.select = select
        self.n_jobs = n_jobs

    def _held_out(self, y: Floats, margins: Floats) -> Floats:
        if self.loss == "squares":
            return (y - margins) ** 2
        size = np.abs(y - margins)
        return np.where(size <= self._delta, 0.5 * size**2, self._delta * (size - 0.5 * self._delta))

    def fit(self, X: Any, y: Any) -> SparseRegressionCV:
        """Chooses λ and fits the coefficients."""
        X, y = self._checked(X, y)
        if self.loss != "squares":
            middle = np.median(y)
            spread = 1.345 * 1.4826 * float(np.median(np.abs(y - middle)))
            _, _, given = self.loss.partition("delta=")
            self._delta = float(given) if given else spread or 1.0
        folds = list(check_cv(self.cv, y).split(X, y))
        self.path_, self.losses_ = _judge(self, X, y, folds, self.n_jobs)
        at = _chosen(self.losses_, self.select)
        self.lambdas_ = self.path_.lambdas
        self.lam_ = float(self.lambdas_[at])
        self._take(self.path_, at)
        return self


class SparseLogisticCV(SparseLogistic):
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
        del self.lam
        self.n_lambdas = n_lambdas
        self.ratio = ratio
        self.cv = cv
        self.select = select
        self.n_jobs = n_jobs

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
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass."
            )
        folds = list(check_cv(self.cv, codes, classifier=True).split(X, codes))
        self.path_, self.losses_ = _judge(self, X, codes.astype(np.float64), folds, self.n_jobs)
        at = _chosen(self.losses_, self.select)
        self.lambdas_ = self.path_.lambdas
        self.lam_ = float(self.lambdas_[at])
        self._take([self.path_], at)
        return self
