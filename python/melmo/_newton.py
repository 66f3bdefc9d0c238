"""Losses other than squares whose rows lie on ranks: quadratic models of the whole, minimised with the penalty, and steps towards their minimisers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from melmo import _melmo
from melmo._folded import Design, Doubles, expect_few
from melmo._communicator import Ranks

#: Halvings of a step, at most.
HALVINGS = 40
#: A step has to lower F by this part of what the model promises.
ARMIJO = 1e-3
#: What is added to the diagonal of a model next to its mean: flat directions have to end somewhere.
DAMPING = 1e-10

#: Solves rows A·b ≈ t with the penalty, each of n rows: (A, t, n, λ or None for λ_max, start, rounds) → what `_melmo.regress` answers.
Inner = Callable[[Doubles, Doubles, int, Any, Doubles, int], dict[str, Any]]


@dataclass
class Point:
    """Coefficients (of scaled columns, a row for every output), intercepts, and what is known of them."""

    b: Doubles
    c: Doubles
    lam: float = np.nan
    objective: float = np.nan
    violation: float = np.inf
    steps: int = 0


@dataclass(frozen=True)
class Model:
    """f near a point, on rank 0: ½‖A·b − t‖² and a constant, with the intercepts at their best. b has the outputs of a column side by side."""

    A: Doubles
    t: Doubles
    #: ∂f/∂c, the inverse of ∂²f/∂c², and ∂²f/∂c∂b: nothing without intercepts.
    slopes: Doubles
    inverse: Doubles
    mixed: Doubles

    def intercepts(self, moved: Doubles) -> Doubles:
        """How the intercepts answer where coefficients have moved so."""
        answer: Doubles = -self.inverse @ (self.slopes + self.mixed @ moved.ravel())
        return answer

    def misfit(self, b: Doubles) -> float:
        """½‖A·b − t‖²."""
        return 0.5 * float(np.square(self.A @ b.T.ravel() - self.t).sum())


class Newton:
    """One regression, as rank 0 leads it. Everybody calls the same methods in the same order."""

    def __init__(self, ranks: Ranks, X: Any, y: Doubles, loss: str, outputs: int, weights: Doubles | None, offset: Any, design: Design, intercept: bool):
        self.ranks, self.X, self.y, self.loss, self.design, self.intercept = ranks, X, y, loss, design, intercept
        self.shape = (outputs, X.shape[1])
        #: Outputs of a row bend together: classes.
        self.is_coupled = loss.startswith("multinomial")
        self.weights = weights
        self.offset = np.zeros((X.shape[0], 1)) if offset is None else np.asarray(offset, dtype=np.float64)[:, None]
        expect_few(ranks.size * (outputs * X.shape[1]) ** 2, f"models of {outputs}×{X.shape[1]} coefficients", ranks)
        self.at = Point(np.zeros(self.shape), np.zeros(outputs))
        self.margins = self.offset + np.zeros((X.shape[0], outputs))

    def stand(self, b: Doubles, c: Doubles) -> None:
        """Goes on from there."""
        self.at = Point(b.copy(), c.copy())
        self.margins = self.offset + self.ranks.agreed(lambda: self._images(b)) + c

    def _images(self, b: Doubles) -> Doubles:
        parts = [part @ b.T for _, part in self.design.stretches(self.X)]
        return np.vstack(parts) if parts else np.zeros((0, len(b)))

    def _look(self, margins: Doubles) -> tuple[float, Doubles, Doubles]:
        """This rank's summand of f, its slopes (a column for every output) and bends (for every two)."""
        rows, outputs = margins.shape
        if rows == 0 or (self.weights is not None and not self.weights.any()):
            return 0.0, np.zeros(margins.shape), np.zeros((rows, outputs, outputs))
        weights = None if self.weights is None else self.weights.tolist()
        value, *found = _melmo.row_slopes(self.loss, self.y, np.ascontiguousarray(margins.T).ravel(), margins.shape[1], weights)
        slopes, bends = (part.reshape(outputs, -1).T for part in found)
        if not self.is_coupled:
            return value, slopes, bends[:, :, None] * np.eye(outputs)
        weight = np.ones((rows, 1)) if self.weights is None else self.weights[:, None]
        # w(p − e) are the slopes, for probabilities p.
        chances = np.divide(slopes, weight, out=np.zeros_like(slopes), where=weight > 0) + np.eye(outputs)[self.y.astype(int)]
        both = chances[:, :, None] * np.eye(outputs) - chances[:, :, None] * chances[:, None, :]
        return value, slopes, weight[:, :, None] * both

    def _sums(self) -> Doubles:
        """Of all rows: f, its derivatives by c and b, and its second derivatives by c, by c and b, and by b."""
        value, slopes, bends = self._look(self.margins)
        outputs, cols = self.shape
        by_b, by_c, mixed = np.zeros(self.shape), bends.sum(axis=0), np.zeros((outputs, outputs, cols))
        second = np.zeros((outputs, cols, outputs, cols))
        pairs = [(k, at) for k in range(outputs) for at in range(outputs) if self.is_coupled or k == at]
        for rows, part in self.design.stretches(self.X):
            by_b += slopes[rows].T @ part
            mixed += np.einsum("ikl,ij->klj", bends[rows], part)
            for k, at in pairs:
                second[k, :, at] += (part.T * bends[rows, k, at]) @ part
        return np.concatenate([[value], slopes.sum(axis=0), by_b.ravel(), by_c.ravel(), mixed.ravel(), second.ravel()])

    def _model(self, sums: Doubles) -> Model:
        outputs, cols = self.shape
        size = outputs * cols
        slopes, gradient, by_c, mixed, second = np.split(sums, np.cumsum([outputs, size, outputs**2, outputs * size]))
        mixed, second = mixed.reshape(outputs, size), second.reshape(size, size)
        inverse = np.zeros((outputs, outputs))
        if self.intercept:
            inverse += np.linalg.pinv(by_c.reshape(outputs, outputs), hermitian=True)
        answers = inverse @ mixed
        R = _root(second - mixed.T @ answers)
        t = R @ self.at.b.ravel() - np.linalg.solve(R.T, gradient - slopes @ answers)
        return Model(R.reshape(size, outputs, cols).transpose(0, 2, 1).reshape(size, size), t, slopes, inverse, mixed)

    def solve(self, inner: Inner, lam: float | None, tolerance: float, most: int) -> Point:
        """Steps until no coefficient is farther from stationary than is allowed; without λ for the least with which all are 0."""
        step, flat = 0, False
        while True:
            sums = self.ranks.sums(self._sums)
            f, rows = float(sums[0]), self.design.rows

            def ahead(sums: Doubles = sums[1:], last: bool = step >= most or flat) -> Any:
                model = self._model(sums)
                found = float(inner(model.A, model.t, rows, None, self.at.b, 1000)["lambda_max"]) if lam is None else lam
                at = found or 1.0
                here = inner(model.A, model.t, rows, at, self.at.b, 0)
                violation = float(here["violation"][0])
                if self.intercept:
                    violation = max(violation, float(np.abs(model.slopes).max()) / (rows * at))
                penalty = float(here["objective"][0]) - model.misfit(self.at.b) / rows
                known = (found, f / rows + penalty, violation)
                if last or violation <= tolerance:
                    return (*known, None)
                target = inner(model.A, model.t, rows, at, self.at.b, 1000)
                b = target["coef"].reshape(self.shape[::-1]).T
                moved = b - self.at.b
                c = model.intercepts(moved)
                self.seen = (model, float(here["objective"][0]), inner, at)
                # What the model says of f + g, and of c alone.
                alone = 0.5 * float(model.slopes @ model.inverse @ model.slopes) / rows
                promise = float(target["objective"][0]) - float(here["objective"][0]) - alone
                return (*known, (b, c, promise))

            found, objective, violation, way = self.ranks.told(ahead)
            self.at = Point(self.at.b, self.at.c, found, objective, violation, step)
            if way is None:
                return self.at
            b, c, promise = way
            flat = not self._walk(b, c, promise, f)
            step += 1

    def _walk(self, b: Doubles, c: Doubles, promise: float, f: float) -> bool:
        """Towards b and by c, as far as F falls; false where it falls no more."""
        moved, rows = b - self.at.b, self.design.rows
        images = self.ranks.agreed(lambda: self._images(moved)) + c
        for halving in range(HALVINGS):
            part = 0.5**halving
            b_t = b if part == 1.0 else self.at.b + part * moved
            value = float(self.ranks.sums(lambda: np.array([self._look(self.margins + part * images)[0]]))[0])

            def lower() -> bool:
                model, before, inner, lam = self.seen
                there = float(inner(model.A, model.t, rows, lam, b_t, 0)["objective"][0])
                penalty = there - before - (model.misfit(b_t) - model.misfit(self.at.b)) / rows
                change, rounding = (value - f) / rows + penalty, 1e-14 * abs(f / rows)
                return bool(change <= ARMIJO * part * promise + rounding)

            if self.ranks.told(lower):
                self.at = Point(b_t, self.at.c + part * c)
                self.margins = self.margins + part * images
                return True
        return False


def _root(hessian: Doubles) -> Doubles:
    """An upper R with RᵀR = H, and a little on the diagonal of H."""
    typical = float(np.trace(hessian)) / len(hessian)
    damping = DAMPING * (typical if typical > 0 else 1.0)
    for _ in range(12):
        try:
            return np.asarray(np.linalg.cholesky(hessian + damping * np.eye(len(hessian))).T, dtype=np.float64)
        except np.linalg.LinAlgError:
            damping *= 100
    raise ValueError("X: its columns are so far apart in size that their squares are no numbers together: scale them, or standardize=True")
