"""Low rank plus sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from melmo import _melmo
from melmo._components import Components
from melmo._checks import optional_number, optional_whole
from melmo._estimator import Floats, given_lam, penalty_text, warn_unless_settled
from melmo._penalty import Penalty


class RobustPCA(Components):
    """X ≈ L + S, L of low rank and S sparse: principal components that outliers do not bend.

    Minimises ½‖M⊙(X − L − S)‖² + Σ ψ_L(σᵢ(L)) + Σ ψ_S(Sᵢⱼ), where M leaves out the entries of X that are NaN. Nothing is centred: a
    constant row is a component like any other. A video has a frame a row; what stays is L, what moves is S.

    Parameters
    ----------
    low_rank : str or melmo.penalty, default "mcp"
        ψ_L; unless it has a λ, λ_L = λ_S·√max(n_samples, n_features).
    sparse : str or melmo.penalty, default "mcp"
        ψ_S; unless it has a λ, λ_S = 3·noise.
    noise : float, optional
        The standard deviation of the noise; found together with L and S unless given.
    max_iter : int, optional
        Steps, at most.

    Attributes
    ----------
    low_rank_, sparse_ : array of shape (n_samples, n_features)
        L and S.
    components_ : array of shape (n_components_, n_features)
        An orthonormal basis of the rows of L; at least one row.
    singular_values_ : array of shape (n_components_,)
        The singular values of L.
    noise_ : float
        The noise.
    low_rank_penalty_, sparse_penalty_ : str
        ψ_L and ψ_S with everything that was chosen.
    objective_, status_, n_iter_
        Where the solver ended, why, and its steps.

    Examples
    --------
    >>> import numpy as np
    >>> from melmo import RobustPCA
    >>> rng = np.random.default_rng(0)
    >>> L = np.outer(rng.normal(size=40), rng.normal(size=30))
    >>> S = 5.0 * (rng.random(L.shape) < 0.05)
    >>> model = RobustPCA().fit(L + S + 0.01 * rng.normal(size=L.shape))
    >>> model.n_components_, bool(np.abs(model.low_rank_ - L).max() < 0.1)
    (1, True)
    """

    def __init__(
        self,
        *,
        low_rank: str | Penalty = "mcp",
        sparse: str | Penalty = "mcp",
        noise: float | None = None,
        max_iter: int | None = None,
    ):
        self.low_rank = low_rank
        self.sparse = sparse
        self.noise = noise
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any = None) -> RobustPCA:
        """Separates X. NaN marks entries that are missing."""
        X = self._checked(X, True)
        texts = [_or_mu(penalty_text(penalty)) for penalty in (self.low_rank, self.sparse)]
        noise = optional_number("noise", self.noise)
        if noise is not None and not noise > 0:
            raise ValueError(f"noise: expected a number above 0, got {noise!r}; leave it out where there is none, and it is found")
        raw = _melmo.rpca(X, texts[0], texts[1], noise, {"max_iter": optional_whole("max_iter", self.max_iter, 1)})
        self.low_rank_: Floats
        self.sparse_: Floats
        self.components_: Floats
        self.low_rank_, self.sparse_ = (part.reshape(X.shape).copy() for part in np.split(raw["z"], 2))
        _, values, basis = np.linalg.svd(self.low_rank_, full_matrices=False)
        kept = max(1, int(raw["rank"] or 0))
        self.components_, self.singular_values_ = basis[:kept], values[:kept]
        self.n_components_ = self._n_features_out = kept
        self.noise_ = float(raw["noise"])
        self.low_rank_penalty_ = str(raw["low_rank_penalty"])
        self.sparse_penalty_ = str(raw["sparse_penalty"])
        self.objective_ = float(raw["fun"])
        self.status_ = str(raw["status"])
        self.n_iter_ = max(1, int(raw["nit"]))
        warn_unless_settled(self, raw, float(np.sqrt(np.nansum(np.square(X, dtype=np.float64)))))
        return self

    def transform(self, X: Any) -> Floats:
        """The rows of X in the components, with their outliers left out.

        Each row w minimises Σ h(x − wV) over its known entries, where h is squared up to λ_S and linear from there: what S with the
        slope of its penalty comes to.
        """
        check_is_fitted(self)
        X = self._checked(X, False)
        kink = None if self.sparse_penalty_.startswith("ridge") else given_lam(self.sparse_penalty_, None)
        threshold = np.inf if kink is None else kink  # a penalty without a kink leaves no outliers out
        V = self.components_.astype(X.dtype, copy=False)
        places = np.zeros((len(X), len(V)), dtype=X.dtype)
        for row, place in zip(X, places):
            known = ~np.isnan(row)
            if known.any():
                place[:] = _huber(V[:, known], row[known], threshold)
        return places


def _or_mu(text: str) -> str:
    """MCP with the task's own μ unless another is given."""
    return "mcp:mu=3" if text == "mcp" else text


def _huber(V: Floats, x: Floats, threshold: float) -> Floats:
    """argmin_w Σ h(x − wV), by least squares with weights that fall with the residual; fewer entries than rows of V: the least w."""
    rows, tiny = V.astype(np.float64), 1e-12
    ridge = tiny * np.eye(len(rows)) * max(1.0, float((rows**2).sum()))
    place: Floats = np.zeros(len(rows))
    weights: Floats = np.ones(len(x))
    for _ in range(100):
        weighted = rows * weights
        following = np.linalg.solve(weighted @ rows.T + ridge, weighted @ x.astype(np.float64))
        moved = float(np.abs(following - place).max())
        place = following
        if moved <= 1e-10 * (1e-300 + float(np.abs(place).max())):
            break
        if not np.isfinite(threshold):
            break
        weights = threshold / np.maximum(np.abs(x - place @ rows), threshold)
    return place
