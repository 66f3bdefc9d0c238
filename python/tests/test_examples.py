"""The examples run and write their pictures; notebooks are those of the scripts, run to the end."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = ["denoise", "ratings", "topics", "background", "own_penalty", "small_network_torch", "small_network_jax"]
#: What a script needs besides matplotlib. Where it is missing the test says so aloud.
NEEDS = {"small_network_torch": ["torch", "sklearn"], "small_network_jax": ["jax", "optax", "sklearn"]}


@pytest.mark.parametrize("name", NAMES)
def test_scripts_write_their_picture(name, tmp_path):
    pytest.importorskip("matplotlib")
    for module in NEEDS.get(name, []):
        pytest.importorskip(module, reason=f"{module.upper()} IS NOT INSTALLED: examples/{name}.py WAS NOT RUN")
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    script = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(script, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "pictures" / f"{name}.png").stat().st_size > 5000
    assert len(done.stdout.splitlines()) >= 1


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_are_the_scripts_run_to_the_end(name):
    notebook = json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))
    script = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(code) >= 3 and all(cell["execution_count"] for cell in code)
    assert all("".join(cell["source"]).strip() in script for cell in code)
    kinds = {kind for cell in code for output in cell["outputs"] for kind in output.get("data", {})}
    assert "image/png" in kinds
    assert not any(output["output_type"] == "error" for cell in code for output in cell["outputs"])
