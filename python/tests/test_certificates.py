"""What a result promises: certificates, gaps, and a status that can be trusted."""

import numpy as np
import pytest

import melmo


def lasso(seed=0, rows=100, cols=40):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rows, cols))
    b = A @ np.where(np.arange(cols) % 5 == 0, 2.0, 0.0) + 0.3 * rng.standard_normal(rows)
    return A, b


def test_a_certificate_stops_auto_within_twenty_steps():
    y = 3 * np.random.default_rng(1).standard_normal((60, 20))
    result = melmo.minimize(melmo.loss.Masked(y), melmo.penalty.MCP(0.5, 2), epsilon=0.05)
    assert result.status == "certified" and result.nit <= 20
    assert result.certificate.claim == (0.05, 0.05, None) and result.certificate.verify().passed
    assert result.gap <= 1e-6 and result.certificate.passed(1e-6)


@pytest.mark.parametrize("method", ["auto", "coordinate-descent", "fista"])
def test_a_far_start_does_not_settle_early(method):
    A, b = lasso()
    f, g = melmo.loss.LeastSquares(A, b), melmo.penalty.L1(5.0)
    near = melmo.minimize(f, g)
    far = melmo.minimize(f, g, None, 1e6 * np.ones(40), method=method, max_iter=50_000)
    assert far.success and far.fun <= near.fun * (1 + 1e-5) and far.nit < 5000
    assert abs(far.fun - melmo.Problem(f, g).objective(far.x)) <= 1e-12 * far.fun


def test_a_far_start_with_a_loss_of_ones_own():
    A, b = lasso()

    def fun(x):
        r = A @ x - b
        return 0.5 * r @ r, A.T @ r

    near = melmo.minimize(melmo.loss.LeastSquares(A, b), melmo.penalty.L1(5.0))
    far = melmo.minimize(fun, melmo.penalty.L1(5.0), None, 1e6 * np.ones(40), max_iter=50_000)
    assert far.success and far.fun <= near.fun * (1 + 1e-5)
    assert far.gap is None and "convex" in far.certificate.no_gap


def test_columns_of_different_scales():
    A, b = lasso(3, 80, 20)
    A = A * np.logspace(0, -3, 20)
    result = melmo.minimize(melmo.loss.LeastSquares(A, b), melmo.penalty.L1(1e-3), gap=None)
    assert result.success and result.gap <= 1e-5 * result.fun


def test_phase_retrieval_does_not_settle_where_nothing_is_settled():
    rng = np.random.default_rng(5)
    A, truth = rng.standard_normal((60, 8)), rng.standard_normal(8)
    y = (A @ truth) ** 2

    def fun(x):
        p = A @ x
        r = p**2 - y
        return 0.25 * r @ r, A.T @ (r * p)

    for scale in (1.0, 1e3):
        result = melmo.minimize(fun, melmo.penalty.L1(1e-6), None, scale * rng.standard_normal(8), max_iter=3000)
        assert not result.success or result.certificate.passed(2e-6)


def test_gaps():
    A, b = lasso(2)
    f = melmo.loss.LeastSquares(A, b)
    for g in (melmo.penalty.L1(5.0), melmo.penalty.ElasticNet(5.0, 0.5), melmo.penalty.Ridge(3.0)):
        result = melmo.minimize(f, g, relative_gap=1e-6)
        assert result.status == "certified" and result.gap <= 1e-6 * result.fun
        assert result.certificate.claim.gap >= result.certificate.gap and result.certificate.verify().passed
    ridge = np.linalg.solve(A.T @ A + 3.0 * np.eye(40), A.T @ b)
    star = melmo.Problem(f, melmo.penalty.Ridge(3.0)).objective(ridge)
    assert result.fun - result.gap <= star + 1e-12 and star <= result.fun + 1e-12
    with pytest.raises(ValueError, match="convex"):
        melmo.minimize(f, melmo.penalty.MCP(5.0, 1e-4), gap=0.1)
    with pytest.raises(ValueError, match="one of them"):
        melmo.minimize(f, melmo.penalty.L1(5.0), gap=0.1, epsilon=0.1)


def test_x_has_the_zeros_of_z_and_fun_is_f_there():
    A, b = lasso(4)
    problem = melmo.Problem(melmo.loss.LeastSquares(A, b), melmo.penalty.L1(5.0))
    for method in ("scaled", "fista", "coordinate-descent"):
        result = problem.minimize(method=method)
        assert (result.x == 0).sum() >= 20, method
        assert result.fun == pytest.approx(problem.objective(result.x), rel=1e-12)


def test_what_is_said():
    y = np.arange(6.0)
    result = melmo.minimize(melmo.loss.Masked(y), melmo.penalty.L1(0.5))
    assert repr(result.certificate.verify()).startswith("reproduced")
    assert "least" in repr(result.certificate)
    again = melmo.Certificate.from_json(result.certificate.to_json())
    assert again == result.certificate and again.gap == result.certificate.gap
    with pytest.raises(ValueError, match="remember"):
        again.passed()
