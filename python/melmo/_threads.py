"""`n_jobs` as a number of threads."""

from __future__ import annotations

import os

from melmo._checks import LARGEST, whole


def threads(n_jobs: int | None) -> int:
    """One unless given; −1 is all cores, −2 all but one.

    >>> threads(None), threads(3), threads(-1) == os.cpu_count()
    (1, 3, True)
    """
    if n_jobs is None:
        return 1
    n_jobs = whole("n_jobs", n_jobs, -LARGEST)
    if n_jobs == 0:
        raise ValueError("n_jobs = 0: expected a number of threads, or −1 for all cores")
    return max(1, (os.cpu_count() or 1) + 1 + n_jobs) if n_jobs < 0 else max(1, n_jobs)
