"""Filling in what a matrix lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from melmo import _melmo
from melmo._checks import optional_number, optional_whole, whole
from melmo._estimator import Floats, penalty_text, seed_of, validated, warn_unless_settled
from melmo._penalty import Penalty
from melmo._sparse import canonical


class MatrixCompletion(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Fills in the NaN of a matrix, X ≈ m + aᵢ + bⱼ + (low rank).

    Offsets come first, then one of two models of what they leave: factors WH with a ridge on both (which is the nuclear norm), or a
    penalty of the singular values, which does not shrink large ones. Whatever is not given is chosen by a tenth of the known
    entries.

    A SciPy sparse matrix is completed from what it stores: what it does not store is unknown. It is never made dense, so that 10⁸
    entries fit; ``predict_at`` and ``recommend`` then say what the model makes of single places and of rows.

    Parameters
    ----------
    rank : int, optional
        Columns of W: asks for factors.
    ridge : float, optional
        Their ridge ν: asks for factors.
    penalty : str or melmo.penalty, optional
        Of the singular values, such as ``"mcp"``.
    offsets : bool, default True
        Take m + aᵢ + bⱼ off first.
    offset_weight : float, optional
        How strongly the offsets of rows and columns with few entries are drawn to 0.
    implicit : float, optional
        α: a stored entry y says 1 with confidence 1 + αy, and what is not stored says 0 with confidence 1 (Hu, Koren and Volinsky
        2008). For sparse X, with factors and no offsets.
    max_iter : int, optional
        Steps, at most.
    random_state : int, RandomState or None, default 0
        For the entries that judge and for the start.

    Attributes
    ----------
    completed_ : array of shape (n_samples, n_features)
        The model's values everywhere, also where X was known; not for a sparse X.
    mean_ : float
        m.
    row_offsets_, column_offsets_ : array
        a and b.
    components_ : array of shape (rank_, n_features)
        H, or an orthonormal basis of the rows of the low-rank part: what new rows are written in.
    row_factors_ : array of shape (n_samples, rank_)
        W, of a sparse X.
    rank_ : int
        Rows of ``components_``.
    ridge_ : float
        ν; 0 for a penalty of singular values.
    penalty_ : str or None
        The penalty of singular values, with the λ that was chosen.
    objective_, status_, n_iter_
        Where the solver ended, why, and its steps.

    Examples
    --------
    >>> import numpy as np
    >>> from melmo import MatrixCompletion
    >>> X = np.outer(np.arange(1.0, 9), np.arange(1.0, 7))
    >>> X[2, 3] = X[5, 1] = np.nan
    >>> filled = MatrixCompletion().fit_transform(X)
    >>> bool(abs(filled[2, 3] - 12) < 0.5), bool(abs(filled[5, 1] - 12) < 0.5)
    (True, True)
    """

    def __init__(
        self,
        rank: int | None = None,
        *,
        ridge: float | None = None,
        penalty: str | Penalty | None = None,
        offsets: bool = True,
        offset_weight: float | None = None,
        implicit: float | None = None,
        max_iter: int | None = None,
        random_state: Any = 0,
    ):
        self.rank = rank
        self.ridge = ridge
        self.penalty = penalty
        self.offsets = offsets
        self.offset_weight = offset_weight
        self.implicit = implicit
        self.max_iter = max_iter
        self.random_state = random_state

    def _checked(self, X: Any, reset: bool) -> Any:
        found = validated(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite="allow-nan",
            reset=reset,
        )
        return canonical(found) if issparse(found) else np.ascontiguousarray(found)

    def fit(self, X: Any, y: Any = None) -> MatrixCompletion:
        """Fits the model to the entries of X that are not NaN, or that a sparse X stores."""
        X = self._checked(X, True)
        rank, ridge = optional_whole("rank", self.rank, 1), optional_number("ridge", self.ridge)
        weight, seed = optional_number("offset_weight", self.offset_weight), seed_of(self.random_state)
        settings = {"max_iter": optional_whole("max_iter", self.max_iter, 1)}
        implicit = optional_number("implicit", self.implicit)
        if issparse(X):
            if self.penalty is not None:
                raise ValueError("penalty: a sparse X has factors; leave the penalty of singular values out, or give a dense X")
            starts, columns = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False)
            offsets = bool(self.offsets) and implicit is None
            raw = _melmo.complete_entries(
                X.shape, starts, columns, X.data, implicit, offsets, weight, rank, ridge, seed, settings
            )
            size = float(np.linalg.norm(X.data.astype(np.float64)))
        else:
            if implicit is not None:
                raise ValueError("implicit: what is not stored is what speaks: give X as a SciPy sparse matrix")
            penalty = None if self.penalty is None else penalty_text(self.penalty)
            raw = _melmo.complete(X, bool(self.offsets), weight, rank, ridge, penalty, seed, settings)
            self.completed_: Floats = raw["matrix"].reshape(X.shape)
            size = float(np.sqrt(np.nansum(np.square(X, dtype=np.float64))))
        self._take(raw, X)
        warn_unless_settled(self, raw, size * max(1.0, float(np.linalg.norm(self.components_))))
        return self

    def _take(self, raw: Any, X: Any) -> None:
        """What a run says of the model."""
        self.mean_ = float(raw["mean"])
        self.row_offsets_: Floats = raw["row_offsets"]
        self.column_offsets_: Floats = raw["column_offsets"]
        self.offset_weight_: float | None = raw["offset_weight"]
        self.penalty_: str | None = raw.get("penalty")
        self.ridge_ = float(raw.get("ridge", 0.0))
        if self.penalty_ is None:
            split = X.shape[0] * raw["rank"]
            self.components_: Floats = raw["x"][split:].reshape(raw["rank"], -1).copy()
            if issparse(X):
                self.row_factors_: Floats = raw["z"].reshape(X.shape[0], -1)
        else:
            _, values, basis = np.linalg.svd(raw["z"].reshape(X.shape), full_matrices=False)
            self.components_ = basis[values > 1e-6 * max(values[0], np.finfo(X.dtype).tiny)]
        self.rank_ = len(self.components_)
        self.objective_ = float(raw["fun"])
        self.status_ = str(raw["status"])
        self.n_iter_ = max(1, int(raw["nit"]))

    def predict_at(self, rows: Any, columns: Any) -> Floats:
        """The model's values in these rows and columns of a sparse X, one for each pair.

        >>> import numpy as np
        >>> from scipy.sparse import csr_matrix
        >>> from melmo import MatrixCompletion
        >>> X = csr_matrix(np.add.outer(np.arange(20.0), np.arange(1.0, 16)) * (np.arange(300).reshape(20, 15) % 4 > 0))
        >>> bool(abs(MatrixCompletion(rank=1, ridge=1.0).fit(X).predict_at([3], [5])[0] - 9) < 0.5)
        True
        """
        W = self._row_factors("predict_at")
        rows, columns = np.asarray(rows, dtype=np.intp), np.asarray(columns, dtype=np.intp)
        offsets = self.mean_ + self.row_offsets_[rows] + self.column_offsets_[columns]
        found: Floats = offsets + np.einsum("ij,ji->i", W[rows], self.components_[:, columns])
        return found

    def recommend(self, X: Any, n: int = 10) -> Any:
        """For every row of the sparse X that was fitted the n columns of the largest values that it does not store, best first.

        Returns an array of shape (n_samples, n); −1 where there are fewer.
        """
        W = self._row_factors("recommend")
        X = self._checked(X, False)
        if not issparse(X) or X.shape[0] != len(W):
            raise ValueError(f"X: expected the sparse matrix of {len(W)} rows that was fitted")
        n = min(whole("n", n, 1), X.shape[1])
        best = np.empty((len(W), n), dtype=np.intp)
        for first in range(0, len(W), 1024):
            values = W[first : first + 1024] @ self.components_ + self.column_offsets_.astype(W.dtype)
            known = X[first : first + 1024].tocoo()
            values[known.row, known.col] = -np.inf
            found = np.argpartition(-values, n - 1, axis=1)[:, :n]
            order = np.argsort(-np.take_along_axis(values, found, 1), axis=1, kind="stable")
            found = np.take_along_axis(found, order, 1)
            best[first : first + 1024] = np.where(np.isneginf(np.take_along_axis(values, found, 1)), -1, found)
        return best

    def _row_factors(self, asked: str) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "row_factors_"):
            raise AttributeError(f"{asked} is for a sparse X; completed_ has every value of a dense one")
        return self.row_factors_

    def transform(self, X: Any) -> Floats:
        """X with its NaN filled in.

        Rows need not be those of ``fit``: a row's offset and its place among the components are found from its known entries. A row
        without any is m + bⱼ. Of a sparse X nothing is filled in, since it would be dense: its stored entries become the model's values.
        """
        check_is_fitted(self)
        X = self._checked(X, False)
        if issparse(X):
            smoothed: Floats = self._smoothed(X)
            return smoothed
        filled: Floats = X.copy()
        base = self.mean_ + self.column_offsets_
        for row, out in zip(X, filled):
            missing = np.isnan(row)
            if missing.any():
                known = np.flatnonzero(~missing)
                offset, place = self._placed(known, row[known])
                out[missing] = base[missing] + offset + place @ self.components_[:, missing]
        return filled

    def _placed(self, known: Any, values: Any) -> tuple[float, Any]:
        """The offset of a row, and its place among the components, from the entries that are known of it."""
        weight = 0.0 if self.offset_weight_ is None else float(self.offset_weight_)
        H = self.components_[:, known].astype(np.float64)
        # Without a ridge a row with fewer entries than components has no one answer: the least.
        ridge = self.ridge_ or 1e-8 * float(np.sum(self.components_.astype(np.float64) ** 2, axis=1).max(initial=1.0))
        if self.implicit is not None:
            everything, confidence = self.components_.astype(np.float64), self.implicit * values
            gram = everything @ everything.T + (H * confidence) @ H.T
            return 0.0, np.linalg.solve(gram + ridge * np.eye(len(H)), H @ (1 + confidence))
        rest = values - self.mean_ - self.column_offsets_[known]
        offset = rest.sum() / (len(known) + weight) if self.offset_weight_ is not None and len(known) else 0.0
        place = np.linalg.solve(H @ H.T + ridge * np.eye(len(H)), H @ (rest - offset))
        return float(offset), place

    def _smoothed(self, X: Any) -> Any:
        """The model's values where X stores some."""
        filled = X.copy()
        for i in range(X.shape[0]):
            known = X.indices[X.indptr[i] : X.indptr[i + 1]]
            offset, place = self._placed(known, X.data[X.indptr[i] : X.indptr[i + 1]])
            model = self.mean_ + self.column_offsets_[known] + offset + place @ self.components_[:, known]
            filled.data[X.indptr[i] : X.indptr[i + 1]] = model
        return filled

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
