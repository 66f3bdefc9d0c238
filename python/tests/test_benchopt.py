"""The solvers for benchopt do what their benchmarks ask, with a stand-in for benchopt itself."""

import contextlib
import importlib.util
import sys
import types
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchopt"


@pytest.fixture
def solver(monkeypatch, request):
    pytest.importorskip("sklearn")
    stand_in = types.ModuleType("benchopt")
    stand_in.BaseSolver = object
    stand_in.safe_import_context = contextlib.nullcontext
    monkeypatch.setitem(sys.modules, "benchopt", stand_in)
    criterion = types.ModuleType("benchopt.stopping_criterion")
    criterion.SufficientProgressCriterion = dict
    monkeypatch.setitem(sys.modules, "benchopt.stopping_criterion", criterion)
    spec = importlib.util.spec_from_file_location("solver", FOLDER / request.param / "melmo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Solver()


@pytest.mark.parametrize("solver", ["tv_2d"], indirect=True)
def test_tv_2d(solver):
    y = np.random.default_rng(0).normal(size=(12, 10))
    solver.method = "admm"
    # As the benchmark's objective gives them; A acts on images.
    given = {"A": np.eye(12), "reg": 0.2, "delta": 0.9, "data_fit": "lsq", "y": y, "isotropy": "isotropic"}
    assert solver.skip(**given) == (False, None)
    for other in ({"data_fit": "huber"}, {"A": 2 * np.eye(12)}, {"isotropy": "split"}):
        assert solver.skip(**{**given, **other})[0]
    solver.set_objective(**given)
    spread = []
    for steps in (0, 50):
        solver.run(steps)
        spread.append(np.std(solver.get_result()["u"]))
    assert spread[0] == np.std(y) > spread[1]


@pytest.mark.parametrize("solver", ["mcp"], indirect=True)
def test_mcp(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 10))
    solver.set_objective(X, 3 * X[:, 2], 0.3, 3.0)
    solver.run(1e-8)
    assert np.abs(solver.get_result()["beta"] - 3 * (np.arange(10) == 2)).max() < 1e-6


@pytest.mark.parametrize("solver", ["lasso"], indirect=True)
@pytest.mark.parametrize("intercept", [False, True])
def test_lasso(solver, intercept):
    from sklearn.linear_model import Lasso

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    y = X[:, :3].sum(axis=1) + 2 + 0.1 * rng.normal(size=60)
    lmbd = 0.1 * np.abs(X.T @ (y - y.mean())).max()
    solver.set_objective(X=X, y=y, lmbd=lmbd, fit_intercept=intercept)
    assert solver.get_result()["beta"].shape == (12 + intercept,)
    solver.run(1e-10)
    theirs = Lasso(alpha=lmbd / 60, fit_intercept=intercept, tol=1e-12, max_iter=100_000).fit(X, y)
    expected = np.append(theirs.coef_, theirs.intercept_) if intercept else theirs.coef_
    assert np.abs(solver.get_result()["beta"] - expected).max() < 1e-6


@pytest.mark.parametrize("solver", ["logreg_l1"], indirect=True)
def test_logreg_l1(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 8))
    y = np.where(X[:, 0] - X[:, 1] + rng.normal(size=80) > 0, 1, -1)
    lmbd = 0.05 * np.abs(X.T @ y).max()
    solver.set_objective(X=X, y=y, lmbd=lmbd)

    def value(beta):
        return np.log1p(np.exp(-y * (X @ beta))).sum() + lmbd * np.abs(beta).sum()

    values = []
    for tolerance in (1e-1, 1e-4, 1e-10):
        solver.run(tolerance)
        values.append(value(solver.get_result()["beta"]))
    found = solver.get_result()["beta"]
    slopes = X.T @ (y / (1 + np.exp(y * (X @ found))))
    # At the least value, the slopes of the loss are λ where an entry is not 0, and no more elsewhere.
    assert np.abs(slopes[found != 0] - lmbd * np.sign(found[found != 0])).max() < 1e-6 * lmbd
    assert np.abs(slopes).max() < lmbd * (1 + 1e-6) and values[0] >= values[1] >= values[2] - 1e-12
