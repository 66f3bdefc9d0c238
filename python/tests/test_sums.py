"""Sums of penalties: exact where the prox is known, split where it is not; lists for a Stack; weights."""

import copy
import pickle

import numpy as np
import pytest

import melmo
from melmo.operator import Difference2D, Identity, Stack
from melmo.penalty import L1, MCP, SCAD, Box, ElasticNet, Huber, LogSum, Nonnegative, Ridge, Sum

rng = np.random.default_rng(3)
U = rng.standard_normal((4, 3))
W = np.array([0.0, 0.5, 1.0, 2.0, 0.3, 0.7, 1.5, 0.0, 1.0, 0.2, 3.0, 1.0]).reshape(4, 3)
GROUPS = [[0, 5, 7], [1, 2], [8, 9, 10, 11]]

KNOWN = [
    L1(0.3) + MCP(0.4, 2.0),
    MCP(0.4, 2.0) + L1(0.3, weights=W) + Ridge(0.5),
    L1(0.2) + L1(0.3, on="rows"),
    L1(0.2, weights=W) + SCAD(0.3, on="groups", groups=GROUPS) + Nonnegative(),
    L1(0.3, on="columns") + LogSum(0.2, on="columns"),
    Nonnegative() + Huber(0.5),
    SCAD(0.4, weights=W) + Box(-0.3, 0.6) + L1(0.1),
    L1(0.3, on="singular-values") + Ridge(0.4) + MCP(0.2, on="singular-values"),
    L1(0.3, on="nonnegative") + L1(0.2, on="rows"),
]
UNKNOWN = [
    MCP(0.4, 2.0) + SCAD(0.3),
    L1(0.2) + L1(0.3, on="singular-values"),
    L1(0.2, on="rows") + L1(0.3, on="columns"),
    Box(-1.0, 1.0) + L1(0.2, on="rows"),
]


@pytest.mark.parametrize("g", KNOWN, ids=repr)
def test_the_prox_is_that_of_the_sum(g):
    beta = 0.6 / max(g.weak_convexity, 1.0)
    z = g.prox(U, beta)
    assert np.isfinite(g.value(z))
    assert g.value(z) == pytest.approx(sum(part.value(z) for part in g.parts), abs=1e-12)

    def objective(v):
        return g.value(v) + ((v - U) ** 2).sum() / (2 * beta)

    least = objective(z)
    assert g.envelope(U, beta) == pytest.approx(least, rel=1e-12)
    tries = np.random.default_rng(5)
    for size in (1e-4, 1e-2, 0.3, 2.0):
        for _ in range(60):
            kept = tries.random(U.shape) < 0.7  # zeros stay zeros now and then
            moved = z + size * tries.standard_normal(U.shape) * kept
            for other in (moved, np.abs(moved), np.clip(moved, -0.3, 0.6)):
                assert objective(other) >= least - 1e-12
    single = g.prox(U.astype(np.float32), beta)
    assert single.dtype == np.float32 and np.allclose(single, z, atol=1e-5)


@pytest.mark.parametrize("g", UNKNOWN, ids=repr)
def test_a_sum_without_a_known_prox_says_so_and_is_solved_in_parts(g):
    with pytest.raises(ValueError, match="the prox of this sum is not known; minimize solves it"):
        g.prox(U)
    assert g.value(U) == pytest.approx(sum(part.value(U) for part in g.parts))
    f = melmo.loss.Masked(U)
    found = melmo.minimize(f, g, max_iter=4000)
    stacked = melmo.minimize(f, list(g.parts), Stack(*(Identity() for _ in g.parts)), max_iter=4000)
    assert found.fun == stacked.fun and np.array_equal(found.x, stacked.x)
    assert list(found.z) == ["0.x", "1.x"] and all(part.shape == U.shape for part in found.z.values())
    # No point nearby is better.
    F = melmo.Problem(f, g).objective
    tries = np.random.default_rng(6)
    at = np.clip(found.x, -1, 1) if any(isinstance(part, Box) for part in g.parts) else found.x
    assert all(F(at + 0.01 * tries.standard_normal(U.shape)) >= F(at) - 1e-5 for _ in range(200))


def test_what_has_a_name_is_that_penalty():
    f = melmo.loss.LeastSquares(rng.standard_normal((20, 12)), rng.standard_normal(20))
    for g, named in (
        (L1(0.3) + Ridge(0.5), ElasticNet(0.3, 0.5)),
        (L1(0.3) + L1(0.2), L1(0.5)),
        (MCP(0.3) + Nonnegative(), MCP(0.3, on="nonnegative")),
        (sum([L1(0.3), Ridge(0.5)]), ElasticNet(0.3, 0.5)),
    ):
        ours, theirs = melmo.minimize(f, g), melmo.minimize(f, named)
        assert ours.method == theirs.method and ours.fun == theirs.fun and np.array_equal(ours.x, theirs.x)


def test_a_sparse_group_lasso_has_its_optimum():
    A, b = rng.standard_normal((30, 12)), rng.standard_normal(30)
    g = L1(1.0) + L1(2.0, on="groups", groups=GROUPS)
    found = melmo.minimize(melmo.loss.LeastSquares(A, b), g)
    assert found.success and found.certificate.passed(1e-6) and bool(found.certificate.verify())
    x = np.zeros(12)
    step = 1 / np.linalg.norm(A, 2) ** 2
    for _ in range(5000):
        u = x - step * A.T @ (A @ x - b)
        u = np.sign(u) * np.maximum(np.abs(u) - step * 1.0, 0)
        for group in GROUPS:
            u[group] *= max(0.0, 1 - step * 2.0 / max(np.linalg.norm(u[group]), 1e-300))
        x = u
    assert np.allclose(found.x, x, atol=1e-6)


def test_parts_that_fit_together_stay_together():
    found = melmo.minimize(
        melmo.loss.Masked(U), L1(0.1) + L1(0.2, on="singular-values") + Ridge(0.3) + Nonnegative(), max_iter=50
    )
    assert list(found.z) == ["0.x", "1.x"]


class Own:
    def value(self, u):
        return 0.3 * np.abs(u).sum()

    def prox(self, u, beta):
        return np.sign(u) * np.maximum(np.abs(u) - 0.3 * beta, 0)


def test_penalties_of_ones_own_are_added_too():
    f, own = melmo.loss.Masked(U), Own()
    exact = melmo.minimize(f, L1(0.5)).x
    for g in (L1(0.2) + own, own + L1(0.2)):
        assert np.allclose(melmo.minimize(f, g, max_iter=3000).x, exact, atol=1e-4)
    with pytest.raises(TypeError, match="a sum: expected a penalty, got 3"):
        L1() + 3
    with pytest.raises(TypeError, match="MCP is a class"):
        L1() + MCP


def test_sums_are_values():
    g = L1(0.3) + MCP(0.4, 2.0) + Ridge()
    assert isinstance(g, Sum) and len(g.parts) == 3 and repr(g) == "L1(lam=0.3) + MCP(lam=0.4, mu=2.0) + Ridge()"
    for again in (pickle.loads(pickle.dumps(g)), copy.copy(g), copy.deepcopy(g)):
        assert again == g and hash(again) == hash(g) and repr(again) == repr(g)
    assert g != L1(0.3) + MCP(0.4, 2.0)
    problem = melmo.Problem(melmo.loss.Masked(U), L1() + L1(on="singular-values"))
    assert pickle.loads(pickle.dumps(problem)).minimize(max_iter=3).fun == problem.minimize(max_iter=3).fun
    assert problem.check().passed
    with pytest.raises(ValueError, match="no number is at least 2 and at most 1"):
        melmo.minimize(melmo.loss.Masked(U), Box(0, 1) + Box(2, 3))


def test_a_list_has_a_penalty_for_each_operator_of_a_stack():
    """Isotropic total variation of an image that is not negative: two operators, three blocks."""
    image = np.abs(rng.standard_normal((6, 5)))
    f, T = melmo.loss.Masked(image - 0.5), Stack(Identity(), Difference2D())
    found = melmo.minimize(f, [Nonnegative(), L1(0.2, on="pixels")], T, max_iter=5000)
    assert list(found.z) == ["0.x", "1.dx", "1.dy"] and (found.z["0.x"] >= 0).all()
    F = melmo.Problem(f, L1(0.2, on="pixels"), Difference2D()).objective
    at = np.maximum(found.x, 0)
    tries = np.random.default_rng(8)
    assert all(F(np.maximum(at + 0.01 * tries.standard_normal(at.shape), 0)) >= F(at) - 1e-6 for _ in range(200))
    inside = melmo.minimize(f, [Nonnegative() + L1(0.1), L1(0.2)], Stack([Identity(), Difference2D()]), max_iter=50)
    assert np.isfinite(inside.fun)


def test_weights_are_those_of_adaptive_penalties():
    A, b = rng.standard_normal((40, 6)), rng.standard_normal(40)
    w = np.array([1.0, 0.5, 2.0, 0.0, 1.0, 3.0])
    f = melmo.loss.LeastSquares(A, b)
    x = melmo.minimize(f, L1(2.0, weights=w)).x
    slope = A.T @ (b - A @ x)
    assert np.all(np.abs(slope) <= 2.0 * w + 1e-5) and np.allclose(slope[x != 0], (2.0 * w * np.sign(x))[x != 0], atol=1e-4)
    # Of rows, columns and pixels: a weight for each.
    rows, columns = np.array([1.0, 0.0, 2.0, 0.5]), np.array([1.0, 0.0, 2.0])
    norms = np.linalg.norm(U, axis=1), np.linalg.norm(U, axis=0)
    assert L1(0.5, on="rows", weights=rows).value(U) == pytest.approx(0.5 * rows @ norms[0])
    assert L1(0.5, on="columns", weights=columns).value(U) == pytest.approx(0.5 * columns @ norms[1])
    pair = {"dx": U, "dy": 2 * U}
    assert L1(0.5, on="pixels", weights=W).value(pair) == pytest.approx(0.5 * (W * np.hypot(U, 2 * U)).sum())
    assert MCP(0.5, 2.0, on="rows", weights=rows).weak_convexity == 1.0
    # A weight of 0 takes the penalty away, not the sign.
    z = L1(0.5, on="nonnegative", weights=W).prox(U - 1.0, 1.0)
    assert (z >= 0).all() and np.array_equal(z, np.maximum(U - 1.0 - 0.5 * W, 0))


def test_weights_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"weights: got the shape \(3, 4\), for a variable of the shape \(4, 3\)"):
        L1(weights=W.T).value(U)
    with pytest.raises(ValueError, match="weights of the groups: expected 4 entries, got 3"):
        L1(on="rows", weights=[1, 2, 3]).value(U)
    with pytest.raises(ValueError, match="weight = -1: must be at least 0"):
        L1(weights=-np.ones(3)).value(np.ones(3))
    with pytest.raises(ValueError, match="takes no weights"):
        L1(on="singular-values", weights=[1, 2, 3]).value(U)
    with pytest.raises(TypeError, match="lam: expected a number, .*weights="):
        L1(np.ones(3))
