"""Names, arguments, pickles, copies and texts of everything."""

import copy
import inspect
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import melmo
from melmo import _catalogue, _stubs

TERMS = [
    melmo.penalty.MCP(0.5, 2.0),
    melmo.penalty.L1(on="groups", groups=[[0, 1], [2]]),
    melmo.loss.Masked(np.eye(3), mask=np.ones((3, 3))),
    melmo.loss.LeastSquares(np.arange(12.0).reshape(4, 3), np.ones(4)),
    melmo.operator.Difference2D((3, 3)),
    melmo.operator.Stack(melmo.operator.Identity(4), np.ones((2, 4))),
    melmo.geometry.Spectral("svd"),
    melmo.geometry.L2(),
]


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_terms_are_values(term):
    for again in (pickle.loads(pickle.dumps(term)), copy.copy(term), copy.deepcopy(term)):
        assert again == term and type(again) is type(term) and repr(again) == repr(term)
    assert term != melmo.penalty.L1(17.0) and hash(term) == hash(copy.deepcopy(term))


def test_repr_can_be_typed_again():
    for term in (TERMS[0], TERMS[1], TERMS[4], TERMS[6], TERMS[7]):
        module = sys.modules[type(term).__module__]
        assert eval(repr(term), vars(module)) == term


def test_a_number_of_numpy_reads_like_any_other():
    assert repr(melmo.penalty.MCP(np.float64(0.5), mu=np.int64(3))) == "MCP(lam=0.5, mu=3)"


def test_results_and_certificates_are_pickled():
    result = melmo.minimize(melmo.loss.Masked(np.ones((3, 3))), melmo.penalty.MCP(0.2, 3.0), max_iter=5)
    again = pickle.loads(pickle.dumps(result))
    assert again.status == result.status and np.array_equal(again.x, result.x)
    assert again.certificate == result.certificate and type(again.trace) is type(result.trace)
    assert np.array_equal(again.trace, result.trace) and "certificate" in dir(result)
    assert "status: " in repr(result) and "dual_norm" in repr(result.certificate)
    with pytest.raises(AttributeError):
        result.nothing


def test_problems_are_pickled():
    problem = melmo.Problem(melmo.loss.Masked(np.ones((3, 3))), melmo.penalty.MCP(0.2, 3.0), x0=np.zeros(9, np.float32))
    for again in (pickle.loads(pickle.dumps(problem)), copy.deepcopy(problem)):
        assert again.objective(np.ones(9)) == problem.objective(np.ones(9)) and again.packing.precision == "f32"
        assert again.minimize(max_iter=2).x.shape == (9,) and repr(again) == repr(problem)


def test_everything_public_is_listed():
    listed = set(melmo.__all__)
    assert len(listed) == len(melmo.__all__)
    for name in ("minimize", "denoise", "denoise_tv", "SparseRegression", "RobustPCA", "RegressionPath", "__version__"):
        assert name in listed and getattr(melmo, name) is not None
    # What the package needs for itself is not shown; modules that need an extra are where that is there.
    special = {name for name in dir(melmo) if name.startswith("__")}
    assert listed | special == set(dir(melmo)) and listed & special == {"__version__"}
    result = melmo.minimize(melmo.loss.Masked(np.ones(3)), melmo.penalty.L1(0.1), epsilon=0.1)
    found = result.certificate
    handed_out = [result, result.trace, found, found.claim, found.norms[0], found.optimality, found.stationarity]
    handed_out += [found.verify(), found.verify()[0], melmo.Problem(melmo.loss.Masked(np.ones(3)), melmo.penalty.L1()).check()[0]]
    handed_out += [melmo.geometry.Spectral().oracle_answer(np.eye(2)), melmo.iterate(melmo.loss.Masked(np.ones(3)), melmo.penalty.L1())]
    assert all(getattr(melmo, type(value).__name__) is type(value) for value in handed_out)
    with pytest.raises(AttributeError) as error:
        melmo.minimise
    assert error.value.name == "minimise" and error.value.obj is melmo  # what Python's own suggestion needs


def test_a_problem_is_solved_with_named_settings():
    ours, theirs = (inspect.signature(f).parameters for f in (melmo.Problem.minimize, melmo.minimize))
    assert [name for name in ours if name not in ("self", "x0")] == [
        name for name in theirs if name not in ("f", "g", "T", "x0", "n_jobs", "comm", "split")
    ]
    assert all(ours[name].default == theirs[name].default for name in ours if name != "self")
    steps = inspect.signature(melmo.Problem.iterate).parameters
    assert list(steps)[2:] == list(inspect.signature(melmo.iterate).parameters)[4:]


@pytest.mark.parametrize("kind", ["penalties", "losses", "operators", "geometries"])
def test_every_row_has_a_class(kind):
    module = {"penalties": melmo.penalty, "losses": melmo.loss}.get(kind) or {
        "operators": melmo.operator,
        "geometries": melmo.geometry,
    }[kind]
    for row in melmo.catalogue()[kind]:
        made = getattr(module, _catalogue.class_name(row["name"]))
        parameters = made.__signature__.parameters
        for parameter in row["parameters"]:
            assert _catalogue.python_name(parameter["name"]) in parameters
        assert row["about"] in made.__doc__ and row["formula"] in made.__doc__


def program():
    """The command-line program, where it was built."""
    named = os.environ.get("MELMO_PROGRAM")
    built = Path(__file__).parents[2] / "target" / "release" / "melmo"
    return named or (str(built) if built.exists() else None)


@pytest.mark.skipif(program() is None, reason="the program was not built")
def test_names_are_those_of_the_program():
    listed = json.loads(subprocess.run([program(), "list", "--json"], capture_output=True, text=True, check=True).stdout)
    for kind, rows in melmo.catalogue().items():
        assert [row["name"] for row in rows] == [row["name"] for row in listed[kind]], kind
        for ours, theirs in zip(rows, listed[kind]):
            assert [p["name"] for p in ours["parameters"]] == [p["name"] for p in theirs["parameters"]]
    assert list(melmo.data.bundled()) == [row["name"] for row in listed["data"]]


def test_stubs_are_those_of_the_catalogue():
    folder = Path(melmo.__file__).parent
    for file, text in _stubs.stubs().items():
        assert (folder / file).read_text(encoding="utf-8") == text, f"run python -m melmo._stubs: {file} is old"


def test_importing_melmo_imports_no_extra_and_a_star_has_every_name():
    code = """
import sys
import melmo
assert not {"torch", "optax", "jax"} & set(sys.modules), "an extra was imported"
from melmo import *
assert set(melmo.__all__) <= set(globals()), set(melmo.__all__) - set(globals())
"""
    subprocess.run([sys.executable, "-c", code], check=True)
