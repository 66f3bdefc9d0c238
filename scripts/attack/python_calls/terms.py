"""Terms of problems, alone and such that fit together."""

from __future__ import annotations

from typing import Any

import melmo
import numpy as np
from values import Values, brief, sparse


class Terms(Values):
    """Draws terms."""

    def penalty(self) -> Any:
        made = self.pick(melmo.penalty.L1, melmo.penalty.MCP, melmo.penalty.SCAD, melmo.penalty.LogSum, melmo.penalty.Ridge)
        on = self.pick("entries", "entries", "entries", "rows", "columns", "singular-values")
        return self.pick(made(self.number()), made(), made(on=on), {"x": made()}, {"dx": made()}, Own())

    def penalty_text(self) -> Any:
        text = self.pick("l1", "mcp", "scad", "mcp:mu=2", "ridge", "log-sum", "elastic-net:nu=0.1", "nonnegative", "huber")
        if not self.wild:
            return self.pick(text, melmo.penalty.MCP(0.3, 2.0))
        return self.pick(text, text, text, melmo.penalty.MCP(0.3, 2.0), "mpc", "mcp:mu", "l1:lambda=1/0", "l1:lambda=-1", ":")

    def loss(self) -> Any:
        data = self.array(self.pick((4,), (3, 4), (4, 3)))
        return self.pick(
            lambda: melmo.loss.Masked(data),
            lambda: melmo.loss.LeastSquares(self.matrix(), self.array((5,))),
            lambda: melmo.loss.Factorization(data, rank=2),
            lambda: melmo.loss.RobustPCA(data),
            lambda: melmo.loss.Logistic(self.matrix(), self.pick([0, 1, 0, 1, 1], [1, -1, 1, -1, 1])),
            lambda: own_loss,
        )()

    def operator(self) -> Any:
        made = melmo.operator
        return self.pick(
            lambda: None,
            lambda: made.Difference2D(),
            lambda: made.Identity(4),
            lambda: made.Select(self.pick("W", "x", "L")),
            self.matrix,
            lambda: made.Stack(made.Identity(4), self.matrix()),
        )()

    def geometry(self) -> Any:
        name = self.pick(*[row["name"] for row in melmo.catalogue()["geometries"]])
        return self.pick(name, name, {"x": name}, {"W": name, "H": "l2"}, melmo.geometry.Spectral("svd"), melmo.geometry.L2())

    def start(self) -> Any:
        return self.pick(
            lambda: None,
            lambda: self.array((4,)),
            lambda: self.array((3, 4)),
            lambda: {"W": self.array((3, 2)), "H": self.array((2, 4))},
            lambda: {"L": self.array((3, 4)), "S": self.array((3, 4))},
            lambda: [np.zeros(4), np.ones(4)],
        )()

    def problem(self) -> tuple[str, list[Any]]:
        if self.wild:
            makers = (self.loss, self.penalty, self.operator, self.start)
            terms = [self.bad() if self.random.random() < 0.05 else make() for make in makers]
        else:
            terms = self.fitting()
        return ", ".join(map(brief, terms)), terms

    def fitting(self) -> list[Any]:
        """Terms that fit together."""
        g = self.pick(melmo.penalty.L1(0.3), melmo.penalty.MCP(0.3, 3.0), melmo.penalty.LogSum(), Own())
        rows = self.pick(g, melmo.penalty.SCAD(0.2, on="rows"), melmo.penalty.L1(0.2, on="singular-values"))
        A, Y = self.matrix(), self.array((3, 4))
        single, matrix = self.pick(None, self.array((4,))), self.pick(None, self.array((3, 4)))
        return self.pick(
            lambda: [melmo.loss.Masked(Y), rows, None, matrix],
            lambda: [melmo.loss.Masked(Y), g, melmo.operator.Difference2D(), matrix],
            lambda: [melmo.loss.LeastSquares(A, self.array((5,))), g, self.pick(None, np.eye(4)), single],
            lambda: [melmo.loss.LeastSquares(A, self.array((5,))), rows, None, self.array((2, 2))],
            lambda: [melmo.loss.Logistic(A, [0, 1, 0, 1, 1]), g, None, single],
            lambda: [melmo.loss.Huber(A, self.array((5,))), g, None, single],
            lambda: [melmo.loss.Factorization(Y, rank=2), g, melmo.operator.Select("W"), self.factors()],
            lambda: [melmo.loss.RobustPCA(Y), {"L": melmo.penalty.MCP(on="singular-values"), "S": g}, None, None],
            lambda: [own_loss, g, None, self.array((4,))],
            lambda: [own_loss, g, melmo.operator.Select("W"), self.factors()],
        )()

    def factors(self) -> Any:
        return {"W": self.array((3, 2)), "H": self.array((2, 4))}


class Own:
    """A penalty of one's own."""

    def value(self, u: Any) -> float:
        return float(np.abs(u).sum())

    def prox(self, u: Any, beta: float) -> Any:
        return np.sign(u) * np.maximum(np.abs(u) - beta, 0)


def own_loss(x: Any) -> Any:
    """A loss of one's own."""
    if isinstance(x, dict):
        return sum(float((part**2).sum()) / 2 for part in x.values()), x
    return float((x.astype(float) ** 2).sum()) / 2, x
