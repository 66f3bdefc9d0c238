"""The golden cases of the library's own tests, as data."""

import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[2] / "crates" / "melmo" / "tests" / "golden"


def cases():
    """The names of the traces."""
    return sorted(folder.parent.name for folder in FOLDER.glob("*/case.json"))


def case(name):
    """A trace with its settings."""
    return json.loads((FOLDER / name / "case.json").read_text())


def array(name, file):
    """An array that belongs to a case."""
    return np.load(FOLDER / name / f"{file}.npy")


def rows(table):
    """A table of numbers."""
    return json.loads((FOLDER / table / "rows.json").read_text())
