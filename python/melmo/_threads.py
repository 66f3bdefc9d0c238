"""Threads: how many the process uses, and `n_jobs` as a number of them."""

from __future__ import annotations

import os

from melmo import _melmo
from melmo._checks import LARGEST, whole


def set_threads(threads: int | None) -> None:
    """So many threads for each large problem; no result depends on it.

    ``None`` goes back to what the process began with: MELMO_THREADS, else OMP_NUM_THREADS, else all cores. Small problems
    stay on one thread, and of runs in several threads of Python one has the helpers at a time.

    >>> set_threads(2)
    >>> get_threads()
    2
    >>> set_threads(None)
    """
    _melmo.set_threads(threads)


def get_threads() -> int:
    """How many threads a large problem may use."""
    return _melmo.get_threads()


def jobs_at_a_time(n_jobs: int | None) -> int:
    """One unless given; −1 is as many as there are cores, −2 one less.

    >>> jobs_at_a_time(None), jobs_at_a_time(3), jobs_at_a_time(-1) == os.cpu_count()
    (1, 3, True)
    """
    if n_jobs is None:
        return 1
    n_jobs = whole("n_jobs", n_jobs, -LARGEST)
    if n_jobs == 0:
        raise ValueError("n_jobs = 0: expected a number of threads, or −1 for all cores")
    return max(1, (os.cpu_count() or 1) + 1 + n_jobs) if n_jobs < 0 else max(1, n_jobs)
