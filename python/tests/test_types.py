"""The package passes mypy, and mypy sees the classes that are made from the catalogue."""

import subprocess
import sys
from pathlib import Path

import pytest

import melmo

pytest.importorskip("mypy")
CONFIG = Path(__file__).parents[2] / "pyproject.toml"

GOOD = """
import numpy as np
import melmo

g = melmo.penalty.MCP(0.5, mu=2.0, on="rows")
T = melmo.operator.Difference2D((3, 4))
result: melmo.Result = melmo.minimize(melmo.loss.Masked(np.ones((3, 4))), g, T, geometry=melmo.geometry.Spectral("svd"))
value: float = g.envelope(np.ones(3), 0.1)
for info in melmo.iterate(melmo.loss.Masked(np.ones(3)), g, max_iter=3):
    k: int = info.k
"""

# What users get has types: none is Any, and what is not there is an error.
USED = """
import numpy as np
import melmo

A, b = np.ones((6, 4)), np.ones(6)
f, g = melmo.loss.LeastSquares(A, b), melmo.penalty.L1(0.1) + melmo.penalty.MCP(0.1, weights=np.ones(4))
result = melmo.minimize(f, g, callback=lambda info: info.k > 3)
reveal_type(result.x)  # array
reveal_type(result.fun)  # float
reveal_type(result.gap)  # float | None
reveal_type(result.trace["F"])  # float64
reveal_type(result.trace["k"])  # int
assert result.certificate is not None
reveal_type(result.certificate.dual_norm)  # tuple[float, float]
reveal_type(result.certificate.verify())  # Verification
reveal_type(result.certificate.stationarity)  # Stationarity
reveal_type(melmo.Problem(f, g).minimize().x)  # array
reveal_type(melmo.minimize(melmo.loss.Factorization(A), g, melmo.operator.Select("W")).x)  # dict
reveal_type(melmo.minimize(lambda x: (0.0, x), g, x0={"a": b}).x)  # dict
reveal_type(melmo.minimize(lambda x: (0.0, x), g, x0=b).x)  # array
reveal_type(next(melmo.iterate(f, g)).x)  # array
reveal_type(f(b)[1])  # array
reveal_type(g.prox(b))  # array
reveal_type(melmo.prox(g, {"a": b}))  # dict
reveal_type(melmo.data.read("a.npy"))  # array
reveal_type(melmo.SparseRegression().fit(A, b).coef_)  # array
reveal_type(melmo.SparseRegression().fit(A, b).intercept_)  # float | numpy.ndarray
reveal_type(melmo.SparseRegression().fit(A, b).score(A, b))  # float
reveal_type(melmo.SparseLogistic().fit(A, b).predict_proba(A))  # array
reveal_type(melmo.MatrixCompletion().fit(A).completed_)  # array
reveal_type(melmo.RobustPCA().fit(A).low_rank_)  # array
reveal_type(melmo.SparseFactorization().fit(A).components_)  # array
reveal_type(melmo.SparseFactorization().fit_transform(A))  # array
result.nothing
g.nothing
f.nothing
melmo.minimise
"""
SHOWN = {"array": "ndarray[tuple[Any, ...], numpy.dtype[numpy.floating[Any]]]", "dict": "dict[str, numpy.ndarray"}

BAD = """
import melmo

melmo.penalty.MCP(mu="two")
melmo.penalty.Nothing()
melmo.minimize(1, 2, method=3)
"""


def mypy(*arguments):
    command = [sys.executable, "-m", "mypy", "--config-file", str(CONFIG), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_package_is_typed():
    done = mypy("-p", "melmo")
    assert done.returncode == 0, done.stdout


def test_what_users_get_has_types(tmp_path):
    (tmp_path / "used.py").write_text(USED)
    done = mypy(str(tmp_path / "used.py"))
    revealed = [line.partition("Revealed type is ")[2].strip('"') for line in done.stdout.splitlines() if "Revealed" in line]
    expected = [line.partition("  # ")[2] for line in USED.splitlines() if line.startswith("reveal_type")]
    for shown, wanted in zip(revealed, expected, strict=True):
        assert SHOWN.get(wanted, wanted) in shown and shown != "Any", (shown, wanted)
        assert wanted != "array" or "dict" not in shown
    errors = [line for line in done.stdout.splitlines() if "error:" in line]
    assert len(errors) == 4 and all("has no attribute" in line for line in errors), done.stdout


def test_the_stubs_are_seen(tmp_path):
    for name, text in (("good", GOOD), ("bad", BAD)):
        (tmp_path / f"{name}.py").write_text(text)
    good, bad = mypy(str(tmp_path / "good.py")), mypy(str(tmp_path / "bad.py"))
    assert good.returncode == 0, good.stdout
    assert bad.stdout.count("error:") == 3, bad.stdout
    assert (Path(melmo.__file__).parent / "py.typed").exists()
