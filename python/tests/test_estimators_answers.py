"""Estimators solve what they say, say what they could not, and refuse what they cannot."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

import melmo
from melmo import (
    MatrixCompletion,
    RobustPCA,
    SparseFactorization,
    SparseLogistic,
    SparseLogisticCV,
    SparseRegression,
    SparseRegressionCV,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 8))
Y = X[:, 0] - 2 * X[:, 3] + 0.1 * RNG.normal(size=60)


@pytest.mark.parametrize("lam", [10.0, 0.1])
def test_a_ridge_has_the_weight_that_was_given(lam):
    ours = SparseRegression("ridge", lam, tol=1e-9).fit(X, Y)
    theirs = Ridge(60 * lam, tol=1e-12).fit(X, Y)
    assert np.abs(ours.coef_ - theirs.coef_).max() < 1e-6 and ours.lam_ == lam and ours.violation_ <= 1e-9
    named = SparseRegression(f"ridge:nu={lam}", tol=1e-9).fit(X, Y)
    assert np.array_equal(named.coef_, ours.coef_) and named.lam_ == lam
    assert SparseFactorization(2, penalty="ridge", lam=lam, random_state=0, max_iter=5).fit(X).n_components_ == 2


def test_a_constraint_has_no_weight():
    free = SparseRegression("nonnegative").fit(X, Y)
    assert free.coef_[0] > 0.5 and free.coef_.min() == 0
    with pytest.raises(ValueError, match="lam: .*nonnegative.* has no λ"):
        SparseRegression("nonnegative", 0.1).fit(X, Y)


@pytest.mark.parametrize(
    "groups, told",
    [
        ([[0, 1, 2, 3], [4, 5, 6, 7, 8]], "8"),  # the column after the last is the intercept
        ([[0, 1, 2, 3], [4, 5, 6]], "column 7 in no group"),
        ([[0, 1, 2, 3], [4, 5, 6, 7, 1]], "column 1 twice"),
        ([[0, 1.7, 2, 3], [1, 4, 5, 6, 7]], "1.7"),
        ([[0, 1, 2, 3], [4, 5, 6, 7], []], "group 2 without"),
        ([[-1, 0, 1, 2, 3], [4, 5, 6, 7]], "-1"),
        ([0, 0, 1, 1, 2, 2, 3], "7 labels for 8"),
        ([0, 0, 1, 1, 2, 2, 3, np.nan], "NaN"),
        ([[[0, 1]], [2]], "list of columns"),
        (3, "lists of columns"),
    ],
)
@pytest.mark.parametrize("model", [SparseRegression, SparseLogistic])
def test_groups_hold_every_column_once(model, groups, told):
    with pytest.raises((ValueError, TypeError), match=told):
        model("l1", 0.1, groups=groups).fit(X, Y > 0 if model is SparseLogistic else Y)


def test_groups_by_label_and_by_list_are_the_same():
    by_list = SparseRegression("l1", 0.1, groups=[[0, 1], [2, 3, 4], [5, 6, 7]]).fit(X, Y)
    by_label = SparseRegression("l1", 0.1, groups=list("aabbbccc")).fit(X, Y)
    assert np.array_equal(by_list.coef_, by_label.coef_) and by_list.intercept_ == by_label.intercept_


def test_one_delta_for_all_folds():
    y = Y + np.where(RNG.random(60) < 0.2, 20 * RNG.normal(size=60), 0)
    chosen = SparseRegressionCV(loss="huber", n_lambdas=5, cv=4).fit(X, y)
    delta = float(melmo._melmo.settled_loss("huber", y).partition("=")[2])
    given = SparseRegressionCV(loss=f"huber:delta={delta!r}", n_lambdas=5, cv=4).fit(X, y)
    assert np.array_equal(chosen.losses_, given.losses_)
    assert np.array_equal(chosen.coef_, SparseRegression(loss="huber", tol=1e-5).path(X, y, chosen.lambdas_).coefs[
        list(chosen.lambdas_).index(chosen.lam_)])
    assert chosen.set_params(loss="squares").fit(X, y).losses_.max() > given.losses_.max()


@pytest.mark.parametrize("scale", [1e-160, 1e160, 1e-200, 1e300])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_numbers_without_squares_are_refused(scale, sparse, standardize):
    scaled = scipy.sparse.csr_matrix(X * scale) if sparse else X * scale
    with pytest.raises(ValueError, match="column 0 of X.*other units"):
        SparseRegression("l1", 0.1, standardize=standardize).fit(scaled, Y)
    with pytest.raises(ValueError, match="y: .*other units"):
        SparseRegression("l1", 0.1).fit(X, Y * scale)


def test_large_and_small_numbers_that_have_squares_are_solved():
    for scale in (1e-100, 1e100):
        model = SparseRegression("l1", 1e-3 * scale).fit(X * scale, Y)
        assert np.allclose(model.coef_ * scale, SparseRegression("l1", 1e-3).fit(X, Y).coef_, atol=1e-6)
    with pytest.raises(ValueError, match="in f32"):
        SparseRegression("l1", 0.1).fit((X * 1e30).astype(np.float32), Y)


@pytest.mark.parametrize("lam", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("penalty", ["l1", "mcp", "scad", "log-sum", "elastic-net", "ridge"])
@pytest.mark.parametrize("model", [SparseRegression, SparseLogistic])
def test_a_weight_is_above_zero(model, penalty, lam):
    y = Y > 0 if model is SparseLogistic else Y
    with pytest.raises(ValueError, match="lambda"):
        model(penalty, lam).fit(X, y)
    with pytest.raises(ValueError, match="lambda"):
        model(penalty).path(X, y, lambdas=[1.0, lam])


def test_sizes_are_looked_at_first():
    with pytest.raises(ValueError, match="1000000000000; expected 1 to 10000"):
        SparseRegressionCV(n_lambdas=10**12).fit(X, Y)
    with pytest.raises(ValueError, match="n_lambdas"):
        SparseLogisticCV(n_lambdas=0).fit(X, Y > 0)
    with pytest.raises(ValueError, match="2147483648.*from 1 to 480"):
        SparseFactorization(2**31).fit(X)
    with pytest.raises(ValueError, match="rank"):
        MatrixCompletion(rank=2**40).fit(X)
    tall = np.broadcast_to(np.float32(1.0), (10**6, 1000))
    with pytest.raises(ValueError, match="GiB would be needed"):
        melmo._checks.expect_room("W", tall.size * 10**6)


ALL = [
    SparseRegression,
    SparseRegressionCV,
    SparseLogistic,
    SparseLogisticCV,
    SparseFactorization,
    MatrixCompletion,
    RobustPCA,
]


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize("steps", [0, -1, 1.5, True, 10**30])
def test_a_model_needs_a_step(model, steps):
    with pytest.raises(ValueError, match="max_iter"):
        model(max_iter=steps).fit(X, Y > 0 if "Logistic" in model.__name__ else Y)
    with pytest.raises(TypeError, match="max_iter"):
        model(max_iter="many").fit(X, Y > 0 if "Logistic" in model.__name__ else Y)


WIDE = RNG.normal(size=(40, 120))


@pytest.mark.parametrize("model", [SparseRegression, SparseRegressionCV, SparseLogistic, SparseLogisticCV])
def test_who_did_not_converge_says_so(model):
    # One column says nearly all, so that validation takes the smaller λ: at the larger nothing is left to be done.
    y = WIDE[:, 0] + 0.1 * np.random.default_rng(5).normal(size=40)
    more = {"ratio": 0.01, "n_lambdas": 2, "cv": 2} if "CV" in model.__name__ else {"lam": 1e-5}
    with pytest.warns(ConvergenceWarning, match="the violation is .*, not 1e-1"):
        model(max_iter=1, tol=1e-12, **more).fit(WIDE, y > 0 if "Logistic" in model.__name__ else y)


@pytest.mark.parametrize("model", [SparseFactorization, RobustPCA])
def test_who_did_not_settle_says_so(model):
    with pytest.warns(ConvergenceWarning, match="after 1 steps .*the violation is"):
        model(max_iter=1).fit(WIDE)


def test_who_converged_is_quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for penalty in ("l1", "mcp", "log-sum:theta=0.1"):
            SparseRegression(penalty, 0.1).fit(X, Y)
            SparseRegression(penalty, 0.1, groups=list("aabbbccc")).fit(X, Y)
            SparseRegression(penalty, 0.1).fit(X.astype(np.float32), Y)
        SparseLogistic(lam=0.1).fit(X, Y > 0)
        RobustPCA(noise=0.1).fit(X)
        SparseFactorization(2, random_state=0).fit(X)
        MatrixCompletion(rank=1, ridge=1.0).fit(X)


@pytest.mark.parametrize("cv", [scipy.sparse.eye(4).tobsr(), [([0, 1], [99])], [([0, 1], [])], [(0, 1)], [([0.5], [1])], 10**30])
def test_folds_are_pairs_of_rows(cv):
    with pytest.raises((ValueError, TypeError)):
        SparseRegressionCV(n_lambdas=2, cv=cv).fit(X, Y)
    given = SparseRegressionCV(n_lambdas=3, cv=[(np.arange(30), np.arange(30, 60))]).fit(X, Y)
    assert given.losses_.shape == (3, 1)


def damaged(kind, part, change):
    matrix = getattr(scipy.sparse, kind)(np.where(np.abs(X) < 0.8, 0, X))
    array = getattr(matrix, part).copy()
    change(array)
    setattr(matrix, part, array)
    return matrix


DAMAGE = {
    "an index beyond": ("indices", lambda a: a.__setitem__(0, 10**9)),
    "a negative index": ("indices", lambda a: a.__setitem__(0, -5)),
    "starts that fall": ("indptr", lambda a: a.__setitem__(1, 10**9)),
    "a start that is not 0": ("indptr", lambda a: a.__setitem__(0, -7)),
}


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix", "csr_array"])
@pytest.mark.parametrize("what", DAMAGE)
def test_damaged_sparse_matrices_are_refused(kind, what):
    part, change = DAMAGE[what]
    bad = damaged(kind, part, change)
    for use in (
        lambda: SparseRegression("l1", 0.1).fit(bad, Y),
        lambda: SparseRegression("l1", 0.1).fit(X, Y).predict(bad),
        lambda: SparseLogistic("l1", 0.1).fit(bad, Y > 0),
        lambda: melmo.loss.LeastSquares(bad, Y),
        lambda: melmo.minimize(melmo.loss.Masked(np.ones(8)), melmo.penalty.L1(0.1), bad),
        lambda: melmo.operator.Sparse(bad),
    ):
        with pytest.raises(ValueError, match="indices do not fit|starts"):
            use()


def test_damaged_coordinates_are_refused():
    bad = scipy.sparse.coo_matrix(np.eye(8))
    bad.row = bad.row.copy()
    bad.row[0] = 10**8
    with pytest.raises(ValueError, match="indices do not fit"):
        melmo.operator.Sparse(bad)
