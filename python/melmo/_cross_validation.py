"""λ by cross-validation, for linear models with a penalty."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.model_selection import check_cv
from sklearn.utils.extmath import safe_sparse_dot

from melmo import _melmo
from melmo._checks import brief, several
from melmo._estimator import Floats, given_lam
from melmo._linear import RegressionPath, Rows, SparseLinear
from melmo._communicator import Ranks
from melmo._threads import jobs_at_a_time
from melmo._together import begins


class CrossValidated(SparseLinear):
    """A linear model whose λ is chosen along its path, by the loss on rows that were held out."""

    def _validate_by(self, lambdas: Any, n_lambdas: int, ratio: float, cv: Any, select: str, n_jobs: int | None) -> None:
        """The parameters of the choice, in place of the λ that is chosen."""
        del self.lam, self.warm_start
        self.lambdas = lambdas
        self.n_lambdas = n_lambdas
        self.ratio = ratio
        self.cv = cv
        self.select = select
        self.n_jobs = n_jobs

    def _folds(self, X: Any, y: Any, groups: Any = None, classifier: bool = False, ranks: Ranks | None = None) -> list[Any]:
        """The rows to fit and the rows to judge by, fold by fold: of folds of all rows those that are here."""
        if ranks is None:
            return self._split(X, y, groups, classifier)
        if self.n_jobs not in (None, 1):
            raise ValueError("n_jobs: on ranks folds go one after another; leave it out with comm")
        first, rows = begins(ranks, len(y))
        everybodys = np.concatenate([part.reshape(-1, *y.shape[1:]) for part in ranks.numbers(y)]).astype(y.dtype)
        given = ranks.objects(None if groups is None else np.asarray(groups).tolist())
        labels = None if groups is None else [label for part in given for label in part]

        def split() -> list[Any]:
            folds = self._split(np.zeros((rows, 1)), everybodys, labels, classifier) if ranks.rank == 0 else []
            return [np.arange(rows)[part].astype(np.float64) for fold in folds for part in fold]

        parts = ranks.agreed(split)
        whole = [ranks.numbers(parts[at] if parts else [])[0] for at in range(ranks.told(lambda: len(parts)))]
        here = [part[(part >= first) & (part < first + len(y))].astype(np.intp) - first for part in whole]
        return list(zip(here[::2], here[1::2]))

    def _split(self, X: Any, y: Any, groups: Any, classifier: bool) -> list[Any]:
        if issparse(self.cv):  # SciPy's own code may crash on one that is damaged
            raise TypeError("cv: expected a number of folds, a splitter or pairs of rows, got a sparse matrix")
        try:
            folds = [tuple(map(np.asarray, fold)) for fold in check_cv(self.cv, y, classifier=classifier).split(X, y, groups)]
        except (NotImplementedError, OverflowError):
            raise ValueError(f"cv: expected a number of folds, a splitter or pairs of rows, got {brief(self.cv)}") from None
        for fold in folds:
            if len(fold) != 2 or any(rows.ndim != 1 or rows.dtype.kind not in "iub" or not rows.size for rows in fold):
                raise ValueError("cv: expected pairs of rows, those to fit and those to judge by, none of them empty")
            if any(rows.dtype.kind != "b" and not (-len(y) <= rows.min() <= rows.max() < len(y)) for rows in fold):
                raise ValueError(f"cv: a fold has rows beyond the {len(y)} there are")
        return folds

    def _choose(self, X: Any, y: Floats, folds: list[Any], rows: Rows) -> int:
        """Goes along the path on all rows and on each fold; the place of the λ that is chosen."""
        if not isinstance(self.select, str) or self.select not in ("min", "1se"):
            raise ValueError(f"select: expected 'min' or '1se', got {brief(self.select)}")
        if isinstance(self.penalty, str) and given_lam(self.penalty, None) is not None:
            raise ValueError(f"penalty: {self.penalty!r} says what is chosen here; leave it out, or give lambdas=")
        self.path_, self.losses_ = self._judge(X, y, folds, rows)
        at = _chosen(self.losses_, self.select)
        self.lambdas_ = self.path_.lambdas
        self.lam_ = float(self.lambdas_[at])
        return at

    def _judge(self, X: Any, y: Floats, folds: list[Any], rows: Rows) -> tuple[RegressionPath, Floats]:
        """The path on all rows, and the held-out loss of each of its λ on each fold."""
        jobs = jobs_at_a_time(self.n_jobs)
        lambdas = None if self.lambdas is None else sorted(several("lambdas", self.lambdas, "a list of numbers"), reverse=True)
        whole = self._follow(X, y, lambdas, self.n_lambdas, self.ratio, rows=rows)
        left = threading.Event()

        def fold(places: Any) -> Floats:
            kept, held = places
            path = self._follow(X[kept], y[kept], whole.lambdas, stopped=left.is_set, rows=rows.some(kept))
            return self._losses(path, X[held], y[held], rows.some(held))

        if jobs == 1:  # here, where Ctrl-C is heard
            return whole, np.stack([fold(places) for places in folds], axis=1)
        with ThreadPoolExecutor(jobs) as pool:
            try:
                return whole, np.stack(list(pool.map(fold, folds)), axis=1)
            except BaseException:
                left.set()
                raise

    def _losses(self, path: RegressionPath, X: Any, y: Floats, rows: Rows) -> Floats:
        """The mean loss of each λ on rows that were held out, of all ranks."""
        if rows.ranks is None:
            return self._held_out(path, X, y, rows)
        weight = float(len(y) if rows.weights is None else sum(rows.weights))

        def own() -> Floats:
            means = self._held_out(path, X, y, rows) if weight > 0 else np.zeros(len(path.lambdas))
            return np.append(weight * means, weight)

        sums = rows.ranks.sums(own)
        return np.asarray(sums[:-1] / sums[-1])

    def _held_out(self, path: RegressionPath, X: Any, y: Floats, rows: Rows) -> Floats:
        """The mean loss of each λ on rows that were held out."""
        loss, coefs = self._loss(), path.coefs.reshape(-1, X.shape[1])
        margins = np.asarray(safe_sparse_dot(X, coefs.T), dtype=np.float64) + path.intercepts.ravel()
        if rows.offset is not None:
            margins += np.asarray(rows.offset)[:, None]
        of_lambdas = margins.T.reshape(len(path.lambdas), -1)
        weights = rows.weights if y.ndim == 1 or rows.weights is None else rows.weights * y.shape[1]
        y = np.ascontiguousarray(y.T, dtype=np.float64).ravel()  # several targets lie one after another, as their predictions do
        return np.array([_melmo.mean_loss(loss, y, np.ascontiguousarray(t), weights) for t in of_lambdas])


def _chosen(losses: Floats, select: str) -> int:
    """The λ of the least held-out loss, or the largest within one standard error of it."""
    mean = losses.mean(axis=1)
    best = int(mean.argmin())
    if select == "min":
        return best
    error = losses.std(axis=1, ddof=1)[best] / np.sqrt(losses.shape[1])
    return int(np.argmax(mean <= mean[best] + error))
