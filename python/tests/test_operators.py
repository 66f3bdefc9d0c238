"""`auto` on operators of people's own: as good as what they would use instead."""

import melmo
import numpy as np
import pytest
from melmo import loss, operator, penalty


def steps(n, order=1):
    return np.diff(np.eye(n), order, axis=0)


def test_monotone_regression_is_scikit_learns():
    isotonic = pytest.importorskip("sklearn.isotonic")
    rng = np.random.default_rng(0)
    y = np.linspace(0, 2, 150) + 0.5 * rng.normal(size=150)
    exact = isotonic.isotonic_regression(y)
    for start in (np.zeros(150), y):
        found = melmo.minimize(loss.Masked(y), penalty.Nonnegative(), operator.Dense(steps(150)), start)
        assert found.success, found
        np.testing.assert_allclose(found.x, exact, atol=1e-4)
        assert np.isclose(found.fun, 0.5 * np.sum((exact - y) ** 2), rtol=1e-4)
        assert (found.z >= 0).all()


def test_a_box_behind_a_matrix_is_kept():
    rng = np.random.default_rng(1)
    A, b, T = rng.normal(size=(60, 40)), rng.normal(size=60), rng.normal(size=(30, 40))
    found = melmo.minimize(loss.LeastSquares(A, b), penalty.Box(-0.1, 0.1), operator.Dense(T), np.zeros(40))
    assert found.success and np.isfinite(found.fun), found
    assert np.abs(T @ found.x).max() <= 0.1 + 1e-5


def test_a_trend_filter_reaches_a_small_gap_in_seconds():
    rng = np.random.default_rng(2)
    y = 5 * np.abs(np.sin(np.arange(400) / 40)) + 0.3 * rng.normal(size=400)
    found = melmo.minimize(loss.Masked(y), penalty.L1(10.0), operator.Dense(steps(400, 2)), y)
    assert found.success and found.nit < 5000, found
    assert found.gap <= 1e-5 * found.fun


@pytest.mark.parametrize("mu", [None, 2.0])
def test_no_method_is_far_below_auto(mu):
    rng = np.random.default_rng(3)
    y = np.repeat(rng.normal(size=10), 20) + 0.2 * rng.normal(size=200)
    g = penalty.L1(0.5) if mu is None else penalty.MCP(0.5, mu)
    T, f = operator.Dense(steps(200)), loss.LeastSquares(np.eye(200), y)
    auto = melmo.minimize(f, g, T, y).fun
    for method in ("admm", "primal-dual", "tilted", "scaled"):
        assert auto <= melmo.minimize(f, g, T, y, method=method).fun * 1.005, method
