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
