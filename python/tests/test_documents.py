"""The snippets of the documents run, and print what is shown; their lines of Rust are those of the examples."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("matplotlib").use("Agg")
ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("run_page", ROOT / "scripts" / "run_page.py")
run_page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run_page)

PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if run_page.blocks(path.read_text(encoding="utf-8")))
NAMES = [str(path.relative_to(ROOT)) for path in PAGES]


def test_the_readme(tmp_path):
    if not run_page.PROGRAM.exists():
        pytest.skip("the program was not built")
    space = run_page.run(ROOT / "README.md", tmp_path)
    assert np.abs(space["clean"] - space["photo"]).mean() < 0.3 * np.abs(space["noisy"] - space["photo"]).mean()
    assert space["result"].certificate.verify()


def test_lines_of_the_readme_lack_nothing_but_their_files(tmp_path):
    """What it says to type with files of one's own: the program understands every word, and misses the file."""
    if not run_page.PROGRAM.exists():
        pytest.skip("the program was not built")
    lines = re.findall(r"^\| .* \| `melmo (.*)` \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M)
    assert len(lines) > 7
    for line in lines:
        done = subprocess.run([run_page.PROGRAM, *line.split()], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 2 and "there is no such file" in done.stderr, f"{line}: {done.stderr}"


def test_the_page_about_python(tmp_path):
    space = run_page.run(ROOT / "docs" / "python.md", tmp_path)
    assert "weak convexity" in [wrong.law for wrong in space["checked"].failures]
    clean, noisy, found = space["image"], space["noisy"], space["result"].x
    assert ((found - clean) ** 2).sum() < 0.5 * ((noisy - clean) ** 2).sum()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "docs/python.md"])
def test_pages_run_and_print_what_they_show(name, tmp_path):
    text = (ROOT / name).read_text(encoding="utf-8")
    for package in ("sklearn", "skimage", "torch"):
        if f"from {package}" in text:
            pytest.importorskip(package)
    if "```sh" in text and not run_page.PROGRAM.exists():
        pytest.skip("the program was not built")
    run_page.run(ROOT / name, tmp_path)


def test_a_page_that_shows_what_is_not_printed_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint('F 12.5 in 3 ms')\n```\n\n```text\nF 11 in 2 s\n```\n")
    run_page.run(page, tmp_path)
    page.write_text(page.read_text().replace("F 11", "gap 11"))
    with pytest.raises(AssertionError, match="not printed"):
        run_page.run(page, tmp_path)


def code(text):
    """Lines of Rust without comments and indentation."""
    return [line for line in (re.sub(r"\s*//.*", "", line).strip() for line in text.splitlines()) if line]


@pytest.mark.parametrize("name", ["crates/melmo/README.md", "docs/start.md"])
def test_rust_is_that_of_an_example(name):
    example = code((ROOT / "crates/melmo/examples/quickstart.rs").read_text(encoding="utf-8"))
    snippets = re.findall(r"```rust\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.S)
    assert len(snippets) == 1
    lines = iter(example)
    for line in code(snippets[0]):
        assert line in lines, f"{name}: `{line}` is not in the example, or not in that order"


def test_the_networks_page_is_what_its_results_file_says():
    """And a run goes on where it was stopped: runs that are in the file are not made again, those that are not are what is left."""
    sys.path.insert(0, str(ROOT / "training"))
    import page
    from compare import cells

    results = json.loads((ROOT / "training" / "networks.json").read_text(encoding="utf-8"))
    written = (ROOT / "docs" / "networks.md").read_text(encoding="utf-8")
    assert f"{page.BEGIN}\n{page.text(results)}\n{page.END}" in written
    assert results["device"] and results["date"] and not cells.waiting(results)
    names = list(results["runs"])
    taken = [name for name in names if json.loads(name)[4] == 5][:3]  # of the last seed: no setting hangs on them
    for name in taken:
        del results["runs"][name]
    assert {cells.name_of(*run) for run in cells.waiting(results)} == set(taken)
    tables = {task: cells.table(results, task) for task in cells.TASKS}
    assert any(cell and cell["seeds"] == 4 for row in tables["images"].values() for cell in row.values())
