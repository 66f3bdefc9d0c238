"""Linear and quadratic programs in disguise: residuals without squares, behind stacks, tall, wide, along lines and on grids."""

import cvxpy
import numpy as np
import pylops
import scipy.sparse as sp
from case import Case
from harder import ridge
from images import picture
from melmo import loss, operator, penalty
from others import Absolute, Pinball
from peers import clarabel
from signals import differences, grid_edges


def _sparse_residuals(rng, rows, n, g, kink):
    """Residuals of which `kink` makes a penalty and a program, few coefficients."""
    A, x = rng.normal(size=(rows, n)), np.zeros(n)
    x[:8] = 3 * rng.normal(size=8)
    b = A @ x + 0.3 * rng.standard_t(1.5, rows)
    own, program = kink(b, A)

    def make():
        v = cvxpy.Variable(n)
        return program(v) + g * cvxpy.norm1(v) + 0.5e-3 * cvxpy.sum_squares(v), v

    T = operator.Stack(operator.Dense(A), operator.Identity((n,)))
    return Case(ridge, [own, penalty.L1(g)], T, np.zeros(n), peers={"clarabel": clarabel(make)})


def absolute_wide(rng):
    """Fewer rows than coefficients."""
    return _sparse_residuals(rng, 100, 300, 4.0, lambda b, A: (Absolute(b), lambda v: cvxpy.norm1(A @ v - b)))


def absolute_tall(rng):
    return _sparse_residuals(rng, 2000, 60, 20.0, lambda b, A: (Absolute(b), lambda v: cvxpy.norm1(A @ v - b)))


def quantile_square(rng):
    """The lower tenth, nearly as many coefficients as rows."""

    def kink(b, A):
        return Pinball(b, 0.1), lambda v: cvxpy.sum(cvxpy.maximum(0.1 * (b - A @ v), -0.9 * (b - A @ v)))

    return _sparse_residuals(rng, 400, 350, 1.5, kink)


def absolute_picture(rng):
    """A picture with pepper and salt, flat: residuals and differences along a grid, no squares at all."""
    y = picture(26).ravel()
    hit = rng.random(y.size) < 0.2
    y = np.where(hit, rng.integers(0, 2, y.size).astype(float), y)
    D = grid_edges(26, 26)

    def make():
        x = cvxpy.Variable(y.size)
        return cvxpy.norm1(x - y) + 0.8 * cvxpy.norm1(D @ x) + 0.5e-3 * cvxpy.sum_squares(x), x

    T = operator.Stack(operator.Identity((y.size,)), operator.Sparse(D))
    return Case(ridge, [Absolute(y), penalty.L1(0.8)], T, y, peers={"clarabel": clarabel(make)})


def absolute_bends(rng):
    """Outliers along a line that bends rarely: one sparse matrix, PyLops' second derivative below the identity."""
    n = 1500
    y = np.interp(np.arange(n), np.arange(0, n + 1, 150), 3 * rng.normal(size=11)) + 0.2 * rng.standard_t(1.2, n)
    D = sp.csr_matrix(pylops.SecondDerivative(n).matmat(np.eye(n)))
    T = sp.vstack([sp.eye(n), D]).tocsr()
    at = np.concatenate([y, np.zeros(n)])

    class Both:
        """‖u − y‖₁ + 10‖v‖₁."""

        scale = np.concatenate([np.ones(n), np.full(n, 10.0)])

        def value(self, u):
            return float((self.scale * np.abs(u - at)).sum())

        def prox(self, u, beta):
            r = u - at
            return at + np.sign(r) * np.maximum(np.abs(r) - beta * self.scale, 0)

    def make():
        x = cvxpy.Variable(n)
        return cvxpy.norm1(x - y) + 10 * cvxpy.norm1(D @ x) + 0.5e-3 * cvxpy.sum_squares(x), x

    return Case(ridge, Both(), T, y, peers={"clarabel": clarabel(make)})


def smooth_and_flat(rng):
    """A design with correlated columns, coefficients with few jumps and few of them not 0: a quadratic program."""
    n, A = 200, rng.normal(size=(150, 200))
    for j in range(1, n):
        A[:, j] = 0.9 * A[:, j - 1] + np.sqrt(0.19) * A[:, j]
    b = A @ np.repeat(rng.normal(size=10) * (rng.random(10) < 0.5), 20) + 0.5 * rng.normal(size=150)
    D = differences(n)

    def make():
        x = cvxpy.Variable(n)
        return 0.5 * cvxpy.sum_squares(A @ x - b) + 2.0 * cvxpy.norm1(x) + 8.0 * cvxpy.norm1(D @ x), x

    T = operator.Stack(operator.Identity((n,)), operator.Sparse(D))
    g = [penalty.L1(2.0), penalty.L1(8.0)]
    return Case(loss.LeastSquares(A, b), g, T, np.zeros(n), peers={"clarabel": clarabel(make)})


CASES = [absolute_wide, absolute_tall, quantile_square, absolute_picture, absolute_bends, smooth_and_flat]
