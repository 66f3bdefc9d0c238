"""Makes the notebooks from the scripts beside it, and runs them: python make_notebooks.py [name ...]

Needs jupytext, nbclient and ipykernel; the last two also PyTorch or JAX with optax, and scikit-learn. Scripts are the source; edit those.
"""

import sys
import tempfile
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
NAMES = ["denoise", "ratings", "topics", "background", "own_penalty", "small_network_torch", "small_network_jax"]


def make(name: str) -> None:
    notebook = jupytext.read(HERE / f"{name}.py")
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    with tempfile.TemporaryDirectory() as folder:  # where the pictures go that scripts write
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        cell.metadata = {}
    nbformat.write(notebook, HERE / f"{name}.ipynb")


if __name__ == "__main__":
    for name in sys.argv[1:] or NAMES:
        make(name)
        print(name)
