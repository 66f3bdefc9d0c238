"""The snippets of the documents run."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("matplotlib").use("Agg")
ROOT = Path(__file__).parents[2]


def run(document):
    """Runs the snippets of a document, one after another; their names, and how many they are."""
    space = {}
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), re.S)
    for snippet in snippets:
        exec(compile(snippet, document, "exec"), space)
    return space, len(snippets)


def test_the_readme():
    pytest.importorskip("sklearn")
    space, count = run("README.md")
    assert count == 3 and (0 <= space["fit"].z).all() and (space["fit"].z <= 1).all()
    assert np.abs(space["model"].coef_ - [1, 0, 0, -2, 0, 0, 0, 0]).max() < 0.05


def test_the_page_about_python():
    space, count = run("docs/python.md")
    assert count == 3 and "weak convexity" in [wrong.law for wrong in space["checked"].failures]
    clean, noisy, found = space["image"], space["noisy"], space["result"].x
    assert ((found - clean) ** 2).sum() < 0.5 * ((noisy - clean) ** 2).sum()
