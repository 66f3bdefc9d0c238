"""F* by another program: cvxpy's lies between the certificate's bound and F, on small problems of every kind that has one."""

import numpy as np
import pytest

import melmo

# Loud where it is absent: `pytest -rs` names it, as scripts/test_python asks it to.
cvxpy = pytest.importorskip("cvxpy", reason="F* is NOT COMPARED WITH CVXPY: pip install cvxpy")

SOLVER = {"solver": "CLARABEL", "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def regression(seed):
    rng = np.random.default_rng(seed)
    rows, cols = 12, 6 + seed % 9  # wide and tall
    A = rng.standard_normal((rows, cols))
    return A, A @ np.where(np.arange(cols) % 3 == 0, 1.5, 0.0) + 0.3 * rng.standard_normal(rows)


def lasso(seed):
    A, b = regression(seed)
    x = cvxpy.Variable(A.shape[1])
    return (melmo.loss.LeastSquares(A, b), melmo.penalty.L1(1.0)), 0.5 * cvxpy.sum_squares(A @ x - b) + cvxpy.norm1(x)


def elastic_net(seed):
    A, b = regression(seed)
    x = cvxpy.Variable(A.shape[1])
    g = 0.5 * cvxpy.norm1(x) + cvxpy.sum_squares(x)  # ν/2 = 1
    return (melmo.loss.LeastSquares(A, b), melmo.penalty.ElasticNet(0.5, 2.0)), 0.5 * cvxpy.sum_squares(A @ x - b) + g


def huber(seed):
    A, b = regression(seed)
    x = cvxpy.Variable(A.shape[1])
    f = 0.5 * cvxpy.sum(cvxpy.huber(A @ x - b, 0.5))
    return (melmo.loss.Huber(A, b, delta=0.5), melmo.penalty.L1(1.0)), f + cvxpy.norm1(x)


def logistic(seed):
    A, b = regression(seed)
    sign = np.sign(b)
    x = cvxpy.Variable(A.shape[1])
    f = cvxpy.sum(cvxpy.logistic(-cvxpy.multiply(sign, A @ x)))
    return (melmo.loss.Logistic(A, sign), melmo.penalty.L1(0.5)), f + 0.5 * cvxpy.norm1(x)


def variation(seed):
    y = np.random.default_rng(seed).standard_normal((6, 5))
    x = cvxpy.Variable((6, 5))
    tv = cvxpy.sum(cvxpy.abs(cvxpy.diff(x, axis=0))) + cvxpy.sum(cvxpy.abs(cvxpy.diff(x, axis=1)))
    terms = melmo.loss.Masked(y), melmo.penalty.L1(0.3), melmo.operator.Difference2D()
    return terms, 0.5 * cvxpy.sum_squares(x - y) + 0.3 * tv


def completion(seed):
    rng = np.random.default_rng(seed)
    y, mask = rng.standard_normal((6, 5)), (rng.random((6, 5)) < 0.7).astype(float)
    x = cvxpy.Variable((6, 5))
    g = melmo.penalty.L1(0.4, on="singular-values")
    f = 0.5 * cvxpy.sum_squares(cvxpy.multiply(mask, x - y))
    return (melmo.loss.Masked(y, mask), g), f + 0.4 * cvxpy.normNuc(x)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # to 1e-10 where 1e-7 is enough
@pytest.mark.parametrize("kind", [lasso, elastic_net, huber, logistic, variation, completion])
def test_f_star_lies_between_the_bound_and_f(kind):
    for seed in range(17):  # 204 certificates in all
        terms, objective = kind(seed)
        star = cvxpy.Problem(cvxpy.Minimize(objective)).solve(**SOLVER)
        for steps in (3, 2000):
            result = melmo.minimize(*terms, max_iter=steps, relative_gap=1e-8)
            room = 1e-7 * (1 + abs(star))  # cvxpy's own
            assert result.fun - result.gap <= star + room, (seed, steps)
            assert star <= result.fun + room, (seed, steps)
        if kind in (lasso, elastic_net, variation):
            assert result.gap <= 1e-6 * result.fun, seed
