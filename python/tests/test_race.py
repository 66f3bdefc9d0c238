"""A short race of methods where g is not convex: the lowest is kept, and told."""

import melmo
import numpy as np
import pytest


def spikes(n=100, width=3.0, seed=0):
    """Columns that are nearly alike, which the path of `auto` alone ends poorly at."""
    rng = np.random.default_rng(seed)
    x = np.zeros(n)
    x[rng.choice(n, n // 20, replace=False)] = 1 + rng.random(n // 20)
    A = np.exp(-(np.subtract.outer(np.arange(n), np.arange(n)) ** 2) / (2 * width**2))
    return melmo.loss.LeastSquares(A, A @ x + 0.05 * rng.normal(size=n))


G = melmo.penalty.MCP(0.3, 3.0)
#: Every method that `auto` may try on them.
METHODS = ["coordinate-graduated", "fista", "lbfgs", "reweighted", "dca", "tilted", "primal-dual", "metric"]


@pytest.mark.parametrize("width", [2.0, 3.0, 4.0])
def test_auto_is_no_higher_than_any_of_those_it_tries(width):
    f = spikes(width=width)
    auto = melmo.minimize(f, G, x0=np.zeros(100))
    lowest = min(melmo.minimize(f, G, x0=np.zeros(100), method=name, max_iter=1000).fun for name in METHODS)
    assert auto.fun <= 1.005 * lowest
    assert "race" in auto.reason or "ended lower" in auto.reason
    assert auto.certificate is not None and auto.certificate.passed(1e-5)


def test_it_ends_lower_than_the_first_alone():
    f = spikes(seed=2)
    auto = melmo.minimize(f, G, x0=np.zeros(100))
    first = melmo.minimize(f, G, x0=np.zeros(100), method=melmo.Problem(f, G, x0=np.zeros(100)).choose()[0])
    assert auto.fun < 0.99 * first.fun and auto.method != first.method
    again = melmo.minimize(f, G, x0=np.zeros(100), threads=2)
    assert np.array_equal(again.x, auto.x) and again.nit == auto.nit


@pytest.mark.parametrize("most", [0, 1, 30, 300])
def test_steps_are_those_of_all_together(most):
    seen = []
    found = melmo.minimize(spikes(), G, x0=np.zeros(100), max_iter=most, callback=lambda info: seen.append(info.k) and None)
    assert found.nit <= most and max(seen) <= most + 1 and seen == sorted(seen)


@pytest.mark.parametrize("end", [3, 60, 400])
def test_a_callback_ends_it_anywhere(end):
    found = melmo.minimize(spikes(), G, x0=np.zeros(100), callback=lambda info: info.k >= end)
    assert found.status == "stopped" and np.isfinite(found.fun) and found.nit <= end + 1


def test_who_names_a_method_or_has_a_convex_problem_gets_no_race():
    f = spikes()
    named = melmo.minimize(f, G, x0=np.zeros(100), method="fista")
    convex = melmo.minimize(f, melmo.penalty.L1(0.3), x0=np.zeros(100))
    assert named.reason is None and "ended lower" not in convex.reason and "race" not in convex.reason


def test_an_exception_of_a_callback_is_raised_from_a_rival_too():
    def fail(info):
        if info.k > 100:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        melmo.minimize(spikes(), G, x0=np.zeros(100), callback=fail)
