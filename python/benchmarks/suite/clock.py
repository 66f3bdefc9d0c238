"""Seconds to an accuracy: CPU seconds of one thread, so that whoever else uses the machine does not count."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

Watch = Callable[[np.ndarray], None]


@dataclass
class Run:
    """A method that goes step by step: `start(limit, watch)` shows every point to `watch`, and answers with the last."""

    start: Callable[[int | None, Watch | None], np.ndarray]


@dataclass
class Once:
    """A method that is run whole, at several tolerances, the loosest first: seconds and points."""

    attempts: Callable[[], Iterator[tuple[float, np.ndarray]]]


class Enough(Exception):
    """The accuracy is reached, or the time is up."""


class Looking:
    """Watches a run until its merit is at most `target`; its own time does not count."""

    def __init__(self, merit: Callable[[np.ndarray], float], target: float, cap: float):
        self.merit, self.target, self.cap = merit, target, cap
        self.steps, self.lowest, self.reached = 0, np.inf, False
        self.next, self.began, self.own = 1, time.process_time(), 0.0

    def __call__(self, x: np.ndarray) -> None:
        self.steps += 1
        if self.steps < self.next:
            return
        self.next = max(self.steps + 1, int(1.03 * self.steps))
        here = time.process_time()
        self.lowest = min(self.lowest, self.merit(x))
        self.own += time.process_time() - here
        self.reached = self.lowest <= self.target
        if self.reached or time.process_time() - self.began - self.own > self.cap:
            raise Enough


def seconds_to(run: Run | Once, merit: Callable[[np.ndarray], float], target: float, cap: float) -> tuple[float, float]:
    """CPU seconds until the merit is at most `target` (∞ where it never is), and the lowest merit seen.

    A run is taken twice: watched, to see after how many steps it is there, and then as long as that, alone.
    """
    if isinstance(run, Once):
        lowest = np.inf
        for seconds, x in run.attempts():
            lowest = min(lowest, merit(x))
            if lowest <= target:
                return seconds, lowest
        return np.inf, lowest
    looking = Looking(merit, target, cap)
    try:
        last = run.start(None, looking)
        looking.next = 0  # the end is looked at whatever came before it
        looking(last)
    except Enough:
        pass
    if not looking.reached:
        return np.inf, looking.lowest
    began = time.process_time()
    run.start(looking.steps, None)
    return time.process_time() - began, looking.lowest
