"""Four that are known to be hard for the rule: residuals and coefficients without squares, and spikes behind blurs of several widths."""

import cvxpy
import numpy as np
from case import Case
from melmo import loss, operator, penalty
from others import Absolute
from peers import clarabel


def absolute_sparse(rng):
    """Least absolute residuals and the sizes of coefficients, by a stack: a linear program in disguise, no f."""
    rows, n = 300, 100
    A, x = rng.normal(size=(rows, n)), np.zeros(n)
    x[:8] = 3 * rng.normal(size=8)
    b = A @ x + 0.3 * rng.standard_t(1.5, rows)

    def program():
        v = cvxpy.Variable(n)
        return cvxpy.norm1(A @ v - b) + 5.0 * cvxpy.norm1(v) + 0.5e-3 * cvxpy.sum_squares(v), v

    T = operator.Stack(operator.Dense(A), operator.Identity((n,)))
    g = [Absolute(b), penalty.L1(5.0)]
    return Case(ridge, g, T, np.zeros(n), peers={"clarabel": clarabel(program)})


def ridge(x):
    """So small that only the L_f matters."""
    return 0.5e-3 * float(x @ x), 1e-3 * x


ridge.lipschitz = 1e-3


def _spikes(rng, width, g):
    """Spikes behind a Gaussian blur: columns that are nearly alike."""
    n, x = 200, np.zeros(200)
    x[rng.choice(n, 10, replace=False)] = rng.choice([-1.0, 1.0], 10) * (1 + rng.random(10))
    at = np.arange(n)
    A = np.exp(-((at[:, None] - at) ** 2) / (2 * width**2))
    return Case(loss.LeastSquares(A, A @ x + 0.05 * rng.normal(size=n)), g, None, np.zeros(n), convex=False)


def spikes_narrow(rng):
    return _spikes(rng, 2.0, penalty.MCP(0.3, 3.0))


def spikes_wide(rng):
    return _spikes(rng, 6.0, penalty.MCP(0.3, 3.0))


def spikes_scad(rng):
    return _spikes(rng, 4.0, penalty.SCAD(0.3, 3.7))


CASES = [absolute_sparse, spikes_narrow, spikes_wide, spikes_scad]
