"""The snippets of the documents run."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("matplotlib").use("Agg")
DOCUMENT = Path(__file__).parents[2] / "docs" / "python.md"


def test_the_page_about_python():
    space = {"np": np}
    snippets = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.S)
    assert len(snippets) == 2
    for snippet in snippets:
        exec(compile(snippet, DOCUMENT.name, "exec"), space)
    clean, noisy, found = space["image"], space["noisy"], space["result"].x
    assert ((found - clean) ** 2).sum() < 0.5 * ((noisy - clean) ** 2).sum()
