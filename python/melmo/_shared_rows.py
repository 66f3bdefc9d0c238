"""Linear models whose rows lie on ranks: the solutions of all rows, on every rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from melmo import _melmo
from melmo._folded import MOST, Design, Doubles, Folded
from melmo._newton import Newton, Point
from melmo._communicator import Ranks

#: On the way to a λ, from λ_max: by this factor, so exactly, in so many steps.
STRIDE, ON_THE_WAY = 0.6, (1e-3, 20)


def settled(ranks: Ranks, loss: str, y: Doubles) -> str:
    """The loss with what is taken from the targets of all rows."""
    name = loss.partition(":")[0]
    if name == "cox":
        raise ValueError("loss: with cox all rows are compared with one another: comm does not share them, one machine does that")
    if name not in ("huber", "quantile") or _melmo.settled_loss(loss, np.zeros(1)) == loss:
        return loss
    total = int(ranks.sums(lambda: np.array([float(y.size)]))[0])
    if total > MOST:
        raise ValueError(f"loss: δ and width are medians of {total} numbers, more than the {MOST} a rank should hold: give it, as in huber:delta=1.5")
    everybodys = np.concatenate(ranks.numbers(y.ravel()))
    return ranks.told(lambda: str(_melmo.settled_loss(loss, everybodys)))


def normalised(ranks: Ranks, rows: int, weights: Any) -> Doubles | None:
    """Weights of rows, divided by the mean of all."""
    own = None if weights is None else np.asarray(weights, dtype=np.float64)
    given = ranks.sums(lambda: np.array([float(own is not None), 0.0 if own is None else own.sum(), rows]))
    if given[0] == 0:
        return None
    if not given[1] > 0:
        raise ValueError("sample_weight: expected a weight above 0 in at least one row")
    scaled: Doubles = (np.ones(rows) if own is None else own) * float(given[2] / given[1])
    return scaled


def follow(ranks: Ranks, X: Any, y: Doubles, asked: dict[str, Any], outputs: int) -> dict[str, Any]:
    """What `_melmo.regress` answers, of all rows. `asked` is what it is asked; y has a column for every target."""
    loss = settled(ranks, asked["loss"], y)
    weights = normalised(ranks, X.shape[0], asked["weights"])
    asked = {**asked, "weights": None, "transposed": False, "stopped": lambda: ranks.interrupted}
    if loss == "squares":
        return _of_squares(ranks, X, y, weights, asked)
    return _of_rows(ranks, X, y, weights, {**asked, "loss": loss}, outputs)


def _inside(asked: dict[str, Any], A: Doubles, t: Doubles, rows: int, **more: Any) -> dict[str, Any]:
    """Squares of A·b − t with the penalty of so many rows, nothing centred or scaled any more."""
    scale = np.sqrt(len(A) / rows)
    plain = {"loss": "squares", "intercept": False, "standardize": False, "offset": None, "weights": None}
    asked = {**asked, **plain, **more}
    found: dict[str, Any] = _melmo.regress(np.ascontiguousarray(scale * A), np.ascontiguousarray(scale * t.T).ravel(), asked)
    return found


def _started(asked: dict[str, Any], design: Design) -> tuple[Doubles, Doubles] | None:
    """Where a fit starts, in scaled units."""
    if asked["start"] is None:
        return None
    b, c = (np.array(part) for part in zip(*asked["start"]))
    return design.scaled_units(b, c)


def _of_squares(ranks: Ranks, X: Any, y: Doubles, weights: Doubles | None, asked: dict[str, Any]) -> dict[str, Any]:
    """Rows that are folded have the same path: rank 0 goes it."""
    if asked["offset"] is not None:
        y = y - np.asarray(asked["offset"])[:, None]
    folded = Folded.of(ranks, X, y, weights, asked["intercept"], asked["standardize"])
    started = _started(asked, folded.design)
    start = None if started is None else [(row.tolist(), 0.0) for row in started[0]]
    raw = ranks.told(lambda: _inside(asked, folded.A, folded.t, folded.design.rows, start=start))
    b = raw["coef"].reshape(len(raw["lambdas"]), y.shape[1], X.shape[1])
    for at, scaled in enumerate(b):
        c = folded.intercepts(scaled)
        b[at], raw["intercept"][at * len(c) : (at + 1) * len(c)] = folded.design.own_units(scaled, c)
    return {**raw, "coef": b.ravel()}


def _of_rows(ranks: Ranks, X: Any, y: Doubles, weights: Doubles | None, asked: dict[str, Any], outputs: int) -> dict[str, Any]:
    """Solution after solution, from λ_max downwards."""
    design = Design.of(ranks, X, asked["intercept"], asked["standardize"])
    stacked = np.ascontiguousarray(y.T).ravel()
    if asked["loss"] == "logistic":
        stacked = 2 * stacked - 1
    if asked["loss"] == "poisson" and ranks.sums(lambda: np.array([y.sum()]))[0] == 0:
        raise ValueError("y: counts that are all 0; expected a count above 0 in at least one row")
    newton = Newton(ranks, X, stacked, asked["loss"], outputs, weights, asked["offset"], design, asked["intercept"])
    inside = _of_outputs(asked, outputs)

    def inner(A: Doubles, t: Doubles, rows: int, lam: float | None, start: Doubles, rounds: int) -> dict[str, Any]:
        which = {"lambdas": None, "count": 1, "ratio": 1.0} if lam is None else {"lambdas": [lam]}
        begun = [(start.T.ravel().tolist(), 0.0)]
        return _inside(inside, A, t[:, None], rows, **which, start=begun, rounds=rounds, tolerance=0.1 * asked["tolerance"])

    most, tolerance = asked["rounds"], asked["tolerance"]
    top = newton.solve(inner, None, tolerance, most).lam
    lambdas = asked["lambdas"] or _downwards(top, asked["ratio"], asked["count"])
    started = _started(asked, design)
    if started is not None:
        newton.stand(*started)
    else:
        passed = STRIDE * top
        while passed * np.sqrt(STRIDE) > lambdas[0]:
            newton.solve(inner, passed, *ON_THE_WAY)
            passed *= STRIDE
    return _told(design, [newton.solve(inner, lam, tolerance, most) for lam in lambdas], top)


def _of_outputs(asked: dict[str, Any], outputs: int) -> dict[str, Any]:
    """Groups and factors of the coefficients of all outputs, those of a column after one another."""
    groups, factors = asked["groups"], asked["factors"]
    cols = 0 if factors is None else len(factors)
    if groups is not None and outputs > 1:
        cols = cols or sum(len(group) for group in groups)
        # A group counts by the root of its columns, not of its coefficients.
        factors = (np.ones(cols) if factors is None else np.asarray(factors)) / np.sqrt(outputs)
        groups = [[j * outputs + k for j in group for k in range(outputs)] for group in groups]
    return {**asked, "groups": groups, "factors": None if factors is None else np.repeat(factors, outputs).tolist()}


def _downwards(top: float, ratio: float, count: int) -> list[float]:
    top = top if top > 0 else 1.0
    return [top * ratio ** (i / max(1, count - 1)) for i in range(count)]


def _told(design: Design, points: list[Point], top: float) -> dict[str, Any]:
    """Solutions as `_melmo.regress` tells of them."""
    own = [design.own_units(point.b, point.c) for point in points]
    return {
        "lambda_max": top,
        "lambdas": np.array([point.lam for point in points]),
        "coef": np.concatenate([b.ravel() for b, _ in own]),
        "intercept": np.concatenate([c for _, c in own]),
        "objective": np.array([point.objective for point in points]),
        "violation": np.array([point.violation for point in points]),
        "rounds": np.array([point.steps for point in points], dtype=np.int64),
    }
