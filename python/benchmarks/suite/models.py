"""Regressions and matrices: T = I."""

import numpy as np
import pylops
import pyproximal
import scipy.sparse as sp
import skglm as others
from case import Case
from melmo import loss, penalty
from peers import pyproximal_identity, skglm
from sklearn.datasets import load_breast_cancer
from skglm.solvers import AndersonCD, GroupBCD, ProxNewton


def design(rng, rows, cols, sparse=False, nonzero=20, noise=0.5):
    A = sp.random(rows, cols, 0.01, "csc", random_state=rng, data_rvs=lambda k: rng.normal(size=k)) if sparse else rng.normal(size=(rows, cols))
    x = np.zeros(cols)
    x[rng.choice(cols, nonzero, replace=False)] = rng.normal(size=nonzero) * (5 if sparse else 1)
    b = A @ x
    return A, b + noise * np.std(b) * rng.normal(size=rows)


def by_skglm(A, b, data, term, solver):
    """skglm's losses are means over rows: its λ is ours over their number."""
    X = sp.csc_matrix(A) if sp.issparse(A) else np.asfortranarray(A)

    def solve(tol):
        model = others.GeneralizedLinearEstimator(data(), term(), solver(tol))
        return np.ravel(model.fit(X, b).coef_)

    return skglm(solve)


def cyclic(tol):
    return AndersonCD(tol=tol, fit_intercept=False, max_iter=200)


def newton(tol):
    return ProxNewton(tol=tol, fit_intercept=False, max_iter=200)


def lasso(rng):
    A, b = design(rng, 200, 1000)
    lam, n = np.abs(A.T @ b).max() / 100, len(b)
    peer = by_skglm(A, b, others.datafits.Quadratic, lambda: others.penalties.L1(lam / n), cyclic)
    fista = pyproximal_identity(pyproximal.L2(Op=pylops.MatrixMult(A), b=b), pyproximal.L1(sigma=lam), 1000, _squared(A))
    peers = {"skglm": peer, "pyproximal": fista}
    return Case(loss.LeastSquares(A, b), penalty.L1(lam), None, np.zeros(1000), peers=peers)


def _squared(A):
    return 1.01 * float(np.linalg.norm(A, 2)) ** 2


def mcp(rng):
    A, b = design(rng, 200, 1000)
    A = A / np.linalg.norm(A, axis=0)
    lam, n = np.abs(A.T @ b).max() / 5, len(b)
    # skglm: λ|w| − w²/(2γ) next to ‖·‖²/(2n): γ = 3n·(1/n) in its units.
    peer = by_skglm(A, b, others.datafits.Quadratic, lambda: others.penalties.MCPenalty(lam / n, 3.0 * n), cyclic)
    return Case(loss.LeastSquares(A, b), penalty.MCP(lam, 3.0), None, np.zeros(1000), convex=False, peers={"skglm": peer})


def scad_sparse(rng):
    A, b = design(rng, 500, 20000, sparse=True)
    A = (A @ sp.diags(1 / np.maximum(sp.linalg.norm(A, axis=0), 1e-12))).tocsc()
    lam, n = np.abs(A.T @ b).max() / 10, len(b)
    # g/n with the same a: SCAD of skglm is λ²-homogeneous, so rows and b are scaled instead.
    root = np.sqrt(n)
    peer = by_skglm(A * root, b * root, others.datafits.Quadratic, lambda: others.penalties.SCAD(lam, 3.7), cyclic)
    return Case(loss.LeastSquares(A, b), penalty.SCAD(lam, 3.7), None, np.zeros(20000), convex=False, peers={"skglm": peer})


def group_lasso(rng):
    A, b = design(rng, 200, 600)
    groups = [list(range(i, i + 5)) for i in range(0, 600, 5)]
    lam = max(np.linalg.norm((A.T @ b)[group]) for group in groups) / 10
    n, pointers, order = len(b), np.arange(0, 601, 5, dtype=np.int32), np.arange(600, dtype=np.int32)
    datafit = lambda: others.datafits.QuadraticGroup(pointers, order)  # noqa: E731
    term = lambda: others.penalties.WeightedGroupL2(lam / n, np.ones(120), pointers, order)  # noqa: E731
    peer = by_skglm(A, b, datafit, term, lambda tol: GroupBCD(tol=tol, fit_intercept=False, max_iter=200))
    g = penalty.L1(lam, on="groups", groups=groups)
    return Case(loss.LeastSquares(A, b), g, None, np.zeros(600), peers={"skglm": peer})


def logistic_cancer(rng):
    data = load_breast_cancer()
    A, b = (data.data - data.data.mean(0)) / data.data.std(0), 2.0 * data.target - 1
    lam = 1e-4 * len(b)
    peer = by_skglm(A, b, others.datafits.Logistic, lambda: others.penalties.L1(1e-4), newton)
    return Case(loss.Logistic(A, b), penalty.L1(lam), None, np.zeros(A.shape[1]), peers={"skglm": peer})


def logistic(rng):
    A, b = design(rng, 1000, 5000)
    b = np.where(b > 0, 1.0, -1.0)
    lam = np.abs(A.T @ b).max() / 2 / 100
    peer = by_skglm(A, b, others.datafits.Logistic, lambda: others.penalties.L1(lam / len(b)), newton)
    return Case(loss.Logistic(A, b), penalty.L1(lam), None, np.zeros(5000), peers={"skglm": peer})


def _ratings(rng):
    truth = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 60))
    mask = (rng.random(truth.shape) < 0.4).astype(float)
    return truth, mask, mask * (truth + 0.1 * rng.normal(size=truth.shape))


def completion(rng):
    _, mask, y = _ratings(rng)
    return Case(loss.Masked(y, mask), penalty.L1(2.0, on="singular-values"), None, np.zeros(y.shape))


def completion_mcp(rng):
    """Singular values of which large ones are not shrunk: from 0 a poor local minimum is near."""
    _, mask, y = _ratings(rng)
    g = penalty.MCP(4.0, 2.0, on="singular-values")
    return Case(loss.Masked(y, mask), g, None, np.zeros(y.shape), convex=False)


CASES = [
    lasso,
    mcp,
    scad_sparse,
    group_lasso,
    logistic_cancer,
    logistic,
    completion,
    completion_mcp,
]
