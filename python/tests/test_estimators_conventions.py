"""Every estimator: scikit-learn's own checks, pickling, cloning, dtypes, doctests."""

import doctest
import importlib
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import melmo
from melmo._lazy import ESTIMATORS

NAMES = [name for name in ESTIMATORS if name != "RegressionPath"]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 6))
Y = X[:, 0] - 2 * X[:, 3] + 0.1 * RNG.normal(size=30)


def fitted(name):
    model = getattr(melmo, name)()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(X, Y > 0 if "Logistic" in name else Y)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_accepts_it(name):
    model = getattr(melmo, name)()
    if name == "SparseLogisticCV":  # classes that can be told apart make long paths; the checks make many of them
        model.set_params(n_lambdas=8, cv=3, tol=1e-3)
    if name == "SparseLogistic":  # solutions are compared to seven digits
        model.set_params(tol=1e-11)
    found = check_estimator(model, on_fail=None, on_skip=None)
    failed = [(check["check_name"], check["exception"]) for check in found if check["status"] == "failed"]
    assert len(found) > 40
    if "CV" in name:  # folds of repeated rows are other folds than those of weighted ones
        failed = [check for check in failed if "sample_weight_equivalence" not in check[0]]
    assert failed == []


@pytest.mark.parametrize("name", NAMES)
def test_pickles_and_clones_are_the_same_model(name):
    model = fitted(name)
    answer = model.predict if hasattr(model, "predict") else model.transform
    copy = pickle.loads(pickle.dumps(model))
    again = copy.predict if hasattr(copy, "predict") else copy.transform
    assert np.array_equal(answer(X), again(X))
    assert clone(model).get_params().keys() == model.get_params().keys()
    assert not hasattr(clone(model), "n_features_in_")


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_stays_single(name):
    model = getattr(melmo, name)()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    y = (Y > 0) if "Logistic" in name else Y
    model.fit(X.astype(np.float32), y)
    parts = model.coef_ if hasattr(model, "coef_") else model.components_
    assert parts.dtype == np.float32
    if hasattr(model, "transform"):
        assert model.transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_set_by_name_and_unknown_ones_refused(name):
    model = getattr(melmo, name)().set_params(max_iter=7)
    assert model.get_params()["max_iter"] == 7
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(maximum=7)


@pytest.mark.parametrize("name", ["SparseRegression", "SparseLogistic", "SparseFactorization"])
def test_unknown_penalties_are_refused_with_those_there_are(name):
    y = Y > 0
    with pytest.raises(ValueError, match="mcp"):
        getattr(melmo, name)(penalty="mpc").fit(X, y)
    with pytest.raises(TypeError, match="melmo.penalty"):
        getattr(melmo, name)(penalty=3).fit(X, y)


@pytest.mark.parametrize("module", sorted({*ESTIMATORS.values(), "denoising", "_estimator"}))
def test_examples_in_docstrings_run(module):
    found = doctest.testmod(importlib.import_module(f"melmo.{module}"))
    assert found.attempted > 0
    assert found.failed == 0


def test_without_scikit_learn_only_the_estimators_are_missing():
    program = """
import sys
sys.modules["sklearn"] = None
import numpy as np, melmo
assert melmo.denoise_tv(np.zeros((4, 4))).shape == (4, 4)
try:
    melmo.SparseRegression
except ImportError as error:
    assert "melmo[sklearn]" in str(error), error
else:
    raise SystemExit("no error")
assert not hasattr(melmo, "SparseRegresion")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
