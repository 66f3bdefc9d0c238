"""Sparse linear regression with convex and weakly convex penalties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.metrics import d2_tweedie_score
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, column_or_1d

from melmo import _melmo
from melmo._checks import word
from melmo._cross_validation import CrossValidated
from melmo._estimator import Floats, validated
from melmo._linear import RegressionPath, Rows, SparseLinear
from melmo._penalty import Penalty
from melmo._communicator import Ranks
from melmo._shared_rows import settled
from melmo._together import agreed, has_no_rows


class SparseRegression(RegressorMixin, SparseLinear):  # type: ignore[misc]
    """Linear regression with a penalty that sets coefficients to zero.

    Minimises (1/n)·Σ ℓ(yᵢ, xᵢᵀb + c) + Σ ψ(bⱼ) with ℓ(y, t) = ½(y − t)², or the loss of counts, quantiles, times or Huber. The
    intercept c is not penalised. Several targets (a matrix y) are fitted each by itself, or together in ``groups``. For the penalty ``"l1"`` it is scikit-learn's ``Lasso`` with ``alpha = lam``. Penalties that are not convex are approached from large λ
    downwards.

    Parameters
    ----------
    penalty : str or melmo.penalty, default "l1"
        ψ: ``"l1"``, ``"mcp"``, ``"scad"``, ``"elastic-net"``, ``"log-sum"``, ``"ridge"``, …, with parameters as in ``"mcp:mu=2"``, or an
        object of ``melmo.penalty``. The elastic net's ``nu`` is its λ unless it is given.
    lam : float, optional
        λ > 0; the ν of a ridge. Unless it is given here or with the penalty: λ_max/100, where λ_max is the least with which all
        coefficients are 0, or 1 for a penalty that never sets them to 0.
    loss : str, default "squares"
        ``"squares"``, ``"huber"`` (δ = 1.345 robust standard deviations of y, of all rows also in cross-validation) or ``"huber:delta=1.5"``,
        ``"poisson"`` (counts; half the deviance, for a mean exp(xᵀb + c)), ``"quantile:level=0.9"`` (the pinball loss, smoothed over 0.02
        robust standard deviations of y, or ``width=…``), ``"cox"`` (times until an event, with a minus where it was not seen; Breslow's
        partial likelihood).
    groups : list of lists of int, or a label for every column, optional
        Columns that are penalised together, by ψ of the norm of their coefficients times the root of their number. Every column
        is in one group. With several targets, a group holds the coefficients of all of them: one group a column is the multi-task lasso.
    fit_intercept : bool, default True
        Whether there is a c.
    standardize : bool, default False
        Penalise the coefficients of columns of standard deviation 1. They come back in the data's own units. The program
        ``melmo regress`` does so unless it is told ``--no-standardize``.
    positive : bool, default False
        No coefficient is negative.
    penalty_weights : array of shape (n_features,), optional
        What ψ of every column is multiplied by; 0 leaves it free. The columns of a group have one number.
    tol : float, default 1e-7
        The largest distance of a coefficient from stationary, relative to the largest slope of the penalty at 0 (λ for most).
        A fit that does not get there warns (``ConvergenceWarning``).
    max_iter : int, default 1000
        Rounds of coordinate descent, at most.
    warm_start : bool, default False
        Start from the last fit's coefficients.
    comm : mpi4py communicator, optional
        Fit together with the other ranks of, say, ``MPI.COMM_WORLD``: X and y (and what else has a number a row) are the rows that this rank
        has, none at all may be, and every rank gets the solution for all rows. Rows of the whole are those of rank 0, then those of rank 1 and
        so on. Ranks share the communicator with clones; pickles and copies do without. ``predict`` and ``score`` are of the rows they are given.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        b.
    intercept_ : float or array of shape (n_targets,)
        c.
    lam_ : float
        λ.
    objective_ : float
        What is minimised, at the solution.
    violation_ : float
        How far it is from stationary, in the units of `tol`.
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
        positive: bool = False,
        penalty_weights: Any = None,
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
        self.loss = loss

    def _loss(self) -> str:
        if word("loss", self.loss).partition(":")[0] in ("logistic", "multinomial"):
            raise ValueError("loss: classes are the business of SparseLogistic")
        return self.loss

    def _checked(self, X: Any, y: Any, ranks: Ranks | None = None) -> tuple[Any, Floats]:
        def check() -> tuple[Any, Floats]:
            if ranks is not None and has_no_rows(X):
                return self._no_rows(X), np.zeros(np.shape(y))
            kinds: Any = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}
            rows, targets = validated(self, X, y, **kinds, y_numeric=True, multi_output=True)
            return rows, targets.astype(np.float64, copy=False)

        X, y = agreed(ranks, check)
        if ranks is not None:
            self._expect_same(ranks, X, **{"number of targets": y.shape[1:]})
        return X, y

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> SparseRegression:
        """Fits the coefficients to rows X (full, or a SciPy sparse matrix) and their targets y.

        ``sample_weight`` says how much each row counts, ``offset`` what is known of each prediction xᵢᵀb + c already.
        """
        with self._together() as ranks:
            X, y = self._checked(X, y, ranks)
            return self._fit(X, y, Rows.checked(X, sample_weight, offset, ranks))

    def _fit(self, X: Any, y: Floats, rows: Rows) -> SparseRegression:
        if y.ndim == 1 or self.groups is not None:
            path, self.lam_ = self._fit_one(X, y, rows)
            self._warn_of(path, -1, above=4)
            self._take(path, -1)
            return self
        found = [self._fit_target(X, y, rows, at) for at in range(y.shape[1])]
        for name in ("coef_", "intercept_", "lam_", "objective_", "violation_", "n_iter_"):
            setattr(self, name, np.array([getattr(model, name) for model in found]))
        return self

    def _fit_target(self, X: Any, y: Floats, rows: Rows, at: int) -> SparseRegression:
        """One of several targets by itself."""
        model: SparseRegression = clone(self)
        before: Any = getattr(self, "coef_", None)
        if self.warm_start and before is not None and before.shape == (y.shape[1], X.shape[1]):
            intercepts: Any = self.intercept_
            model.coef_, model.intercept_ = before[at], intercepts[at]
        model.n_features_in_ = X.shape[1]
        return model._fit(X, y[:, at], rows)

    def _take(self, path: RegressionPath, at: int) -> None:
        self.coef_: Floats = path.coefs[at].copy()
        self.intercept_: float | Floats = path.intercepts[at].copy() if self.coef_.ndim == 2 else float(path.intercepts[at])
        self.objective_ = float(path.objectives[at])
        self.violation_ = float(path.violations[at])
        self.n_iter_ = max(1, int(path.n_iter[at]))

    def predict(self, X: Any, offset: Any = None) -> Floats:
        """xᵢᵀb + c for every row, with the offset where there is one; of counts their mean, of times the logarithm of the risk."""
        check_is_fitted(self)
        X = validated(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        margins = np.asarray(safe_sparse_dot(X, self.coef_.T) + np.asarray(self.intercept_, dtype=X.dtype))
        if offset is not None:
            margins = (margins.T + np.asarray(Rows.checked(X, None, offset).offset, dtype=X.dtype)).T
        return np.exp(margins) if self.loss == "poisson" else margins

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """How good predictions are, 1 at best: R²; of counts D², the share of the deviance that is explained; of times the share of
        pairs that are put in order (concordance).

        Parameters
        ----------
        X, y : array-like
            As for ``fit``.
        sample_weight : array-like, optional
            How much each row counts; of times it is not looked at.
        """
        kind = word("loss", self.loss).partition(":")[0]
        if kind == "cox":
            times = column_or_1d(np.asarray(y, dtype=np.float64))
            return float(_melmo.concordance(times, np.asarray(self.predict(X), dtype=np.float64)))
        if kind == "poisson" and np.ndim(y) == 1:
            return float(d2_tweedie_score(y, self.predict(X), sample_weight=sample_weight, power=1))
        return float(super().score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.target_tags.positive_only = self.loss == "poisson"
        return tags

    def path(
        self,
        X: Any,
        y: Any,
        lambdas: Any = None,
        n_lambdas: int = 100,
        ratio: float = 1e-3,
        sample_weight: Any = None,
        offset: Any = None,
    ) -> RegressionPath:
        """Solutions for a decreasing sequence of λ, each from the last.

        Parameters
        ----------
        X, y, sample_weight, offset : array-like
            As for ``fit``; of several targets with one λ for all.
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
        with self._together() as ranks:
            X, y = self._checked(X, y, ranks)
            path = self._follow(X, y, lambdas, n_lambdas, ratio, rows=Rows.checked(X, sample_weight, offset, ranks))
        self._warn_of(path)
        return path


class SparseRegressionCV(CrossValidated, SparseRegression):
    """:class:`SparseRegression` with λ chosen by cross-validation.

    Parameters
    ----------
    penalty, loss, groups, fit_intercept, standardize, positive, penalty_weights, tol, max_iter
        As for :class:`SparseRegression`; several targets have one λ.
    lambdas : sequence of float, optional
        The λ to try, from the largest downwards; unless given, those of the next two.
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
    comm : mpi4py communicator, optional
        As for :class:`SparseRegression`. Folds are those of all rows, one after another on all ranks; `n_jobs` does not go with it. The targets
        (and `groups`) of all rows are on every rank; a splitter that looks at X sees zeros.

    Attributes
    ----------
    lam_ : float
        The λ that was chosen.
    lambdas_ : array of shape (n_lambdas,)
        Those that were tried.
    losses_ : array of shape (n_lambdas, n_folds)
        Held-out mean squared errors, or means of the other losses.
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
        lambdas: Sequence[float] | None = None,
        n_lambdas: int = 50,
        ratio: float = 1e-3,
        cv: Any = 5,
        select: str = "min",
        fit_intercept: bool = True,
        standardize: bool = False,
        positive: bool = False,
        penalty_weights: Any = None,
        tol: float = 1e-5,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        comm: Any = None,
    ):
        super().__init__(
            penalty,
            None,
            loss=loss,
            groups=groups,
            fit_intercept=fit_intercept,
            standardize=standardize,
            positive=positive,
            penalty_weights=penalty_weights,
            tol=tol,
            max_iter=max_iter,
            comm=comm,
        )
        self._validate_by(lambdas, n_lambdas, ratio, cv, select, n_jobs)

    def _loss(self) -> str:
        """With one δ or width for all folds and for all rows: that of all rows."""
        return getattr(self, "_settled", None) or super()._loss()

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, groups: Any = None) -> SparseRegressionCV:
        """Chooses λ and fits the coefficients. ``groups`` are labels of rows, for a ``cv`` that keeps those of one label together."""
        with self._together() as ranks:
            X, y = self._checked(X, y, ranks)
            rows = Rows.checked(X, sample_weight, offset, ranks)
            self._settled = ""
            if ranks is None:
                self._settled = _melmo.settled_loss(self._loss(), np.ascontiguousarray(y).ravel())
            else:
                self._settled = settled(ranks, self._loss(), y)
            at = self._choose(X, y, self._folds(X, y, groups, ranks=ranks), rows)
        self._warn_of(self.path_, at)
        self._take(self.path_, at)
        return self
