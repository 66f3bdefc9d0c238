"""Runs the solvers here beside others', by benchopt, on simulated data: python python/benchopt/run.py [--processor] [lasso] …

Needs benchopt, melmo[sklearn], celer and skglm in the Python that runs it. A benchmark is made of a folder's files: objective.py,
simulated.py, and a solver a file. What is printed: seconds until F is within 10⁻⁶ of the lowest that any solver found,
relative to how far the highest point of all is above it; the median of three runs. A solver that ends above that has its own end
in place of the lowest. With `--processor` they are seconds of the
processor, of one run: those mean something on a machine that others use too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).parent
NEAR = 1e-6
# One thread for everybody, and the benchopt of this Python.
ENVIRONMENT = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MELMO_THREADS"], "1")
ENVIRONMENT["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def made(name: str, path: Path) -> Path:
    """A benchmark as benchopt wants it."""
    for part in ("datasets", "solvers"):
        (path / part).mkdir(parents=True)
    for file in (FOLDER / name).glob("*.py"):
        # Solvers get another name: one of that of the library it imports would hide it.
        place = {"objective": path / file.name, "simulated": path / "datasets" / file.name}
        shutil.copy(file, place.get(file.stem, path / "solvers" / f"solver_{file.name}"))
    return path


def run(path: Path, processor: bool) -> pd.DataFrame:
    """What benchopt measured: F after so many seconds, of every solver on every problem."""
    clock, amount = path / "clock", ["-r", "3", "--timeout", "30"]
    clock.mkdir()
    if processor:
        # benchopt measures with perf_counter alone, and Python reads this file before anything else.
        (clock / "sitecustomize.py").write_text("import time\ntime.perf_counter = time.process_time\n")
        amount = ["-r", "1", "--timeout", "300"]
    command = ["benchopt", "run", str(path), "--no-plot", "--no-html", "-n", "200", *amount]
    environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": str(clock)}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return pd.read_parquet(max((path / "outputs").glob("*.parquet")))


def table(curves: pd.DataFrame) -> pd.DataFrame:
    """A row a problem and a column a solver: the seconds of the median run. Who ends elsewhere: how far above, and after how long."""
    rows = {}
    for (data, objective), problem in curves.groupby(["dataset_name", "objective_name"]):
        lowest, start = problem["objective_value"].min(), problem["objective_value"].max()
        room, cells = NEAR * (start - lowest), {}
        for name, solver in problem.groupby("solver_name"):
            end = solver["objective_value"].min()
            there = solver[solver["objective_value"] <= (end if end > lowest + room else lowest) + room]
            seconds = there.groupby("idx_rep")["time"].min().median()
            cells[name] = f"{seconds:.4f}" + (f" ({end / lowest - 1:.2%} above)" if end > lowest + room else "")
        rows[f"{data.removeprefix('Simulated')} {objective}"] = cells
    return pd.DataFrame(rows).T


def main() -> None:
    names = [word for word in sys.argv[1:] if word != "--processor"]
    for name in names or ["lasso", "logreg_l1", "mcp", "tv_2d"]:
        with tempfile.TemporaryDirectory() as folder:
            found = table(run(made(name, Path(folder) / name), "--processor" in sys.argv))
        print(f"\n{name}\n{found.to_string()}", flush=True)


if __name__ == "__main__":
    main()
