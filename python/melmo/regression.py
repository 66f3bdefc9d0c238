"""Sparse linear regression with convex and weakly convex penalties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from melmo import _melmo
from melmo._checks import word
from melmo._cross_validation import CrossValidated
from melmo._estimator import Floats, validated
from melmo._linear import RegressionPath, SparseLinear
from melmo._penalty import Penalty


class SparseRegression(RegressorMixin, SparseLinear):  # type: ignore[misc]
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
        λ > 0; the ν of a ridge. Unless it is given here or with the penalty: λ_max/100, where λ_max is the least with which all
        coefficients are 0, or 1 for a penalty that never sets them to 0.
    loss : str, default "squares"
        ``"squares"``, ``"huber"`` (δ = 1.345 robust standard deviations of y, of all rows also in cross-validation) or ``"huber:delta=1.5"``.
    groups : list of lists of int, or a label for every column, optional
        Columns that are penalised together, by φ of the norm of their coefficients times the root of their number. Every column
        is in one group.
    fit_intercept : bool, default True
        Whether there is a c.
    standardize : bool, default False
        Penalise the coefficients of columns of standard deviation 1. They come back in the data's own units.
    tol : float, default 1e-7
        The largest distance of a coefficient from stationary, relative to the largest slope of the penalty at 0 (λ for most).
        A fit that does not get there warns (``ConvergenceWarning``).
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
        if word("loss", self.loss) == "logistic":
            raise ValueError("loss: classes are the business of SparseLogistic")
        return self.loss

    def _checked(self, X: Any, y: Any) -> tuple[Any, Floats]:
        X, y = validated(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", y_numeric=True, multi_output=False
        )
        return X, y.astype(np.float64, copy=False)

    def fit(self, X: Any, y: Any) -> SparseRegression:
        """Fits the coefficients to rows X (full, or a SciPy sparse matrix) and their targets y."""
        X, y = self._checked(X, y)
        path, self.lam_ = self._fit_one(X, y)
        self._warn_of(path, -1)
        self._take(path, -1)
        return self

    def _take(self, path: RegressionPath, at: int) -> None:
        self.coef_: Floats = path.coefs[at].copy()
        self.intercept_ = float(path.intercepts[at])
        self.objective_ = float(path.objectives[at])
        self.violation_ = float(path.violations[at])
        self.n_iter_ = max(1, int(path.n_iter[at]))

    def predict(self, X: Any) -> Floats:
        """xᵢᵀb + c for every row."""
        check_is_fitted(self)
        X = validated(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
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
        path = self._follow(X, y, lambdas, n_lambdas, ratio)
        self._warn_of(path)
        return path


class SparseRegressionCV(CrossValidated, SparseRegression):
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
        self._validate_by(n_lambdas, ratio, cv, select, n_jobs)

    def _loss(self) -> str:
        """With one δ for all folds and for all rows: that of all rows."""
        return getattr(self, "_settled", None) or super()._loss()

    def _held_out(self, y: Floats, margins: Floats) -> Floats:
        _, _, delta = self._settled.partition("delta=")
        if not delta:
            return (y - margins) ** 2
        size = np.abs(y - margins)
        return np.where(size <= float(delta), 0.5 * size**2, float(delta) * (size - 0.5 * float(delta)))

    def fit(self, X: Any, y: Any) -> SparseRegressionCV:
        """Chooses λ and fits the coefficients."""
        X, y = self._checked(X, y)
        self._settled = ""
        self._settled = _melmo.settled_loss(self._loss(), np.ascontiguousarray(y))
        at = self._choose(X, y, self._folds(X, y))
        self._warn_of(self.path_, at)
        self._take(self.path_, at)
        return self
