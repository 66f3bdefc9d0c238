"""What estimators of components share: X with entries missing, and the way back from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from melmo._estimator import Floats, validated


class Components(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows as places among ``components_``; NaN marks entries that are missing."""

    def _checked(self, X: Any, reset: bool, sparse: bool = False) -> Any:
        """X as it is needed; where it may be `sparse`, and is, in compressed rows without repeated or missing entries."""
        kept = "csr" if sparse else False
        finite = True if issparse(X) else "allow-nan"
        found = validated(
            self,
            X,
            accept_sparse=kept,
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=finite,
            reset=reset,
        )
        if not issparse(found):
            return np.ascontiguousarray(found)
        if not found.has_canonical_format:
            found = found.copy()
            found.sum_duplicates()
        return found

    if TYPE_CHECKING:  # scikit-learn's, which says nothing of types

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Floats: ...

    def inverse_transform(self, W: Any) -> Floats:
        """The rows that places among the components stand for: W times ``components_``."""
        check_is_fitted(self)
        W = np.asarray(W)
        if W.ndim != 2 or W.shape[1] != self.n_components_:
            raise ValueError(f"W: expected {self.n_components_} columns, got the shape {W.shape}")
        return np.asarray(W @ self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
