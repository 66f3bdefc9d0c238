"""Our methods, by their defaults."""

import time
from typing import Any

import numpy as np
from case import Case
from clock import Run, Watch

#: Every method that is not the paper's own (those have schedules, not an end) and not of factors.
METHODS = [
    "admm",
    "admm-graduated",
    "primal-dual",
    "metric",
    "scaled",
    "tilted",
    "fista",
    "fista-graduated",
    "proximal-gradient",
    "coordinate-descent",
    "coordinate-graduated",
    "polished",
    "reweighted",
    "dca",
    "lbfgs",
    "interior-point",
]


def solve(case: Case, method: str, **settings: Any) -> Any:
    """A run, with its CPU seconds."""
    began = time.process_time()
    found = case.problem.minimize(case.x0, method=method, threads=1, **settings)
    return found, time.process_time() - began


def run(case: Case, method: str, longest: int | None = None, tol: float | None = None) -> Run:
    """The method as a run that can be watched: to its own end, or to a tolerance of 0 for `longest` steps."""

    def start(limit: int | None, watch: Watch | None) -> np.ndarray:
        shown = None if watch is None else lambda info: watch(info.x)
        steps = longest if limit is None else limit
        return case.problem.minimize(case.x0, method=method, threads=1, max_iter=steps, tol=tol, callback=shown).x

    return Run(start)
