"""λ by cross-validation, for linear models with a penalty."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.model_selection import check_cv
from sklearn.utils.extmath import safe_sparse_dot

from melmo._checks import brief
from melmo._estimator import Floats
from melmo._linear import RegressionPath, SparseLinear
from melmo._threads import jobs_at_a_time


class CrossValidated(SparseLinear):
    """A linear model whose λ is chosen along its path, by the loss on rows that were held out."""

    def _validate_by(self, n_lambdas: int, ratio: float, cv: Any, select: str, n_jobs: int | None) -> None:
        """The parameters of the choice, in place of the λ that is chosen."""
        del self.lam
        self.n_lambdas = n_lambdas
        self.ratio = ratio
        self.cv = cv
        self.select = select
        self.n_jobs = n_jobs

    def _folds(self, X: Any, y: Any, classifier: bool = False) -> list[Any]:
        """The rows to fit and the rows to judge by, fold by fold."""
        if issparse(self.cv):  # SciPy's own code may crash on one that is damaged
            raise TypeError("cv: expected a number of folds, a splitter or pairs of rows, got a sparse matrix")
        try:
            folds = [tuple(map(np.asarray, fold)) for fold in check_cv(self.cv, y, classifier=classifier).split(X, y)]
        except (NotImplementedError, OverflowError):
            raise ValueError(f"cv: expected a number of folds, a splitter or pairs of rows, got {brief(self.cv)}") from None
        for fold in folds:
            if len(fold) != 2 or any(rows.ndim != 1 or rows.dtype.kind not in "iub" or not rows.size for rows in fold):
                raise ValueError("cv: expected pairs of rows, those to fit and those to judge by, none of them empty")
            if any(rows.dtype.kind != "b" and not (-len(y) <= rows.min() <= rows.max() < len(y)) for rows in fold):
                raise ValueError(f"cv: a fold has rows beyond the {len(y)} there are")
        return folds

    def _held_out(self, y: Floats, margins: Floats) -> Floats:
        """The loss of every row."""
        raise NotImplementedError

    def _choose(self, X: Any, y: Floats, folds: list[Any]) -> int:
        """Goes along the path on all rows and on each fold; the place of the λ that is chosen."""
        if not isinstance(self.select, str) or self.select not in ("min", "1se"):
            raise ValueError(f"select: expected 'min' or '1se', got {brief(self.select)}")
        self.path_, self.losses_ = self._judge(X, y, folds)
        at = _chosen(self.losses_, self.select)
        self.lambdas_ = self.path_.lambdas
        self.lam_ = float(self.lambdas_[at])
        return at

    def _judge(self, X: Any, y: Floats, folds: list[Any]) -> tuple[RegressionPath, Floats]:
        """The path on all rows, and the held-out loss of each of its λ on each fold."""
        jobs = jobs_at_a_time(self.n_jobs)
        whole = self._follow(X, y, None, self.n_lambdas, self.ratio)
        left = threading.Event()

        def fold(rows: Any) -> Floats:
            kept, held = rows
            path = self._follow(X[kept], y[kept], whole.lambdas, stopped=left.is_set)
            margins = np.asarray(safe_sparse_dot(X[held], path.coefs.T)) + path.intercepts
            return np.asarray(self._held_out(y[held][:, None], margins).mean(axis=0))

        if jobs == 1:  # here, where Ctrl-C is heard
            return whole, np.stack([fold(rows) for rows in folds], axis=1)
        with ThreadPoolExecutor(jobs) as pool:
            try:
                return whole, np.stack(list(pool.map(fold, folds)), axis=1)
            except BaseException:
                left.set()
                raise


def _chosen(losses: Floats, select: str) -> int:
    """The λ of the least held-out loss, or the largest within one standard error of it."""
    mean = losses.mean(axis=1)
    best = int(mean.argmin())
    if select == "min":
        return best
    error = losses.std(axis=1, ddof=1)[best] / np.sqrt(losses.shape[1])
    return int(np.argmax(mean <= mean[best] + error))
