"""Sparse factors of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from melmo import _melmo
from melmo._components import Components
from melmo._checks import expect_room, number, optional_whole, whole, word
from melmo._evenly import evenly
from melmo._estimator import Floats, penalty_text, warn_unless_settled
from melmo._penalty import Penalty
from melmo._communicator import Ranks
from melmo._ranks import Share, share
from melmo._together import OnRanks, added, agreed, begins, has_no_rows


class SparseFactorization(OnRanks, Components):
    """X ≈ WH with a sparse W, like scikit-learn's ``NMF``.

    Minimises ‖M⊙(X − WH)‖² + Σ ψ(Wᵢⱼ) + ν/2·‖H‖², where M leaves out the entries of X that are NaN. Without a ridge on H (ν = 0) no
    minimiser exists: (tW, H/t) with t → 0 keeps the fit and removes the penalty.

    A sparse X of SciPy stays sparse: what it does not store is 0, and time and memory go with what it stores.

    Parameters
    ----------
    n_components : int, default 5
        Columns of W.
    penalty : str or melmo.penalty, default "mcp"
        ψ: ``"mcp"``, ``"l1"``, ``"scad"``, …, with parameters as in ``"mcp:mu=2"``, or an object of ``melmo.penalty``.
    lam : float or None, default 1.0
        λ; None leaves the penalty's own. It is weighed against squares of X: multiply X by 10 and λ by 100.
    ridge : float, default 0.1
        ν.
    nonnegative : bool, default False
        Neither W nor H has negative entries.
    method : str, default "auto"
        A method of the catalogue. With `nonnegative` only those that need no structure.
    max_iter : int, optional
        Steps, at most.
    tol : float, default 1e-8
        How far ``transform`` goes: until no entry of W moves by more than this share of the first moves.
    random_state : int, RandomState or None, default None
        For the start.
    comm : mpi4py communicator, optional
        Fit together with the other ranks of, say, ``MPI.COMM_WORLD``: X has the rows that this rank has, none at all may be, and every rank gets
        the same ``components_``. The start is that of one machine; ``"auto"`` is the method ``"scaled"``. ``transform`` is of the rows it is given.
        Missing entries do not go with `nonnegative` there.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        H.
    reconstruction_err_ : float
        ‖M⊙(X − WH)‖ for the W of ``transform``; of a sparse X, for the W that the solver ended with.
    objective_ : float
        What was minimised, where the solver ended.
    status_ : str
        Why it ended.
    n_iter_ : int
        Its steps.

    Notes
    -----
    ``fit_transform(X)`` is ``fit(X).transform(X)``: W is found from H and X alone, each row by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from melmo import SparseFactorization
    >>> rng = np.random.default_rng(0)
    >>> W = rng.normal(size=(60, 3)) * (rng.random((60, 3)) < 0.4)
    >>> X = W @ rng.normal(size=(3, 20))
    >>> X[rng.random(X.shape) < 0.1] = np.nan
    >>> model = SparseFactorization(3, lam=0.1, ridge=0.01, random_state=0)
    >>> found = model.fit_transform(X)
    >>> bool(np.mean(found == 0) > 0.3), bool(np.nanmax(abs(X - model.inverse_transform(found))) < 0.5)
    (True, True)
    """

    def __init__(
        self,
        n_components: int = 5,
        *,
        penalty: str | Penalty = "mcp",
        lam: float | None = 1.0,
        ridge: float = 0.1,
        nonnegative: bool = False,
        method: str = "auto",
        max_iter: int | None = None,
        tol: float = 1e-8,
        random_state: Any = None,
        comm: Any = None,
    ):
        self.n_components = n_components
        self.penalty = penalty
        self.lam = lam
        self.ridge = ridge
        self.nonnegative = nonnegative
        self.method = method
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.comm = comm

    def fit(self, X: Any, y: Any = None) -> SparseFactorization:
        """Finds H. NaN marks entries that are missing; what a sparse X does not store is 0."""
        with self._together() as ranks:
            return self._fit(X, ranks)

    def _fit(self, X: Any, ranks: Ranks | None) -> SparseFactorization:
        X = agreed(ranks, lambda: self._no_rows(X) if ranks is not None and has_no_rows(X) else self._checked(X, True, sparse=True))
        place = None
        if ranks is not None:
            X, place = self._place(ranks, X)
        rows = X.shape[0] if place is None else place.rows
        rank = whole("n_components", self.n_components, 1, rows * X.shape[1])  # with more, each entry could have one
        expect_room(f"n_components = {rank}: W and H", 4 * sum(X.shape) * rank, X.dtype.itemsize)
        squares, count = added(ranks, lambda: _squares(X))
        size = _typical(squares, count)
        scale = np.sqrt(size / np.sqrt(rank)) if size > 0 else 1.0
        rng = check_random_state(self.random_state) if ranks is None else ranks.told(lambda: check_random_state(self.random_state))
        W = scale * (rng.standard_normal((rows, rank)) if place is None else _own_rows(rng, place, rank))
        H = (scale * rng.standard_normal((rank, X.shape[1]))).astype(X.dtype)
        raw = self._solve(X, W.astype(X.dtype), H, ranks, place)
        parts = raw["z"] if self.nonnegative else raw["x"]
        self.components_: Floats = parts[X.shape[0] * rank :].reshape(rank, X.shape[1]).copy()
        self.n_components_ = int(rank)
        self._n_features_out = int(rank)
        self.objective_ = float(raw["fun"])
        self.status_ = str(raw["status"])
        self.n_iter_ = max(1, int(raw["nit"]))
        warn_unless_settled(self, raw, np.sqrt(squares) * max(1.0, float(np.linalg.norm(self.components_))), above=4)

        def apart() -> Floats:
            W = raw["z"][: X.shape[0] * rank].reshape(-1, rank) if issparse(X) else self._encode(X)
            return np.array([_distance(X, W, self.components_) ** 2])

        self.reconstruction_err_ = float(np.sqrt(added(ranks, apart)[0]))
        return self

    def _place(self, ranks: Ranks, X: Any) -> tuple[Any, Share]:
        """The rows that are fitted here, where all ranks have as many, and which of the whole they are."""
        self._expect_same(ranks, X, **{"kind of X": "sparse" if issparse(X) else "dense"})
        _, rows = begins(ranks, X.shape[0])
        missing = self.nonnegative and not issparse(X)
        if missing and ranks.sums(lambda: np.array([float(np.isnan(X).any())]))[0]:
            raise ValueError("nonnegative: with missing entries its start goes by turns over all rows, which comm does not share: fill them in, or take one machine")
        X = evenly(ranks, X)
        return X, share(rows, ranks.comm)

    def _solve(self, X: Any, W: Floats, H: Floats, ranks: Ranks | None, place: Share | None) -> dict[str, Any]:
        """The end of a run from W and H."""
        settings = {"method": word("method", self.method), "max_iter": optional_whole("max_iter", self.max_iter, 1)}
        text, ridge, rank = penalty_text(self.penalty, self.lam), number("ridge", self.ridge), len(H)
        if X.shape[0] == 0:  # arrays are never empty: a row that counts for nothing
            X, W = _one_row(X), np.zeros((1, rank), dtype=X.dtype)
        Y = (X.shape, X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data) if issparse(X) else X
        if ranks is None or place is None:
            return dict(_melmo.factorize(Y, W, H, text, ridge, bool(self.nonnegative), settings))
        # What every rank has is regularised by rank 0: the loss of all is the sum.
        ridge = ridge if ranks.rank == 0 else 0.0
        return dict(_melmo.factorize(Y, W, H, text, ridge, bool(self.nonnegative), settings, ranks, place._numbers()))

    def _encode(self, X: Any) -> Floats:
        if X.shape[0] == 0:  # on one of several ranks
            return np.zeros((0, self.n_components_), dtype=X.dtype)
        H = self.components_.astype(X.dtype, copy=False)
        text = penalty_text(self.penalty, self.lam)
        if issparse(X):
            # ‖x − wH‖ = ‖xQ − wRᵀ‖ and a constant, with Hᵀ = QR.
            Q, R = np.linalg.qr(H.T)
            X, H = np.ascontiguousarray(X @ Q), np.ascontiguousarray(R.T)
        tol = max(number("tol", self.tol), 1e-5) if X.dtype == np.float32 else number("tol", self.tol)
        return np.asarray(_melmo.encode(X, H, text, bool(self.nonnegative), tol, 10_000)).reshape(X.shape[0], -1)

    def transform(self, X: Any) -> Floats:
        """W for rows X: each minimises its own part of the objective, with H as it is."""
        check_is_fitted(self)
        return self._encode(self._checked(X, False, sparse=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _squares(X: Any) -> Floats:
    """The sum of squares of the entries that are there, and how many these are; of a sparse X, all."""
    if issparse(X):
        return np.array([np.square(X.data, dtype=np.float64).sum(), float(X.shape[0] * X.shape[1])])
    with np.errstate(over="ignore"):
        return np.array([np.nansum(np.square(X, dtype=np.float64)), float(np.count_nonzero(~np.isnan(X)))])


def _typical(squares: float, count: float) -> float:
    """The root of the mean square."""
    if count == 0:
        raise ValueError("X: every entry is missing; expected some numbers")
    size = float(np.sqrt(squares / count))
    if not np.isfinite(size):
        raise ValueError("X: its entries are too large, their squares are not finite; divide X by its size")
    return size


def _own_rows(rng: Any, place: Share, rank: int) -> Floats:
    """Rows of a draw of all rows: those that one machine would have."""
    for first in range(0, place.own.start, 4096):
        rng.standard_normal((min(4096, place.own.start - first), rank))
    W: Floats = rng.standard_normal((place.size, rank))
    for first in range(place.own.stop, place.rows, 4096):
        rng.standard_normal((min(4096, place.rows - first), rank))
    return W


def _one_row(X: Any) -> Any:
    return csr_matrix((1, X.shape[1]), dtype=X.dtype) if issparse(X) else np.zeros((1, X.shape[1]), dtype=X.dtype)


def _distance(X: Any, W: Floats, H: Floats) -> float:
    """‖M⊙(X − WH)‖; of a sparse X from ‖X‖² − 2⟨XHᵀ, W⟩ + ⟨WᵀW, HHᵀ⟩, so that WH is never made."""
    if not issparse(X):
        return float(np.sqrt(np.nansum((X - W @ H) ** 2)))
    W, H = W.astype(np.float64), H.astype(np.float64)
    squares = np.square(X.data, dtype=np.float64).sum() - 2 * np.sum((X @ H.T) * W) + np.sum((W.T @ W) * (H @ H.T))
    return float(np.sqrt(max(squares, 0.0)))
