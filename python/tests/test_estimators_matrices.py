"""Factorisation, completion and separation."""

import warnings

import numpy as np
import pytest
import scipy.sparse

import melmo
from melmo import MatrixCompletion, RobustPCA, SparseFactorization


def factors(seed=0, rows=80, rank=3, columns=25, sign=False):
    rng = np.random.default_rng(seed)
    draw = (lambda size: rng.random(size)) if sign else (lambda size: rng.normal(size=size))
    W = draw((rows, rank)) * (rng.random((rows, rank)) < 0.5)
    H = draw((rank, columns))
    return W, H, W @ H


def test_sparse_factors_are_found_with_entries_missing():
    W, _, X = factors()
    holes = np.random.default_rng(1).random(X.shape) < 0.15
    seen = np.where(holes, np.nan, X)
    model = SparseFactorization(3, lam=0.05, ridge=0.01, random_state=0)
    found = model.fit_transform(seen)
    error = model.inverse_transform(found) - X
    assert np.sqrt(np.mean(error[holes] ** 2)) < 0.1 * X.std()
    assert 0.25 < np.mean(found == 0) < np.mean(W == 0) + 0.15
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(error[~holes]), rel=1e-6)


def test_rows_are_encoded_one_by_one():
    _, _, X = factors()
    model = SparseFactorization(3, lam=0.1, random_state=0).fit(X)
    whole = model.transform(X)
    assert np.array_equal(model.transform(X[5:7]), whole[5:7])
    holes = X.copy()
    holes[0, :] = np.nan
    assert np.all(model.transform(holes)[0] == 0)
    with pytest.raises(ValueError, match="columns"):
        model.inverse_transform(np.zeros((2, 4)))


@pytest.mark.parametrize("penalty", ["l1", "mcp"])
def test_a_row_of_codes_is_stationary(penalty):
    _, _, X = factors()
    lam = 0.3
    model = SparseFactorization(3, penalty=penalty, lam=lam, random_state=0).fit(X)
    W, H = model.transform(X), model.components_
    slope = 2 * (W @ H - X) @ H.T
    size = np.abs(W)
    own = lam * np.ones_like(W) if penalty == "l1" else np.maximum(lam - size / 3, 0)
    active = W != 0
    assert np.abs(slope + np.sign(W) * own)[active].max() < 1e-5
    assert np.abs(slope)[~active].max() <= lam + 1e-5


def test_nonnegative_factors_fit_as_well_as_scikit_learn_s():
    from sklearn.decomposition import NMF

    _, _, X = factors(sign=True)
    ours = SparseFactorization(3, penalty="l1", lam=1e-3, ridge=1e-3, nonnegative=True, random_state=0)
    found = ours.fit_transform(X)
    assert found.min() >= 0 and ours.components_.min() >= 0
    theirs = NMF(3, init="random", random_state=0, max_iter=500)
    theirs_error = np.linalg.norm(X - theirs.fit_transform(X) @ theirs.components_)
    assert np.linalg.norm(X - found @ ours.components_) < max(2 * theirs_error, 0.02 * np.linalg.norm(X))
    missing = np.where(np.random.default_rng(2).random(X.shape) < 0.1, np.nan, X)
    assert ours.fit_transform(missing).min() >= 0


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_counts_stay_sparse_and_give_what_dense_ones_give(nonnegative, dtype):
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(3)
    X = sparse.random(120, 70, density=0.1, random_state=4, data_rvs=lambda n: rng.poisson(2.0, n) + 1.0)
    X = sparse.csc_matrix(X, dtype=dtype)
    model = SparseFactorization(4, penalty="l1", lam=0.1, nonnegative=nonnegative, random_state=0)
    found = model.fit_transform(X)
    components, error = model.components_, model.reconstruction_err_
    close = 1e-6 if dtype == np.float64 else 2e-2
    assert found.shape == (120, 4) and found.dtype == dtype
    assert error == pytest.approx(np.linalg.norm(X.toarray() - found @ components), rel=1e-2)
    dense = SparseFactorization(4, penalty="l1", lam=0.1, nonnegative=nonnegative, random_state=0).fit(X.toarray())
    assert model.objective_ == pytest.approx(dense.objective_, rel=close)
    assert np.allclose(model.transform(X[:5]), found[:5], atol=1e-4)


def test_a_matrix_that_would_not_fit_as_a_whole_is_factorised():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(5)
    places = rng.integers(0, 200_000, 2000), rng.integers(0, 100_000, 2000)  # 160 GB as a whole
    X = sparse.coo_matrix((np.ones(2000), places), shape=(200_000, 100_000)).tocsr()
    model = SparseFactorization(2, nonnegative=True, max_iter=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three steps are few
        model.fit(X)
    assert model.components_.shape == (2, 100_000)
    with pytest.raises(ValueError, match="NaN|infinity|inf"):
        model.fit(sparse.csr_matrix((np.array([np.inf]), ([0], [0])), shape=(4, 4)))


def test_the_seed_decides_the_start():
    _, _, X = factors()
    one, two = (SparseFactorization(2, random_state=5).fit(X).components_ for _ in range(2))
    assert np.array_equal(one, two)


def test_factorisation_refuses_what_makes_no_sense():
    _, _, X = factors()
    with pytest.raises(ValueError, match="n_components"):
        SparseFactorization(0).fit(X)
    with pytest.raises(ValueError, match="missing"):
        SparseFactorization().fit(np.full((4, 3), np.nan))
    with pytest.raises(ValueError, match="infinity"):
        SparseFactorization().fit(np.where(X > 1, np.inf, X))
    with pytest.raises(ValueError, match="ridge"):
        SparseFactorization(ridge=-1).fit(X)


def test_a_low_rank_table_is_completed():
    rng = np.random.default_rng(0)
    X = 3 + rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40)) + rng.normal(size=(60, 1))
    holes = rng.random(X.shape) < 0.3
    seen = np.where(holes, np.nan, X + 0.01 * rng.normal(size=X.shape))
    model = MatrixCompletion()
    filled = model.fit_transform(seen)
    assert np.array_equal(filled[~holes], seen[~holes])
    assert np.sqrt(np.mean((filled - X)[holes] ** 2)) < 0.15
    assert np.sqrt(np.mean((model.completed_ - X) ** 2)) < 0.15
    # Rows that were not there.
    again = model.transform(seen[::-1])[::-1]
    assert np.allclose(again, filled)
    assert np.sqrt(np.mean((model.transform(np.where(holes, np.nan, X) + 1) - X - 1)[holes] ** 2)) < 0.3


def test_models_of_completion_can_be_asked_for():
    X = np.outer(np.arange(1.0, 13), np.arange(1.0, 10))
    X[2, 3] = np.nan
    factored = MatrixCompletion(rank=1, ridge=1e-3).fit(X)
    assert (factored.rank_, factored.ridge_, factored.penalty_) == (1, 1e-3, None)
    shrunk = MatrixCompletion(penalty=melmo.penalty.MCP(1.0, 3.0), offsets=False).fit(X)
    assert shrunk.penalty_.startswith("mcp:") and shrunk.mean_ == 0
    assert abs(shrunk.transform(X)[2, 3] - 12) < 0.1 and abs(factored.transform(X)[2, 3] - 12) < 1
    with pytest.raises(ValueError, match="rank"):
        MatrixCompletion(rank=40).fit(X)


def test_a_row_without_entries_is_its_columns():
    X = np.outer(np.ones(8), np.arange(6.0))
    model = MatrixCompletion(rank=1, ridge=10.0).fit(X)
    empty = np.full((1, 6), np.nan)
    assert np.allclose(model.transform(empty), model.mean_ + model.column_offsets_)


def test_what_moves_is_told_from_what_stays():
    rng = np.random.default_rng(0)
    L = np.outer(np.ones(30), rng.random(200))
    S = np.zeros_like(L)
    for frame in range(30):
        S[frame, 5 * frame : 5 * frame + 10] = 1
    model = RobustPCA(noise=0.01).fit(L + S + 0.01 * rng.normal(size=L.shape))
    assert model.n_components_ == 1
    assert np.sqrt(np.mean((model.low_rank_ - L) ** 2)) < 0.01
    assert np.array_equal(np.abs(model.sparse_) > 0.5, S == 1)
    assert model.noise_ == 0.01
    # A new frame with a large foreground: the background behind it.
    frame = L[:1] + np.where(np.arange(200) < 60, 3.0, 0.0)
    assert np.abs(model.inverse_transform(model.transform(frame)) - L[:1]).max() < 0.02
    frame[0, 10:50] = np.nan
    assert np.abs(model.inverse_transform(model.transform(frame)) - L[:1]).max() < 0.02


def test_penalties_of_the_parts_can_be_chosen():
    rng = np.random.default_rng(1)
    X = np.outer(rng.normal(size=20), rng.normal(size=15))
    model = RobustPCA(low_rank="l1", sparse=melmo.penalty.L1(0.5), noise=0.1).fit(X)
    assert model.sparse_penalty_ == "l1:lambda=0.5" and model.low_rank_penalty_.startswith("l1:lambda=")
    with pytest.raises(ValueError, match="missing"):
        RobustPCA().fit(np.full((3, 3), np.nan))


def ratings(seed=0):
    """A low-rank matrix with offsets of which a third is stored, and all of it."""
    rng = np.random.default_rng(seed)
    truth = 3 + rng.normal(size=(80, 1)) + rng.normal(size=50) + rng.normal(size=(80, 2)) @ rng.normal(size=(2, 50))
    return scipy.sparse.csr_matrix(np.where(rng.random(truth.shape) < 0.4, truth, 0.0)), truth


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_ratings_are_completed_without_being_made_dense(dtype):
    X, truth = ratings()
    model = MatrixCompletion(rank=2, ridge=0.1).fit(X.astype(dtype))
    rows, columns = np.nonzero(X.toarray() == 0)
    error = np.sqrt(np.mean((model.predict_at(rows, columns) - truth[rows, columns]) ** 2))
    assert error < 0.25 * truth.std() and model.components_.dtype == dtype
    assert not hasattr(model, "completed_")
    dense = np.where(X.toarray() == 0, np.nan, X.toarray()).astype(dtype)
    same = MatrixCompletion(rank=2, ridge=0.1).fit(dense)
    assert np.allclose(same.completed_[rows, columns], model.predict_at(rows, columns), atol=1e-2)
    smooth = model.transform(X.astype(dtype))
    assert scipy.sparse.issparse(smooth) and np.abs((smooth - X).data).max() < 1.5


def test_ratings_of_a_matrix_that_fits_nowhere_are_completed():
    rng = np.random.default_rng(0)
    places = rng.integers(0, 300_000, 3000), rng.integers(0, 200_000, 3000)  # all places would take 480 GB
    X = scipy.sparse.coo_matrix((rng.random(3000), places), shape=(300_000, 200_000)).tocsr()
    model = MatrixCompletion(rank=1, ridge=1.0, offset_weight=1.0, max_iter=2).fit(X)
    assert np.isfinite(model.predict_at([0, 7], [1, 9])).all() and model.components_.shape == (1, 200_000)


def test_recommendations_are_new_and_the_largest():
    X, _ = ratings()
    model = MatrixCompletion(rank=2, ridge=0.1).fit(X)
    best = model.recommend(X, 5)
    values = model.predict_at(np.repeat(np.arange(80), 50), np.tile(np.arange(50), 80)).reshape(80, 50)
    values[X.toarray() != 0] = -np.inf
    assert np.array_equal(best, np.argsort(-values, axis=1)[:, :5])
    implicit = MatrixCompletion(rank=3, ridge=1.0, implicit=2.0).fit(abs(X))
    assert implicit.recommend(abs(X), 5).shape == (80, 5) and implicit.mean_ == 0.0
    with pytest.raises(ValueError, match="sparse"):
        MatrixCompletion(implicit=1.0).fit(X.toarray())
    with pytest.raises(AttributeError, match="completed_"):
        MatrixCompletion(rank=1, ridge=1.0).fit(X.toarray()).recommend(X)
