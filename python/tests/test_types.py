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


def test_the_stubs_are_seen(tmp_path):
    for name, text in (("good", GOOD), ("bad", BAD)):
        (tmp_path / f"{name}.py").write_text(text)
    good, bad = mypy(str(tmp_path / "good.py")), mypy(str(tmp_path / "bad.py"))
    assert good.returncode == 0, good.stdout
    assert bad.stdout.count("error:") == 3, bad.stdout
    assert (Path(melmo.__file__).parent / "py.typed").exists()
