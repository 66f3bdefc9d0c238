"""Twelve more, made when races were: residuals without squares behind stacks, and kinds of which local minima are many."""

import cvxpy
import numpy as np
import pylops
from case import Case, quadratic
from constraints import below_zero
from harder import ridge
from images import ball, kernel, picture, projections
from melmo import loss, operator, penalty
from others import Absolute, Pinball
from peers import clarabel
from scipy.signal import convolve2d
from signals import differences, edges


def absolute_flat(rng):
    """Least absolute residuals, few jumps: an own prox and differences in a stack."""
    rows, n, D = 300, 100, differences(100).toarray()
    A, x = rng.normal(size=(rows, n)), np.repeat(rng.normal(size=10), 10)
    b = A @ x + 0.3 * rng.standard_t(1.5, rows)

    def program():
        v = cvxpy.Variable(n)
        return cvxpy.norm1(A @ v - b) + 5.0 * cvxpy.norm1(D @ v) + 0.5e-3 * cvxpy.sum_squares(v), v

    T = operator.Stack(operator.Dense(A), operator.Dense(D))
    return Case(ridge, [Absolute(b), penalty.L1(5.0)], T, np.zeros(n), peers={"clarabel": clarabel(program)})


def quantile_sparse(rng):
    """The upper fifth of what is left, few coefficients."""
    rows, n = 300, 100
    A, x = rng.normal(size=(rows, n)), np.zeros(n)
    x[:8] = 3 * rng.normal(size=8)
    b = A @ x + rng.standard_t(3, rows)

    def program():
        v = cvxpy.Variable(n)
        r = b - A @ v
        left = cvxpy.sum(cvxpy.maximum(0.8 * r, -0.2 * r))
        return left + 2.0 * cvxpy.norm1(v) + 0.5e-3 * cvxpy.sum_squares(v), v

    T = operator.Stack(operator.Dense(A), operator.Identity((n,)))
    return Case(ridge, [Pinball(b, 0.8), penalty.L1(2.0)], T, np.zeros(n), peers={"clarabel": clarabel(program)})


def blurred_jumps(rng):
    """Jumps not shrunk behind a blur, so few that most of the picture is one."""
    n = 48
    b = convolve2d(picture(n), kernel(), mode="same") + 0.01 * rng.normal(size=(n, n))
    f = loss.LeastSquares(operator.Convolution(kernel(), b.shape), b)
    return Case(f, penalty.MCP(0.003, 2.0), operator.Difference2D(), b, convex=False)


def projected_jumps(rng):
    """Twelve angles, SCAD of the differences."""
    n = 32
    A = projections(n, np.linspace(0, np.pi, 12, endpoint=False))
    b = A @ picture(n).ravel() + 0.1 * rng.normal(size=A.shape[0])
    return Case(loss.LeastSquares(A, b), penalty.SCAD(0.1, 3.7), operator.Difference2D((n, n)), np.zeros((n, n)), convex=False)


def volume_holes(rng):
    """Three voxels of five are missing, MCP."""
    y = ball(16) + 0.2 * rng.normal(size=(16, 16, 16))
    mask = (rng.random(y.shape) < 0.4).astype(float)
    return Case(loss.Masked(y * mask, mask), penalty.MCP(0.15, 2.0), operator.Difference3D(), y * mask, convex=False)


def graph_mcp(rng):
    D, y = edges(rng, 400, 1048), rng.normal(size=400) + 2.0 * (np.arange(400) > 200)
    return Case(loss.Masked(y), penalty.MCP(0.3, 3.0), D, y, convex=False)


def spikes_log(rng):
    """Columns that are nearly alike, log-sum."""
    n, x = 200, np.zeros(200)
    x[rng.choice(n, 10, replace=False)] = rng.choice([-1.0, 1.0], 10) * (1 + rng.random(10))
    A = np.exp(-(np.subtract.outer(np.arange(n), np.arange(n)) ** 2) / 18)
    g = penalty.LogSum(0.1, 0.3)
    return Case(loss.LeastSquares(A, A @ x + 0.05 * rng.normal(size=n)), g, None, np.zeros(n), convex=False)


def groups_mcp(rng):
    A, x = rng.normal(size=(100, 300)), np.zeros(300)
    x[10:15], x[100:105], x[200:205] = 1.0, -1.0, 0.5
    groups = [list(range(i, i + 5)) for i in range(0, 300, 5)]
    f = loss.LeastSquares(A, A @ x + 0.5 * rng.normal(size=100))
    return Case(f, penalty.MCP(15.0, 0.2, on="groups", groups=groups), None, np.zeros(300), convex=False)


def counted_jumps(rng):
    """Counts by a loss of one's own, MCP of the differences; nobody knows an L_f."""
    y = rng.poisson(np.where(np.hypot(*np.mgrid[-12:12, -12:12]) < 8, 12.0, 3.0)).astype(float)

    def f(x):
        e = np.exp(x)
        return float((e - y * x).sum()), e - y

    return Case(f, penalty.MCP(1.5, 1.0), operator.Difference2D((24, 24)), np.log(y + 1), convex=False)


def huber_mcp(rng):
    """Outliers in the target, columns correlated, MCP."""
    A, x = rng.normal(size=(200, 600)), np.zeros(600)
    for j in range(1, 600):
        A[:, j] = 0.7 * A[:, j - 1] + np.sqrt(0.51) * A[:, j]
    x[rng.choice(600, 20, replace=False)] = rng.normal(size=20)
    b = A @ x + rng.standard_t(1.5, 200)
    return Case(loss.Huber(A, b), penalty.MCP(15.0, 0.05), None, np.zeros(600), convex=False)


def pylops_picture(rng):
    """PyLops' gradient, MCP."""
    y = picture(40) + 0.1 * rng.normal(size=(40, 40))
    T = pylops.Gradient((40, 40), edge=True, kind="forward")
    return Case(loss.Masked(y), penalty.MCP(0.12, 2.0), T, y, convex=False)


def bounded_rise(rng):
    """Rises, and stays within bounds: differences and a box, by a stack."""
    n, D = 300, differences(300).toarray()
    y = np.linspace(-1.5, 1.5, n) ** 3 + 0.3 * rng.normal(size=n)

    def program():
        x = cvxpy.Variable(n)
        return (0.5 * cvxpy.sum_squares(x - y), [cvxpy.diff(x) >= 0, x >= -1, x <= 1]), x

    def distance(u):
        return float(np.hypot(below_zero(u[: n - 1]), np.linalg.norm(u[n - 1 :] - np.clip(u[n - 1 :], -1, 1))))

    T = operator.Stack(operator.Dense(D), operator.Identity((n,)))
    kept = {"distance": distance, "smooth": quadratic(np.eye(n), y), "matrix": np.vstack([D, np.eye(n)])}
    g = [penalty.Nonnegative(), penalty.Box(-1.0, 1.0)]
    return Case(loss.Masked(y), g, T, np.clip(y, -1, 1), peers={"clarabel": clarabel(program)}, **kept)


CASES = [
    absolute_flat,
    quantile_sparse,
    blurred_jumps,
    projected_jumps,
    volume_holes,
    graph_mcp,
    spikes_log,
    groups_mcp,
    counted_jumps,
    huber_mcp,
    pylops_picture,
    bounded_rise,
]
