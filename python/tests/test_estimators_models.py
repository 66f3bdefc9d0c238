"""Generalised linear models: counts, quantiles, times, several classes and targets, weights, offsets, signs, starts."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import Lasso, LogisticRegression, MultiTaskLasso, PoissonRegressor, QuantileRegressor
from sklearn.model_selection import GroupKFold

from melmo import SparseLogistic, SparseLogisticCV, SparseRegression, SparseRegressionCV


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 8))
    return X, X[:, 0] - 0.5 * X[:, 3] + 0.5 * rng.normal(size=120), rng


def test_counts_as_scikit_learn_has_them(table):
    X, t, rng = table
    y = np.random.default_rng(0).poisson(np.exp(0.5 * t))
    ours = SparseRegression("ridge", lam=0.1, loss="poisson", tol=1e-9).fit(X, y)
    theirs = PoissonRegressor(alpha=0.1, tol=1e-10, max_iter=1000).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-5) and np.isclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    assert np.allclose(ours.predict(X), theirs.predict(X), rtol=1e-4)
    # An exposure as an offset is the same as rates with weights.
    exposure = np.random.default_rng(1).uniform(0.5, 3, size=len(y))
    shifted = SparseRegression("ridge", lam=0.1, loss="poisson", tol=1e-9).fit(X, y, offset=np.log(exposure))
    rates = PoissonRegressor(alpha=0.1 / exposure.mean(), tol=1e-10, max_iter=1000).fit(X, y / exposure, sample_weight=exposure)
    assert np.allclose(shifted.coef_, rates.coef_, atol=1e-5)
    assert np.allclose(shifted.predict(X, offset=np.log(exposure)), exposure * rates.predict(X), rtol=1e-4)
    with pytest.raises(ValueError, match="counts"):
        SparseRegression(loss="poisson").fit(X, -1.0 - y)


def test_sparse_counts_are_stationary(table):
    X, t, _ = table
    y = np.random.default_rng(0).poisson(np.exp(0.5 * t)).astype(float)
    for penalty in ("l1", "mcp"):
        model = SparseRegression(penalty, lam=0.1, loss="poisson", tol=1e-8).fit(scipy.sparse.csc_matrix(X), y)
        slope = X.T @ (y - model.predict(X)) / len(y)
        zero = model.coef_ == 0
        assert 0 < zero.sum() < 8 and np.all(np.abs(slope[zero]) <= 0.1 + 1e-6)
        if penalty == "l1":
            assert np.allclose(slope[~zero], 0.1 * np.sign(model.coef_[~zero]), atol=1e-6)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_quantiles_as_scikit_learn_has_them(table, level):
    X, t, _ = table
    ours = SparseRegression(lam=0.02, loss=f"quantile:level={level},width=0.001").fit(X, t)
    theirs = QuantileRegressor(quantile=level, alpha=0.02, solver="highs").fit(X, t)

    def objective(model):
        r = t - model.predict(X)
        return np.maximum(level * r, (level - 1) * r).mean() + 0.02 * np.abs(model.coef_).sum()

    assert objective(ours) <= objective(theirs) + 5e-4
    assert abs((t <= ours.predict(X)).mean() - level) < 0.06


def test_times_as_others_have_them():
    """Coefficients of statsmodels 0.15.0, PHReg(times, X, events, ties="breslow"), for these data."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    times = np.ceil(4 * rng.exponential(np.exp(-X @ [1.0, -0.5, 0.0])))
    seen = rng.uniform(size=80) < 0.7
    y = np.where(seen, times, -times)
    model = SparseRegression("ridge", lam=1e-9, loss="cox", tol=1e-9).fit(X, y)
    assert np.allclose(model.coef_, [0.7278016098, -0.0990491627, 0.1106719256], atol=1e-5), model.coef_
    sparse = SparseRegression(lam=0.1, loss="cox").fit(X, y)
    assert sparse.coef_[0] > 0 and np.count_nonzero(sparse.coef_) < 3
    with pytest.raises(ValueError, match="event"):
        SparseRegression(loss="cox").fit(X, -times)


def test_several_classes_as_scikit_learn_has_them(table):
    X, t, _ = table
    y = np.array(["low", "middle", "top"])[np.digitize(t, [-0.5, 0.5])]
    ours = SparseLogistic("ridge", lam=0.05, tol=1e-9).fit(X, y)
    theirs = LogisticRegression(C=1 / (0.05 * len(y)), tol=1e-10, max_iter=10000).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    assert list(ours.classes_) == ["low", "middle", "top"] and (ours.predict(X) == theirs.predict(X)).all()
    chosen = SparseLogisticCV("mcp", n_lambdas=15, cv=4).fit(X, y)
    assert chosen.coef_.shape == (3, 8) and chosen.score(X, y) > 0.75 and chosen.losses_.shape == (15, 4)
    together = SparseLogistic(lam=0.05, groups=np.arange(8)).fit(X, y)
    zero = together.coef_ == 0
    assert (zero.all(axis=0) == zero.any(axis=0)).all() and 0 < zero.all(axis=0).sum() < 8


def test_weights_are_repeated_rows(table):
    X, t, _ = table
    count = np.random.default_rng(2).integers(0, 3, size=len(t))
    X2, t2 = np.repeat(X, count, axis=0), np.repeat(t, count)
    for penalty in ("l1", "scad"):
        for loss in ("squares", "huber:delta=0.5", "quantile:level=0.3,width=0.1"):
            one = SparseRegression(penalty, lam=0.1, loss=loss, tol=1e-9).fit(X, t, sample_weight=count)
            two = SparseRegression(penalty, lam=0.1, loss=loss, tol=1e-9).fit(X2, t2)
            assert np.allclose(one.coef_, two.coef_, atol=1e-6), (penalty, loss)
    one = SparseLogistic(lam=0.05, tol=1e-9).fit(X, t > 0, sample_weight=count)
    assert np.allclose(one.coef_, SparseLogistic(lam=0.05, tol=1e-9).fit(X2, t2 > 0).coef_, atol=1e-6)
    for wrong in (-np.ones(len(t)), np.zeros(len(t)), np.ones(3)):
        with pytest.raises(ValueError):
            SparseRegression(lam=0.1).fit(X, t, sample_weight=wrong)


def test_classes_count_as_much_as_they_are_said_to(table):
    X, t, _ = table
    y = t > 1
    ours = SparseLogistic("ridge", lam=0.05, class_weight="balanced", tol=1e-9).fit(X, y)
    theirs = LogisticRegression(C=1 / (0.05 * len(y)), class_weight="balanced", tol=1e-10, max_iter=10000).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-4)
    given = SparseLogistic("ridge", lam=0.05, class_weight={True: 3.0, False: 1.0}, tol=1e-9).fit(X, y)
    assert np.allclose(given.coef_, SparseLogistic("ridge", lam=0.05, tol=1e-9).fit(X, y, np.where(y, 3.0, 1.0)).coef_, atol=1e-6)


def test_signs_and_weights_of_columns(table):
    X, t, _ = table
    ours = SparseRegression(lam=0.05, positive=True, tol=1e-9).fit(X, t)
    assert np.allclose(ours.coef_, Lasso(0.05, positive=True, tol=1e-10).fit(X, t).coef_, atol=1e-6)
    weights = np.array([0.0, 1, 1, 2, 1, 1, 1, 1])
    ours = SparseRegression(lam=0.05, penalty_weights=weights, tol=1e-9).fit(X, t)
    slope = X.T @ (t - ours.predict(X)) / len(t)
    assert abs(slope[0]) < 1e-7 and np.isclose(slope[3], -0.1) and ours.coef_[3] < 0
    for wrong in (weights[1:], -weights):
        with pytest.raises(ValueError, match="weight"):
            SparseRegression(lam=0.05, penalty_weights=wrong).fit(X, t)
    with pytest.raises(ValueError, match="groups"):
        SparseRegression(lam=0.05, positive=True, groups=np.arange(8)).fit(X, t)


def test_several_targets(table):
    X, t, _ = table
    Y = np.stack([t, 2 * t + X[:, 5], X[:, 0]], axis=1)
    each = SparseRegression(lam=0.05, tol=1e-9).fit(X, Y)
    assert np.allclose(each.coef_, Lasso(0.05, tol=1e-10).fit(X, Y).coef_, atol=1e-6)
    assert each.predict(X).shape == Y.shape
    together = SparseRegression(lam=0.05, groups=np.arange(8), tol=1e-9).fit(X, Y)
    theirs = MultiTaskLasso(0.05, tol=1e-10).fit(X, Y)
    assert np.allclose(together.coef_, theirs.coef_, atol=1e-6) and np.allclose(together.intercept_, theirs.intercept_, atol=1e-6)


def test_a_warm_start_is_where_the_last_fit_ended(table):
    X, t, _ = table
    for model, y in ((SparseRegression(lam=0.01, warm_start=True), t), (SparseLogistic(lam=0.01, warm_start=True), t > 0)):
        first = model.fit(X, y).coef_
        assert np.allclose(model.fit(X, y).coef_, first, atol=1e-8) and np.max(model.n_iter_) == 1


def test_given_lambdas_and_rows_that_belong_together(table):
    X, t, _ = table
    model = SparseRegressionCV(lambdas=[0.01, 0.3, 0.1], cv=3).fit(X, t)
    assert model.lambdas_.tolist() == [0.3, 0.1, 0.01] and model.lam_ in (0.3, 0.1, 0.01)
    labels = np.repeat(np.arange(12), 10)
    split = GroupKFold(4)
    grouped = SparseRegressionCV(n_lambdas=5, cv=split).fit(X, t, groups=labels)
    same = SparseRegressionCV(n_lambdas=5, cv=list(split.split(X, t, labels))).fit(X, t)
    assert np.array_equal(grouped.losses_, same.losses_)
    weights = np.random.default_rng(0).uniform(size=len(t))
    assert not np.array_equal(SparseRegressionCV(n_lambdas=5).fit(X, t, weights).losses_, SparseRegressionCV(n_lambdas=5).fit(X, t).losses_)


def test_orders_of_memory_do_not_matter(table):
    X, t, _ = table
    for intercept in (True, False):
        for standardize in (True, False):
            fits = [
                SparseRegression(lam=0.05, fit_intercept=intercept, standardize=standardize, tol=1e-9).fit(Z, t).coef_
                for Z in (X, np.asfortranarray(X), scipy.sparse.csr_matrix(X), scipy.sparse.csc_matrix(X))
            ]
            assert all(np.allclose(fits[0], other, atol=1e-7) for other in fits)


def _target(kind, t):
    rng = np.random.default_rng(7)
    return {
        "logistic": t > 0,
        "multinomial": np.digitize(t, [-0.5, 0.5]),
        "poisson": rng.poisson(np.exp(0.5 * t)),
        "cox": np.where(rng.uniform(size=len(t)) < 0.7, 1, -1) * np.exp(-t) * rng.exponential(size=len(t)),
    }.get(kind, t)


@pytest.mark.parametrize("kind", ["squares", "logistic", "multinomial", "poisson", "huber", "quantile", "cox"])
def test_every_model_has_what_every_model_has(table, kind):
    """Sparse X, weights of rows, signs, a start, λ that are given, and rows that belong together in folds."""
    X, t, _ = table
    y = _target(kind, t)
    classes = kind in ("logistic", "multinomial")
    one, chosen = (SparseLogistic, SparseLogisticCV) if classes else (SparseRegression, SparseRegressionCV)
    loss = {} if classes else {"loss": kind}
    model = one(lam=0.03, tol=1e-8, warm_start=True, **loss).fit(X, y)
    first = model.coef_.copy()
    assert 0 < np.count_nonzero(first) and np.allclose(model.fit(X, y).coef_, first, atol=1e-5) and np.max(model.n_iter_) <= 2
    assert np.allclose(one(lam=0.03, tol=1e-8, **loss).fit(scipy.sparse.csr_matrix(X), y).coef_, first, atol=1e-5)
    count = np.random.default_rng(2).integers(1, 3, size=len(t))
    weighted = one(lam=0.05, tol=1e-8, **loss).fit(X, y, sample_weight=count)
    if kind not in ("huber", "quantile"):  # their widths are those of y as it is
        repeated = one(lam=0.05, tol=1e-8, **loss).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
        assert np.allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    assert (one(lam=0.03, positive=True, **loss).fit(X, y).coef_ >= 0).all()
    labels, split = np.repeat(np.arange(12), 10), GroupKFold(3)
    found = chosen(lambdas=[0.02, 0.2, 0.06], cv=split, **loss).fit(scipy.sparse.csc_matrix(X), y, groups=labels)
    assert found.lambdas_.tolist() == [0.2, 0.06, 0.02] and found.losses_.shape == (3, 3) and np.isfinite(found.losses_).all()


def test_several_targets_have_one_chosen_lambda(table):
    X, t, _ = table
    Y = np.stack([t, 2 * t + X[:, 5]], axis=1)
    for groups in (None, np.arange(8)):
        model = SparseRegressionCV(groups=groups, n_lambdas=10, cv=3).fit(X, Y)
        assert model.coef_.shape == (2, 8) and model.losses_.shape == (10, 3) and model.score(X, Y) > 0.7
        again = SparseRegression(groups=groups, lam=model.lam_, tol=1e-6).fit(X, Y)
        assert np.allclose(model.coef_, again.coef_, atol=1e-3)
    kept, held = np.arange(40, 120), np.arange(40)
    model = SparseRegressionCV(lambdas=[0.1], cv=[(kept, held)]).fit(X, Y)
    there = SparseRegression(lam=0.1).fit(X[kept], Y[kept])
    assert np.isclose(model.losses_[0, 0], ((Y[held] - there.predict(X[held])) ** 2).mean(), rtol=1e-3)


def test_classes_may_have_an_offset(table):
    X, t, _ = table
    offset = X[:, 0].copy()
    model = SparseLogistic(lam=0.05, tol=1e-9).fit(X, t > 0, offset=offset)
    assert np.allclose(model.decision_function(X, offset) - model.decision_function(X), offset)
    assert model.predict_proba(X, offset).shape == (120, 2) and (model.predict(X, offset) == (t > 0)).mean() > 0.7


@pytest.mark.parametrize("weights", [[1], [1, 2], "even", 2.0, np.ones(2), ({0: 1.0},)])
def test_class_weights_are_a_dict_or_balanced(weights):
    """A list of one was an IndexError of somebody else's."""
    X, y = np.random.default_rng(0).normal(size=(12, 4)), np.arange(12) % 2
    with pytest.raises(ValueError, match="class_weight: expected a dict"):
        SparseLogistic(class_weight=weights).fit(X, y)


def test_a_sparse_target_is_refused_before_anybody_converts_it():
    """A damaged one crashed the interpreter."""
    X = np.random.default_rng(0).normal(size=(12, 4))
    damaged = scipy.sparse.csc_matrix(X[:, :2])
    damaged.indices = damaged.indices.copy()
    damaged.indices[0] = 10**8
    for y in (damaged, scipy.sparse.csr_matrix(X[:, :1])):
        for model in (SparseRegression("l1", 0.1), SparseRegressionCV("l1")):
            with pytest.raises(ValueError, match="toarray"):
                model.fit(X, y)


def test_scores_of_counts_and_times(table):
    """As scikit-learn and lifelines have them: D², and the share of pairs that are in order."""
    X, t, _ = table
    rng = np.random.default_rng(4)
    y = rng.poisson(np.exp(0.5 * t))
    ours = SparseRegression("ridge", lam=0.1, loss="poisson", tol=1e-9).fit(X, y)
    theirs = PoissonRegressor(alpha=0.1, tol=1e-10, max_iter=1000).fit(X, y)
    weights = rng.uniform(0.5, 2, size=len(y))
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-6)
    assert ours.score(X, y, weights) == pytest.approx(theirs.score(X, y, weights), abs=1e-6)
    times = np.round(rng.exponential(np.exp(-t)), 1) + 0.1
    seen = rng.random(len(t)) < 0.7
    signed = np.where(seen, times, -times)
    model = SparseRegression(lam=0.05, loss="cox").fit(X, signed)
    risk = model.predict(X)
    first = (times[:, None] < times) | ((times[:, None] == times) & ~seen)
    pairs = first & seen[:, None]
    right = pairs * ((risk[:, None] > risk) + 0.5 * (risk[:, None] == risk))
    assert model.score(X, signed) == pytest.approx(right.sum() / pairs.sum()) and model.score(X, signed) > 0.6


def test_weights_of_groups(table):
    """‖Xᵀr/n‖ of a group is λ·√size·w where it is not 0, and at most that where it is; with w = 0 it is free."""
    X, t, _ = table
    groups, weights = [[0, 1], [2, 3], [4, 5, 6], [7]], np.array([2.0, 2.0, 0.5, 0.5, 1.0, 1.0, 1.0, 0.0])
    model = SparseRegression(lam=0.15, groups=groups, penalty_weights=weights, tol=1e-10).fit(X, t)
    slopes = X.T @ (t - model.predict(X)) / len(t)
    for group in groups:
        kink = 0.15 * np.sqrt(len(group)) * weights[group[0]]
        found = np.linalg.norm(slopes[group])
        assert found <= kink + 1e-8 if not model.coef_[group].any() else np.isclose(found, kink, atol=1e-8)
    assert model.coef_[7] != 0 and not model.coef_[4:7].any()
    with pytest.raises(ValueError, match="differ in the group of column 0"):
        SparseRegression(lam=0.15, groups=groups, penalty_weights=np.arange(8)).fit(X, t)
