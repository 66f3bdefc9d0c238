"""Regression: scikit-learn's lasso, skglm's weakly convex penalties, groups, sparse tables, paths, folds."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression

import melmo
from melmo import SparseLogistic, SparseLogisticCV, SparseRegression, SparseRegressionCV


def table(rows=80, columns=40, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) @ (np.eye(columns) + 0.3 * rng.normal(size=(columns, columns)) / np.sqrt(columns))
    b = np.zeros(columns)
    b[:5] = [3, -2, 1.5, 1, -0.7]
    return X, X @ b + 1.0 + noise * rng.normal(size=rows)


def objective(X, y, coef, intercept, psi):
    return 0.5 * np.mean((y - X @ coef - intercept) ** 2) + psi(np.abs(coef)).sum()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("lam", [0.5, 0.05, 0.005])
def test_lasso_is_scikit_learn_s(lam, intercept):
    X, y = table()
    ours = SparseRegression(lam=lam, fit_intercept=intercept).fit(X, y)
    theirs = Lasso(lam, fit_intercept=intercept, tol=1e-12, max_iter=100_000).fit(X, y)
    assert np.abs(ours.coef_ - theirs.coef_).max() < 1e-5
    assert abs(ours.intercept_ - theirs.intercept_) < 1e-5
    assert ours.violation_ <= 1e-7
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-5)


def test_elastic_net_is_scikit_learn_s():
    X, y = table()
    ours = SparseRegression(melmo.penalty.ElasticNet(0.06, 0.04)).fit(X, y)
    theirs = ElasticNet(0.1, l1_ratio=0.6, tol=1e-12, max_iter=100_000).fit(X, y)
    assert np.abs(ours.coef_ - theirs.coef_).max() < 1e-5


def test_sparse_tables_give_the_same_coefficients():
    X, y = table()
    X[np.abs(X) < 0.8] = 0
    for standardize in (False, True):
        for penalty in ("l1", "mcp"):
            model = SparseRegression(penalty, lam=0.1, standardize=standardize)
            full = model.fit(X, y).coef_.copy()
            for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_array):
                assert np.abs(model.fit(kind(X), y).coef_ - full).max() < 1e-5
            assert np.abs(model.predict(scipy.sparse.csr_matrix(X)) - model.predict(X)).max() < 1e-12


@pytest.mark.parametrize("lam", [0.3, 0.1, 0.03])
@pytest.mark.parametrize("penalty", ["mcp", "scad"])
def test_weakly_convex_objectives_are_not_worse_than_skglm_s(penalty, lam):
    skglm = pytest.importorskip("skglm")
    X, y = table(60, 100, seed=3)
    X = (X - X.mean(0)) / X.std(0)
    y = y - y.mean()
    if penalty == "mcp":
        other, text = skglm.penalties.MCPenalty(lam, 3.0), "mcp:mu=3"
        psi = lambda s: np.where(s <= 3 * lam, lam * s - s**2 / 6, 1.5 * lam**2)  # noqa: E731
    else:
        other, text = skglm.penalties.SCAD(lam, 3.7), "scad:a=3.7"
        psi = lambda s: np.where(  # noqa: E731
            s <= lam,
            lam * s,
            np.where(s <= 3.7 * lam, (2 * 3.7 * lam * s - s**2 - lam**2) / (2 * 2.7), lam**2 * 4.7 / 2),
        )
    solver = skglm.solvers.AndersonCD(tol=1e-10, max_iter=200, fit_intercept=False)
    theirs = skglm.GeneralizedLinearEstimator(skglm.datafits.Quadratic(), other, solver).fit(X, y).coef_.ravel()
    ours = SparseRegression(text, lam=lam, fit_intercept=False).fit(X, y)
    mine = objective(X, y, ours.coef_, 0.0, psi)
    assert mine == pytest.approx(ours.objective_, rel=1e-9)
    assert mine <= objective(X, y, theirs, 0.0, psi) * (1 + 1e-7)


def test_logistic_is_scikit_learn_s():
    X, y = table(120, 10)
    labels = y > y.mean()
    lam = 0.02
    ours = SparseLogistic(lam=lam, fit_intercept=False).fit(X, labels)
    theirs = LogisticRegression(
        C=1 / (len(X) * lam), l1_ratio=1, solver="saga", fit_intercept=False, tol=1e-10, max_iter=50_000
    ).fit(X, labels)
    assert np.abs(ours.coef_ - theirs.coef_).max() < 1e-5
    assert np.abs(ours.predict_proba(X) - theirs.predict_proba(X)).max() < 1e-5


def test_three_classes_and_their_names():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    names = np.array(["left", "middle", "right"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = SparseLogistic(lam=0.01).fit(X, names)
    assert model.coef_.shape == (3, 4) and set(model.predict(X)) <= set(names)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.path(X, names, n_lambdas=5).coefs.shape == (5, 3, 4)


def test_groups_come_and_go_together():
    X, y = table(100, 12)
    groups = np.repeat([0, 1, 2, 3], 3)
    model = SparseRegression(lam=0.4, groups=groups).fit(X, y)
    zeros = (model.coef_ == 0).reshape(4, 3)
    assert (zeros.all(axis=1) | ~zeros.any(axis=1)).all()
    assert zeros.all(axis=1).any() and not zeros.all()
    listed = SparseRegression(lam=0.4, groups=[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]).fit(X, y)
    assert np.array_equal(listed.coef_, model.coef_)
    # Stationarity of the group lasso: ‖∇_g‖ = λ√3 where a group is active, at most that elsewhere.
    slope = X.T @ (X @ model.coef_ + model.intercept_ - y) / len(X)
    norms = np.linalg.norm(slope.reshape(4, 3), axis=1)
    assert np.allclose(norms[~zeros.all(axis=1)], 0.4 * np.sqrt(3), atol=1e-5)
    assert (norms <= 0.4 * np.sqrt(3) + 1e-6).all()
    with pytest.raises(ValueError, match="labels"):
        SparseRegression(groups=[0, 1]).fit(X, y)


def test_outliers_do_not_bend_huber_s_loss():
    X, y = table(200, 5, noise=0.1)
    y[:20] += 50
    squares = SparseRegression(lam=0.01).fit(X, y)
    huber = SparseRegression(lam=0.01, loss="huber").fit(X, y)
    truth = np.array([3, -2, 1.5, 1, -0.7])
    assert np.linalg.norm(huber.coef_ - truth) < 0.5 * np.linalg.norm(squares.coef_ - truth)
    with pytest.raises(ValueError, match="huber"):
        SparseRegression(loss="absolute").fit(X, y)


def test_paths_go_down_from_zero_and_end_where_fit_does():
    X, y = table()
    path = SparseRegression().path(X, y, n_lambdas=20, ratio=1e-2)
    assert np.all(path.coefs[0] == 0) and np.all(np.diff(path.lambdas) < 0)
    assert path.lambdas[0] == pytest.approx(path.lambda_max)
    assert path.lambda_max == pytest.approx(np.abs(X.T @ (y - y.mean())).max() / len(X))
    one = SparseRegression(lam=path.lambdas[-1]).fit(X, y)
    assert np.abs(one.coef_ - path.coefs[-1]).max() < 1e-6
    assert SparseRegression().fit(X, y).lam_ == pytest.approx(path.lambda_max / 100)


@pytest.mark.parametrize("jobs", [None, 2])
def test_folds_choose_a_lambda(jobs):
    X, y = table(150, 40)
    model = SparseRegressionCV("mcp", n_lambdas=20, n_jobs=jobs).fit(X, y)
    assert model.losses_.shape == (20, 5)
    assert model.lam_ == model.lambdas_[model.losses_.mean(axis=1).argmin()]
    assert set(range(4)) <= set(np.flatnonzero(model.coef_))
    simple = SparseRegressionCV("mcp", n_lambdas=20, select="1se").fit(X, y)
    assert simple.lam_ >= model.lam_
    with pytest.raises(ValueError, match="1se"):
        SparseRegressionCV(select="most").fit(X, y)


def test_folds_choose_a_lambda_for_classes():
    X, y = table(150, 20)
    model = SparseLogisticCV(n_lambdas=10, tol=1e-4).fit(X, y > 1)
    assert model.score(X, y > 1) > 0.85 and model.losses_.shape == (10, 5)


def test_bad_input_is_refused_with_the_reason():
    X, y = table()
    broken = X.copy()
    broken[3, 2] = np.nan
    for bad, message in [((broken, y), "NaN"), ((X, y[:-1]), "inconsistent"), ((X[:, :0], y), "0 feature")]:
        with pytest.raises(ValueError, match=message):
            SparseRegression().fit(*bad)
    with pytest.raises(ValueError, match="lambda"):
        SparseRegression(lam=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="class"):
        SparseLogistic().fit(X, np.zeros(len(X)))


@pytest.mark.parametrize("lam", [1e-2, 1e-3, 1e-4])
def test_an_ill_conditioned_logistic_model_is_liblinears(lam):
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    model = melmo.SparseLogistic("l1", lam).fit(X, y)
    assert np.max(model.n_iter_) <= 50
    # Its intercept is a column of 100s, penalised: all but free.
    other = LogisticRegression(
        penalty="l1", C=1 / (len(y) * lam), solver="liblinear", tol=1e-8, max_iter=100000, intercept_scaling=100
    ).fit(X, y)

    def objective(fitted):
        margins = (2 * y - 1) * fitted.decision_function(X)
        return np.mean(np.logaddexp(0, -margins)) + lam * np.abs(fitted.coef_).sum()

    assert objective(model) <= objective(other) * (1 + 1e-6)


def test_a_sparse_matrix_is_no_way_to_fold():
    X, y = table()
    with pytest.raises(TypeError, match="sparse matrix"):
        SparseRegressionCV(cv=scipy.sparse.csc_matrix(np.eye(3))).fit(X, y)
