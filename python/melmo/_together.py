"""Estimators whose rows lie on ranks: what `comm` means to them."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from melmo._interrupts import Interrupts
from melmo._communicator import Ranks, expect_communicator

Made = TypeVar("Made")


class OnRanks(BaseEstimator):  # type: ignore[misc]
    """An estimator with a communicator: ranks share it, and nobody can copy it."""

    comm: Any

    @contextmanager
    def _together(self) -> Iterator[Ranks | None]:
        """Everybody who has a part of the rows; nobody but this process without `comm`. Ctrl-C ends all together meanwhile."""
        if self.comm is None:
            yield None
            return
        expect_communicator(self.comm)
        with Interrupts() as interrupts:
            yield Ranks(self.comm, interrupts)

    def _expect_same(self, ranks: Ranks, X: Any, **more: Any) -> None:
        """Refuses, on every rank, another estimator or other columns than elsewhere."""
        params = {f"parameter {name!r}": value for name, value in self.get_params(deep=False).items() if name != "comm"}
        ranks.expect_same(
            type(self).__name__, {"class": type(self).__name__, **params, "number of columns": X.shape[1], "dtype of X": str(X.dtype), **more}
        )

    def _no_rows(self, X: Any) -> Any:
        """X of a rank that has no row: its columns are known all the same."""
        self.n_features_in_ = int(X.shape[1])
        return X.astype(np.float32 if X.dtype == np.float32 else np.float64)

    def __sklearn_clone__(self) -> Any:
        params = {name: clone(value, safe=False) for name, value in self.get_params(deep=False).items() if name != "comm"}
        twin = type(self)(**params, comm=self.comm)
        for name in ("_metadata_request", "_sklearn_output_config"):
            if hasattr(self, name):
                setattr(twin, name, copy.deepcopy(getattr(self, name)))
        return twin

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if state.get("comm") is not None:
            warnings.warn(
                f"{type(self).__name__}: a communicator cannot be copied; the copy has comm=None, and works on the rows that it is given",
                UserWarning,
                stacklevel=3,
            )
            state["comm"] = None
        return state


def agreed(ranks: Ranks | None, act: Callable[[], Made]) -> Made:
    """What `act` answers; on ranks where everybody's does."""
    return act() if ranks is None else ranks.agreed(act)


def added(ranks: Ranks | None, act: Callable[[], Any]) -> Any:
    """The numbers that `act` answers; on ranks their sums."""
    return act() if ranks is None else ranks.sums(act)


def begins(ranks: Ranks, rows: int) -> tuple[int, int]:
    """Where so many rows of this rank begin in the whole, whose rows are those of one rank after another; and how many all are."""
    counts = [int(count[0]) for count in ranks.numbers([rows])]
    if sum(counts) == 0:
        raise ValueError("X: no rank has a row")
    return sum(counts[: ranks.rank]), sum(counts)


def has_no_rows(X: Any) -> bool:
    """A rank may have none."""
    shape = np.shape(X)
    return len(shape) == 2 and shape[0] == 0 and shape[1] > 0
