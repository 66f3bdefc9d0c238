"""Least squares whose rows lie on ranks, folded to as many rows as there are columns: these have the same solutions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from melmo._communicator import Ranks
from melmo._together import begins

Doubles = npt.NDArray[np.float64]

#: Numbers of folded rows that a rank may have to hold.
MOST = 2**25
#: Numbers of a stretch of rows.
STRETCH = 2**20


@dataclass(frozen=True)
class Design:
    """How the columns of all rows are centred and scaled, as on one machine."""

    rows: int
    means: Doubles
    scales: Doubles

    @classmethod
    def of(cls, ranks: Ranks, X: Any, centred: bool, scaled: bool) -> Design:
        """That of all rows, of which these are some."""
        _, rows = begins(ranks, X.shape[0])
        cols = X.shape[1]
        means, scales = np.zeros(cols), np.ones(cols)
        if centred:
            means = ranks.sums(lambda: np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()) / rows
        design = cls(rows, means, scales)
        if scaled:
            squares = ranks.sums(lambda: sum((np.square(part).sum(axis=0) for _, part in design.stretches(X)), np.zeros(cols)))
            deviations = np.sqrt(squares / rows)
            # What is left of a constant column is rounding.
            scales = np.where(deviations > 1e-12 * max(1e-300, float(np.abs(means).max(initial=0.0))), deviations, 1.0)
        return cls(rows, means, scales)

    def stretches(self, X: Any) -> Iterator[tuple[slice, Doubles]]:
        """These rows, centred and scaled, some at a time; those of a sparse X are full only then."""
        step = max(1, STRETCH // max(1, X.shape[1]))
        for first in range(0, X.shape[0], step):
            part = X[first : first + step]
            part = part.toarray() if hasattr(part, "toarray") else part
            yield slice(first, first + step), (part.astype(np.float64) - self.means) / self.scales

    def own_units(self, b: Doubles, c: Doubles) -> tuple[Doubles, Doubles]:
        """Coefficients (a row for every output) and intercepts in the data's own units."""
        b = b / self.scales
        return b, c - b @ self.means

    def scaled_units(self, b: Doubles, c: Doubles) -> tuple[Doubles, Doubles]:
        """The other way."""
        return b * self.scales, c + b @ self.means


@dataclass(frozen=True)
class Folded:
    """‖A·b − t‖² and a constant, for b with the best intercepts: A has a row for every column at most."""

    design: Design
    A: Doubles
    #: A column for every target.
    t: Doubles
    #: The intercepts are `level` − b·`slope`, before centring.
    level: Doubles
    slope: Doubles

    @classmethod
    def of(cls, ranks: Ranks, X: Any, y: Doubles, weights: Doubles | None, intercept: bool, standardize: bool) -> Folded:
        """Rows X with targets y (a column for each), folded on every rank and then together."""
        width = int(intercept) + X.shape[1] + y.shape[1]
        counts = [int(rows[0]) for rows in ranks.numbers([X.shape[0]])]
        expect_few(sum(min(rows, width) for rows in counts) * width, f"rows of {width} columns, folded,", ranks)
        design = Design.of(ranks, X, intercept, standardize)

        def fold() -> Doubles:
            R = np.zeros((0, width))
            for rows, part in design.stretches(X):
                ones = np.ones((len(part), int(intercept)))
                all_columns = np.hstack([ones, part, y[rows]])
                if weights is not None:
                    all_columns *= np.sqrt(weights[rows, None])
                R = _upper(np.vstack([R, all_columns]))
            return R

        own = ranks.agreed(fold)
        R = np.vstack([part.reshape(-1, width) for part in ranks.numbers(own)])
        return cls.split(design, ranks.agreed(lambda: _upper(R)), X.shape[1], intercept)

    @classmethod
    def split(cls, design: Design, R: Doubles, cols: int, intercept: bool) -> Folded:
        """Takes the intercept out, which is in the first row alone."""
        if not intercept:
            return cls(design, R[:, :cols], R[:, cols:], np.zeros(R.shape[1] - cols), np.zeros(cols))
        first, rest = R[0] / R[0, 0], R[1:]
        if len(rest) == 0:
            rest = np.zeros((1, R.shape[1]))  # one row alone: its intercept says it all
        return cls(design, rest[:, 1 : 1 + cols], rest[:, 1 + cols :], first[1 + cols :], first[1 : 1 + cols])

    def intercepts(self, b: Doubles) -> Doubles:
        """The best ones for coefficients of scaled columns, a row for every target."""
        return self.level - b @ self.slope


def _upper(rows: Doubles) -> Doubles:
    """R of rows = QR."""
    R: Doubles = np.linalg.qr(rows, mode="r")  # type: ignore[assignment]
    return R


def expect_few(numbers: int, what: str, ranks: Ranks) -> None:
    """Refuses what no rank should hold, with the numbers; every rank asks the same."""
    if numbers > MOST:
        raise ValueError(f"comm: {what} are {numbers} numbers on every one of {ranks.size} ranks, more than {MOST}: take fewer columns")
