"""Filling in what a matrix lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from melmo import _melmo
from melmo._checks import optional_number, optional_whole
from melmo._estimator import Floats, penalty_text, seed_of, validated, warn_unless_settled
from melmo._penalty import Penalty


class MatrixCompletion(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Fills in the NaN of a matrix, X ≈ m + aᵢ + bⱼ + (low rank).

    Offsets come first, then one of two models of what they leave: factors WH with a ridge on both (which is the nuclear norm), or a
    penalty of the singular values, which does not shrink large ones. Whatever is not given is chosen by a tenth of the known
    entries.

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
        κ: how strongly the offsets of rows and columns with few entries are drawn to 0.
    max_iter : int, optional
        Steps, at most.
    random_state : int, RandomState or None, default 0
        For the entries that judge and for the start.

    Attributes
    ----------
    completed_ : array of shape (n_samples, n_features)
        The model's values everywhere, also where X was known.
    mean_ : float
        m.
    row_offsets_, column_offsets_ : array
        a and b.
    components_ : array of shape (rank_, n_features)
        H, or an orthonormal basis of the rows of the low-rank part: what new rows are written in.
    rank_ : int
        Its rows.
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
        max_iter: int | None = None,
        random_state: Any = 0,
    ):
        self.rank = rank
        self.ridge = ridge
        self.penalty = penalty
        self.offsets = offsets
        self.offset_weight = offset_weight
        self.max_iter = max_iter
        self.random_state = random_state

    def _checked(self, X: Any, reset: bool) -> Floats:
        found = validated(
            self, X, dtype=[np.float64, np.float32], order="C", ensure_all_finite="allow-nan", reset=reset
        )
        return np.ascontiguousarray(found)

    def fit(self, X: Any, y: Any = None) -> MatrixCompletion:
        """Fits the model to the entries of X that are not NaN."""
        X = self._checked(X, True)
        raw = _melmo.complete(
            X,
            bool(self.offsets),
            optional_number("offset_weight", self.offset_weight),
            optional_whole("rank", self.rank, 1),
            optional_number("ridge", self.ridge),
            None if self.penalty is None else penalty_text(self.penalty),
            seed_of(self.random_state),
            {"max_iter": optional_whole("max_iter", self.max_iter, 1)},
        )
        self.completed_: Floats = raw["matrix"].reshape(X.shape)
        self.mean_ = float(raw["mean"])
        self.row_offsets_: Floats = raw["row_offsets"]
        self.column_offsets_: Floats = raw["column_offsets"]
        self.offset_weight_: float | None = raw["offset_weight"]
        self.penalty_: str | None = raw.get("penalty")
        self.ridge_ = float(raw.get("ridge", 0.0))
        if self.penalty_ is None:
            self.components_: Floats = raw["x"][X.shape[0] * raw["rank"] :].reshape(raw["rank"], -1).copy()
        else:
            _, values, basis = np.linalg.svd(raw["z"].reshape(X.shape), full_matrices=False)
            self.components_ = basis[values > 1e-6 * max(values[0], np.finfo(X.dtype).tiny)]
        self.rank_ = len(self.components_)
        self.objective_ = float(raw["fun"])
        self.status_ = str(raw["status"])
        self.n_iter_ = max(1, int(raw["nit"]))
        known = float(np.sqrt(np.nansum(np.square(X, dtype=np.float64))))
        warn_unless_settled(self, raw, known * max(1.0, float(np.linalg.norm(self.components_))))
        return self

    def transform(self, X: Any) -> Floats:
        """X with its NaN filled in.

        Rows need not be those of ``fit``: a row's offset and its place among the components are found from its known entries. A row
        without any is m + bⱼ.
        """
        check_is_fitted(self)
        X = self._checked(X, False)
        filled: Floats = X.copy()
        weight = 0.0 if self.offset_weight_ is None else float(self.offset_weight_)
        base = self.mean_ + self.column_offsets_
        H = self.components_.astype(np.float64)
        # Without a ridge a row with fewer entries than components has no one answer: the least.
        ridge = self.ridge_ or 1e-8 * float(np.sum(H**2, axis=1).max(initial=1.0))
        for row, out in zip(X, filled):
            missing = np.isnan(row)
            if not missing.any():
                continue
            known = ~missing
            rest = row[known] - base[known]
            offset = rest.sum() / (known.sum() + weight) if self.offset_weight_ is not None and known.any() else 0.0
            seen = H[:, known]
            place = np.linalg.solve(seen @ seen.T + ridge * np.eye(len(H)), seen @ (rest - offset))
            out[missing] = base[missing] + offset + place @ H[:, missing]
        return filled

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
