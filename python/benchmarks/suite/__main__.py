"""`auto` on seventy-two problems, beside every method of ours that fits and beside other people's programs.

    python python/benchmarks/suite [words that keep problems] [--auto] [--store FOLDER] [--table]

`--auto` measures `auto` anew and nothing else; `--table` only prints what is stored. What is measured is stored as it comes, so that a
run that was ended goes on where it was. One thread, CPU seconds. Needs cvxpy, pyproximal, pylops, skglm, scikit-learn, scikit-image.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import warnings
from pathlib import Path

import constraints
import fresh
import harder
import images
import measure
import models
import more
import others
import programs
import signals
import table

CASES = [*signals.CASES, *images.CASES, *models.CASES, *constraints.CASES, *others.CASES, *more.CASES, *harder.CASES, *fresh.CASES, *programs.CASES]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--auto", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--store", type=Path, default=Path("target/suite"))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    asked.store.mkdir(parents=True, exist_ok=True)
    kept = [make for make in CASES if not asked.words or any(word in make.__name__ for word in asked.words)]
    if not asked.table:
        for make in kept:
            measure.measure(make, asked.store / f"{make.__name__}.json", only_auto=asked.auto)
    table.show([(make.__name__, asked.store / f"{make.__name__}.json") for make in kept])


if __name__ == "__main__":
    main()
