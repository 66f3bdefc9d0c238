"""Terms that are not ours: LinearOperators of PyLops and SciPy, own losses, own proxes."""

import cvxpy
import numpy as np
import pylops
import pyproximal
from case import Case
from images import grid, picture, total_variation
from melmo import loss, operator, penalty
from peers import clarabel, l2, pyproximal_split
from scipy.fft import dct, idct
from scipy.sparse.linalg import LinearOperator
from signals import differences, grid_edges


def pylops_gradient(rng):
    y, T = picture(96) + 0.1 * rng.normal(size=(96, 96)), grid(96, 96)
    peers = {"pyproximal": total_variation(l2(y), y, 0.1, T)}
    return Case(loss.Masked(y), penalty.L1(0.1), T, y, peers=peers)


def pylops_curvature(rng):
    n, T = 400, pylops.SecondDerivative(400, kind="centered")
    y = np.interp(np.arange(n), np.arange(0, n + 1, 50), 3 * rng.normal(size=9)) + 0.2 * rng.normal(size=n)
    dense = T.todense()

    def program():
        x = cvxpy.Variable(n)
        return 0.5 * cvxpy.sum_squares(x - y) + 2.0 * cvxpy.norm1(dense @ x), x

    split = pyproximal_split(l2(y), pyproximal.L1(sigma=2.0), T, y.copy(), 4.01)
    return Case(loss.Masked(y), penalty.L1(2.0), T, y, peers={"clarabel": clarabel(program), "pyproximal": split})


def pylops_jumps(rng):
    n, T = 1000, pylops.FirstDerivative(1000, kind="forward")
    y = np.repeat(rng.normal(size=20), 50) + 0.2 * rng.normal(size=n)
    return Case(loss.Masked(y), penalty.MCP(0.6, 2.0), T, y, convex=False)


def scipy_cosines(rng):
    """A signal with few cosines, seen in part: T is SciPy's own transform."""
    n = 1024
    mask = (rng.random(n) < 0.5).astype(float)
    signal = idct(np.where(rng.random(n) < 0.02, 10 * rng.normal(size=n), 0.0), norm="ortho")
    y = mask * (signal + 0.05 * rng.normal(size=n))
    T = LinearOperator((n, n), matvec=lambda x: dct(np.ravel(x), norm="ortho"), rmatvec=lambda u: idct(np.ravel(u), norm="ortho"), dtype=float)  # fmt: skip
    A, W = pylops.Diagonal(mask), pylops.signalprocessing.DCT(n)
    f = pyproximal.L2(Op=A, b=y, niter=20)
    split = pyproximal_split(f, pyproximal.L1(sigma=0.1), W, y.copy(), 1.0, (A, y))
    return Case(loss.Masked(y, mask), penalty.L1(0.1), T, y, peers={"pyproximal": split})


def own_compressed(rng):
    """MCP with a loss of one's own, from 0: which entries are not 0 is decided early, and often wrongly."""
    A, x = rng.normal(size=(100, 300)) / 10, np.zeros(300)
    x[rng.choice(300, 25, replace=False)] = rng.choice([-1.0, 1.0], 25) * (1 + rng.random(25))
    b = A @ x + 0.02 * rng.normal(size=100)

    def f(x):
        r = A @ x - b
        return 0.5 * float(r @ r), A.T @ r

    return Case(f, penalty.MCP(0.1, 2.0), None, np.zeros(300), convex=False)


def own_counts(rng):
    """Counts: Σ exp(x) − yx, flat on a grid; nobody knows an L_f."""
    y = rng.poisson(np.where(np.hypot(*np.mgrid[-12:12, -12:12]) < 8, 12.0, 3.0)).astype(float)
    D = grid_edges(24, 24)

    def f(x):
        e = np.exp(x)
        return float((e - y * x).sum()), e - y

    def program():
        x = cvxpy.Variable(576)
        flat = y.ravel()
        return cvxpy.sum(cvxpy.exp(x)) - flat @ x + 1.5 * cvxpy.norm1(D @ x), x

    return Case(f, penalty.L1(1.5), operator.Difference2D((24, 24)), np.log(y + 1), peers={"clarabel": clarabel(program)})


def own_graph(rng):
    """A loss of one's own behind a graph: Σ √(1 + (x − y)²)."""
    D, y = grid_edges(20, 20), 2.0 * (np.arange(400) % 20 > 9) + 0.5 * rng.standard_t(2, 400)

    def f(x):
        s = np.sqrt(1 + (x - y) ** 2)
        return float(s.sum()), (x - y) / s

    def program():
        x = cvxpy.Variable(400)
        return cvxpy.sum(cvxpy.norm(cvxpy.vstack([np.ones(400), x - y]), axis=0)) + 0.5 * cvxpy.norm1(D @ x), x

    return Case(f, penalty.L1(0.5), D, y, peers={"clarabel": clarabel(program)})


class Absolute:
    """‖u − b‖₁."""

    def __init__(self, b):
        self.b = b

    def value(self, u):
        return float(np.abs(u - self.b).sum())

    def prox(self, u, beta):
        r = u - self.b
        return self.b + np.sign(r) * np.maximum(np.abs(r) - beta, 0)


def least_absolute(rng):
    """Least absolute deviations with a ridge: the data are in g, T is the design."""
    A = rng.normal(size=(300, 40))
    b = A @ rng.normal(size=40) + rng.standard_t(1.5, 300)

    def f(x):
        return 0.05 * float(x @ x), 0.1 * x

    f.lipschitz = 0.1

    def program():
        x = cvxpy.Variable(40)
        return 0.05 * cvxpy.sum_squares(x) + cvxpy.norm1(A @ x - b), x

    return Case(f, Absolute(b), operator.Dense(A), np.zeros(40), peers={"clarabel": clarabel(program)})


class Pinball:
    """Σ max(τr, (τ − 1)r), r = b − u."""

    def __init__(self, b, tau):
        self.b, self.tau = b, tau

    def value(self, u):
        r = self.b - u
        return float(np.maximum(self.tau * r, (self.tau - 1) * r).sum())

    def prox(self, u, beta):
        r = self.b - u
        return self.b - np.where(r > beta * self.tau, r - beta * self.tau, np.minimum(r + beta * (1 - self.tau), 0))


def quantile_trend(rng):
    """The 80 % quantile of a signal that bends rarely: a stack, two penalties, one of them own."""
    n, D = 200, differences(200, 2)
    y = np.interp(np.arange(n), np.arange(0, n + 1, 40), rng.normal(size=6)) + 0.3 * rng.gamma(1.0, size=n)

    def f(x):
        return 0.5e-3 * float(x @ x), 1e-3 * x

    f.lipschitz = 1e-3

    def program():
        x = cvxpy.Variable(n)
        r = y - x
        return 0.5e-3 * cvxpy.sum_squares(x) + cvxpy.sum(cvxpy.maximum(0.8 * r, -0.2 * r)) + 2.0 * cvxpy.norm1(D @ x), x

    T = operator.Stack(operator.Identity((n,)), operator.Sparse(D))
    names = [name for name, *_ in T.built.range]
    g = dict(zip(names, (Pinball(y, 0.8), penalty.L1(2.0)), strict=True))
    return Case(f, g, T, y, peers={"clarabel": clarabel(program)})


CASES = [
    pylops_gradient,
    pylops_curvature,
    pylops_jumps,
    scipy_cosines,
    own_compressed,
    own_counts,
    own_graph,
    least_absolute,
    quantile_trend,
]
