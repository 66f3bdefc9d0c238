"""Signals and graphs: T = differences along a line or along edges."""

import cvxpy
import numpy as np
import pylops
import pyproximal
import scipy.sparse as sp
from case import Case
from melmo import loss, operator, penalty
from peers import clarabel, l2, pyproximal_split


def differences(n, order=1):
    D = sp.eye(n, format="csr")
    for _ in range(order):
        m = D.shape[0]
        D = (sp.eye(m - 1, m, 1) - sp.eye(m - 1, m)) @ D
    return D.tocsr()


def edges(rng, n, many):
    ends = rng.integers(0, n, (2, many))
    entries = (np.repeat([1.0, -1.0], many), (np.tile(np.arange(many), 2), ends.ravel()))
    return sp.coo_matrix(entries, (many, n)).tocsr()


def grid_edges(rows, cols):
    return sp.vstack([sp.kron(sp.eye(rows), differences(cols)), sp.kron(differences(rows), sp.eye(cols))]).tocsr()


def fused(y, D, lam):
    """½‖x − y‖² + λ‖Dx‖₁, for others."""

    def program():
        x = cvxpy.Variable(len(y))
        return 0.5 * cvxpy.sum_squares(x - y) + lam * cvxpy.norm1(D @ x), x

    norm = np.sqrt(abs(D).sum(0).max() * abs(D).sum(1).max())
    prox = pyproximal_split(l2(y), pyproximal.L1(sigma=lam), pylops.MatrixMult(D), y.copy(), norm)
    return {"clarabel": clarabel(program), "pyproximal": prox}


def trend_filter(rng):
    y = np.cumsum(np.cumsum(rng.normal(size=500) * (rng.random(500) < 0.02))) / 5 + 0.5 * rng.normal(size=500)
    D = differences(500, 2)
    return Case(loss.Masked(y), penalty.L1(20.0), operator.Dense(D.toarray()), y, peers=fused(y, D, 20.0))


def trend_filter_sparse(rng):
    n = 2000
    y = np.interp(np.arange(n), np.arange(0, n + 1, 100), 3 * rng.normal(size=21)) + 0.3 * rng.normal(size=n)
    D = differences(n, 2)
    return Case(loss.Masked(y), penalty.L1(5.0), D, y, peers=fused(y, D, 5.0))


def graph_fused(rng):
    D, y = edges(rng, 400, 1048), rng.normal(size=400) + 2.0 * (np.arange(400) > 200)
    return Case(loss.Masked(y), penalty.L1(0.3), D, y, peers=fused(y, D, 0.3))


def graph_large(rng):
    D, y = edges(rng, 5000, 12000), rng.normal(size=5000) + 2.0 * (np.arange(5000) > 2500)
    return Case(loss.Masked(y), penalty.L1(0.3), D, y, peers=fused(y, D, 0.3))


def graph_scad(rng):
    D, y = grid_edges(30, 30), np.zeros((30, 30))
    y[8:20, 5:25] = 2.0
    y = y.ravel() + 0.5 * rng.normal(size=900)
    return Case(loss.Masked(y), penalty.SCAD(0.6, 3.7), D, y, convex=False)


def long_signal(rng):
    D, y = differences(20000), np.repeat(rng.normal(size=200), 100) + 0.3 * rng.normal(size=20000)
    return Case(loss.Masked(y), penalty.L1(2.0), D, y, peers=fused(y, D, 2.0))


def jumps_long(rng):
    D, y = differences(5000), np.repeat(rng.normal(size=50), 100) + 0.3 * rng.normal(size=5000)
    return Case(loss.Masked(y), penalty.MCP(1.0, 1.5), D, y, convex=False)


def fused_lasso(rng):
    """Sparse and with few jumps: both at once, T stacked."""
    n, A = 200, rng.normal(size=(100, 200))
    x = np.zeros(n)
    x[40:60], x[120:150] = 1.0, -2.0
    b, D = A @ x + 0.5 * rng.normal(size=100), sp.vstack([2.0 * sp.eye(n), 10.0 * differences(n)]).tocsr()

    def program():
        x = cvxpy.Variable(n)
        return 0.5 * cvxpy.sum_squares(A @ x - b) + cvxpy.norm1(D @ x), x

    return Case(loss.LeastSquares(A, b), penalty.L1(1.0), D, np.zeros(n), peers={"clarabel": clarabel(program)})


def fused_logistic(rng):
    n, A = 150, rng.normal(size=(300, 150))
    x = np.zeros(n)
    x[30:60], x[90:110] = 0.5, -0.5
    b, D = np.where(rng.random(300) < 1 / (1 + np.exp(-A @ x)), 1.0, -1.0), differences(n)

    def program():
        x = cvxpy.Variable(n)
        return cvxpy.sum(cvxpy.logistic(cvxpy.multiply(-b, A @ x))) + 3.0 * cvxpy.norm1(D @ x), x

    return Case(loss.Logistic(A, b), penalty.L1(3.0), D, np.zeros(n), peers={"clarabel": clarabel(program)})


CASES = [
    trend_filter,
    trend_filter_sparse,
    graph_fused,
    graph_large,
    graph_scad,
    long_signal,
    jumps_long,
    fused_lasso,
    fused_logistic,
]
