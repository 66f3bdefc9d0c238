"""A problem of the suite: f(x) + g(Tx), what it is measured by, and who else can solve it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import melmo
import numpy as np


@dataclass
class Case:
    """f, g, T and x0 as `melmo.minimize` takes them."""

    f: Any
    g: Any
    T: Any = None
    x0: Any = None
    #: Convex: it has to come within 1e-6 of F*. Otherwise within 0.5 % of the lowest F that anybody found.
    convex: bool = True
    #: For a constraint, how far u is from the set that g allows.
    distance: Callable[[np.ndarray], float] | None = None
    #: For a constraint, f(x) and its gradient.
    smooth: Callable[[np.ndarray], tuple[float, np.ndarray]] | None = None
    #: T as a matrix, for a constraint.
    matrix: Any = None
    #: Other programs by name: what makes a `clock.Run` or several.
    peers: dict[str, Callable[[], Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.problem = melmo.Problem(self.f, self.g, self.T, self.x0)
        #: What a unit of distance from the set costs: above the norm of every multiplier, so that nobody gains by leaving it.
        self.price = 0.0

    @property
    def accuracy(self) -> float:
        """How far above F*, relative to it."""
        return 1e-6 if self.convex else 5e-3

    def settle_price(self, x: np.ndarray) -> None:
        """Twice the norm of the multiplier at a solution: T*w = −∇f(x)."""
        if self.distance is not None:
            slope = -self.smooth(np.ravel(x))[1]
            self.price = 2 * np.linalg.norm(np.linalg.lstsq(self.matrix.T, slope, rcond=None)[0])

    def merit(self, x: np.ndarray) -> float:
        """F(x); for a constraint f(x) plus a price on the distance: an exact penalty, which has the same minimum."""
        if self.distance is None:
            return self.problem.objective(x)
        x = np.ravel(x)
        return self.smooth(x)[0] + self.price * self.distance(self.matrix @ x)


def quadratic(A: np.ndarray, b: np.ndarray) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """½‖Ax − b‖² and its gradient."""

    def fun(x: np.ndarray) -> tuple[float, np.ndarray]:
        r = A @ x - b
        return 0.5 * float(r @ r), A.T @ r

    return fun
