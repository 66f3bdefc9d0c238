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


def test_from_zero_a_path_finds_what_was_measured():
    """MCP with a loss of one's own: from 0 plain steps end in a poor local minimum."""
    rng = np.random.default_rng(0)
    A, x = rng.normal(size=(100, 300)) / 10, np.zeros(300)
    x[rng.choice(300, 25, replace=False)] = rng.choice([-1.0, 1.0], 25) * (1 + rng.random(25))
    b = A @ x + 0.02 * rng.normal(size=100)

    def f(x):
        r = A @ x - b
        return 0.5 * float(r @ r), A.T @ r

    found = melmo.minimize(f, penalty.MCP(0.1, 2.0), x0=np.zeros(300))
    assert found.method == "fista-graduated" and found.success, found
    assert np.linalg.norm(found.x - x) <= 0.05 * np.linalg.norm(x)


def test_singular_values_that_are_not_shrunk_are_found_from_zero():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40))
    mask = (rng.random(truth.shape) < 0.5).astype(float)
    y = mask * (truth + 0.05 * rng.normal(size=truth.shape))
    found = melmo.minimize(loss.Masked(y, mask), penalty.MCP(3.0, 2.0, on="singular-values"), x0=np.zeros(y.shape))
    assert found.success and np.linalg.norm(found.x - truth) <= 0.05 * np.linalg.norm(truth), found


def test_holes_of_an_image_are_filled_from_a_smooth_point():
    rng = np.random.default_rng(0)
    truth = np.zeros((40, 40))
    truth[10:30, 15:35] = 1.0
    mask = (rng.random(truth.shape) < 0.5).astype(float)
    y = mask * (truth + 0.02 * rng.normal(size=truth.shape))
    f, g, T = loss.Masked(y, mask), penalty.MCP(0.05, 2.0), operator.Difference2D()
    found = melmo.minimize(f, g, T, y)
    assert found.fun <= melmo.minimize(f, g, T, y, method="admm").fun and np.abs(found.x - truth).mean() < 0.02, found


def test_a_loss_of_which_nothing_is_known_settles_behind_an_operator():
    """Counts, Σ exp(x) − yx: two levels move towards one another by λ over their lengths."""
    y = np.repeat([2.0, 9.0], 20)
    found = melmo.minimize(lambda x: (float((np.exp(x) - y * x).sum()), np.exp(x) - y), penalty.L1(3.0), steps(40), np.zeros(40))
    assert found.method == "primal-dual" and found.success, found
    np.testing.assert_allclose(found.x, np.log(np.repeat([2 + 3 / 20, 9 - 3 / 20], 20)), atol=1e-4)


def test_a_list_of_penalties_belongs_to_the_operators_of_a_stack():
    """A sum of penalties, Σ|x| and a box, has a closed form; differences make two blocks, which share an entrywise penalty."""
    y = np.array([3.0, -0.2, 0.7, -5.0])
    T = operator.Stack(operator.Identity((4,)), operator.Identity((4,)))
    found = melmo.minimize(loss.Masked(y), [penalty.L1(0.5), penalty.Box(0.0, 2.0)], T, y)
    np.testing.assert_allclose(found.x, [2.0, 0.0, 0.2, 0.0], atol=1e-5)
    image = np.arange(12.0).reshape(3, 4)
    T = operator.Stack(operator.Difference2D((3, 4)), operator.Identity((3, 4)))
    named = {"0.dx": penalty.L1(0.2), "0.dy": penalty.L1(0.2), "1.x": penalty.L1(0.1)}
    by_list = melmo.minimize(loss.Masked(image), [penalty.L1(0.2), penalty.L1(0.1)], T, image)
    assert np.isclose(by_list.fun, melmo.minimize(loss.Masked(image), named, T, image).fun, rtol=1e-9)
    with pytest.raises(ValueError, match="one for each operator of a Stack"):
        melmo.minimize(loss.Masked(image), [penalty.L1(0.2)], T, image)
    # What an operator makes is one thing to its penalty: pixels of both differences.
    pixels = melmo.Problem(loss.Masked(image), [penalty.L1(0.2, on="pixels"), penalty.L1(0.1)], T)
    both = operator.Difference2D()(image)
    assert np.isclose(pixels.objective(image), 0.2 * np.hypot(both["dx"], both["dy"]).sum() + 0.1 * image.sum())
    with pytest.raises(ValueError, match="no Stack"):
        melmo.minimize(loss.Masked(y), [penalty.L1(0.2)], operator.Identity((4,)), y)


def test_terms_of_a_stack_see_the_shapes_they_would_see_alone():
    """As a column, u − c would be a matrix, and an equality that holds would seem not to."""
    C, c = np.arange(12.0).reshape(3, 4) % 5, np.array([1.0, -2.0, 0.5])

    class Equal:
        def value(self, u):
            assert u.shape == c.shape
            return 0.0 if np.linalg.norm(u - c) <= 1e-9 else np.inf

        def prox(self, u, beta):
            return c.copy()

    T = operator.Stack(operator.Identity((4,)), operator.Dense(C))
    for g in ([penalty.L1(0.1), Equal()], {"0.x": penalty.L1(0.1), "1.y": Equal()}):
        found = melmo.minimize(loss.Masked(np.zeros(4)), g, T, np.zeros(4))
        assert found.success and np.allclose(C @ found.x, c, atol=1e-5)
