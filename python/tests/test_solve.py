"""The general solver: terms of the catalogue and of one's own, blocks by name, callbacks, iteration, progress."""

import numpy as np
import pytest

import melmo

Y = np.random.default_rng(0).standard_normal((6, 5))


class OwnL1:
    """λ‖u‖₁ in NumPy."""

    def __init__(self, lam):
        self.lam = lam
        self.calls = 0

    def value(self, u):
        return self.lam * np.abs(u).sum()

    def prox(self, u, beta):
        self.calls += 1
        return np.sign(u) * np.maximum(np.abs(u) - beta * self.lam, 0)


def squares(x):
    return 0.5 * ((x - Y) ** 2).sum(), x - Y


@pytest.mark.parametrize("row", melmo.catalogue()["methods"], ids=lambda row: row["name"])
def test_every_method_has_a_problem(row):
    factors = melmo.loss.Factorization(Y, rank=2, ridge=0.1)
    rng = np.random.default_rng(1)
    start = {"W": rng.standard_normal((6, 2)), "H": rng.standard_normal((2, 5))}
    parts = {"L": melmo.penalty.MCP(0.5, 3.0, on="singular-values"), "S": melmo.penalty.MCP(0.2, 3.0)}
    jobs = [
        (melmo.loss.Masked(Y), melmo.penalty.MCP(0.2, 3.0), None, None),
        (factors, melmo.penalty.MCP(0.2, 3.0), melmo.operator.Select("W"), start),
        (factors, melmo.penalty.MCP(0.2, 3.0), None, start),
        (melmo.loss.LeastSquares(Y, np.ones(6)), melmo.penalty.MCP(0.2, 3.0), None, None),
        (melmo.loss.Masked(Y), melmo.penalty.L1(0.2), melmo.operator.Difference2D(), None),
        (melmo.loss.RobustPCA(Y), parts, None, None),
    ]
    if row["name"] in ("als", "majorised"):  # their losses hold sparse entries, which estimators and the program make
        with pytest.raises(ValueError, match="needs"):
            melmo.minimize(*jobs[1], method=row["name"])
        return
    solved = 0
    for f, g, T, x0 in jobs:
        try:
            result = melmo.minimize(f, g, T, x0, method=row["name"], max_iter=50)
        except ValueError:
            continue  # A method for another kind of problem says so.
        assert result.method == row["name"] or row["name"] == "auto"
        assert np.isfinite(result.fun) and result.certificate.verify()
        solved += 1
    assert solved > 0


def test_own_terms_come_to_the_same_as_ours():
    ours = melmo.minimize(melmo.loss.Masked(Y), melmo.penalty.L1(0.3), x0=np.zeros_like(Y), method="melmo", max_iter=60)
    own = melmo.minimize(squares, OwnL1(0.3), x0=np.zeros_like(Y), method="melmo", max_iter=60)
    assert own.x.shape == Y.shape and np.allclose(own.x, ours.x, atol=1e-12)
    assert np.isclose(own.fun, ours.fun) and own.certificate.verify()
    answer = np.sign(Y) * np.maximum(np.abs(Y) - 0.3, 0)
    auto = melmo.minimize(squares, OwnL1(0.3), x0=np.zeros_like(Y))
    assert auto.method == "fista" and auto.success and np.allclose(auto.z, answer, atol=1e-6)


def test_every_block_keeps_its_oracle():
    f = melmo.loss.Factorization(Y, rank=2, ridge=0.1)
    rng = np.random.default_rng(1)
    start = {"W": rng.standard_normal((6, 2)), "H": rng.standard_normal((2, 5))}

    def end(w, h):
        geometry = {"W": melmo.geometry.Spectral(w), "H": melmo.geometry.Spectral(h)}
        found = melmo.minimize(f, melmo.penalty.L1(0.1), x0=start, geometry=geometry, method="melmo", max_iter=5)
        return np.concatenate([found.x["W"].ravel(), found.x["H"].ravel()])

    exact, rough = "svd", "newton-schulz:2"
    ends = [end(exact, exact), end(exact, rough), end(rough, exact), end(rough, rough)]
    assert all(not np.array_equal(a, b) for i, a in enumerate(ends) for b in ends[:i])


def test_a_target_ends_the_run():
    def run(**stops):
        return melmo.minimize(melmo.loss.Masked(Y), melmo.penalty.L1(0.3), x0=np.zeros_like(Y), method="melmo", **stops)

    full = run(max_iter=200)
    target = 1.01 * full.fun
    found = run(max_iter=200, target=target)
    assert found.status == "target" and found.success and found.fun <= target and found.nit < full.nit
    assert run(max_iter=found.nit - 1).fun > target
    missed = run(max_iter=20, target=0.0)
    assert missed.status == "iterations" and not missed.success


def test_weak_convexity_of_an_own_penalty_is_asked_for():
    class Own(OwnL1):
        weak_convexity = 0.5

    problem = melmo.Problem(squares, Own(0.3), x0=Y)
    assert problem.weak_convexity == 0.5
    with pytest.raises(ValueError, match="β"):
        problem.smoothed(Y, 2.0)


def test_operators_of_all_kinds_agree():
    sparse = pytest.importorskip("scipy.sparse")
    linalg = pytest.importorskip("scipy.sparse.linalg")
    A = np.random.default_rng(3).standard_normal((4, 7))
    A[A < 0.3] = 0.0
    b = np.random.default_rng(4).standard_normal(7)

    class Own:
        shape = A.shape
        norm_bound = float(np.linalg.norm(A, 2))

        def matvec(self, x):
            return A @ x

        def rmatvec(self, y):
            return A.T @ y

    kinds = [A, sparse.csr_matrix(A), sparse.coo_array(A), linalg.aslinearoperator(A), Own(), melmo.operator.Dense(A)]
    results = [
        melmo.minimize(melmo.loss.Masked(b), melmo.penalty.L1(0.2), T, np.zeros(7), method="melmo", max_iter=40)
        for T in kinds
    ]
    for result in results[1:]:
        assert np.allclose(result.x, results[0].x, atol=1e-10) and result.certificate.verify()
    designs = [melmo.minimize(melmo.loss.LeastSquares(design, A @ b), melmo.penalty.L1(0.05)) for design in kinds[:2]]
    assert np.allclose(designs[0].x, designs[1].x, atol=1e-5)


def test_pylops_operators():
    pylops = pytest.importorskip("pylops")
    D = pylops.FirstDerivative(7, kind="forward", edge=False)
    b = np.random.default_rng(4).standard_normal(7)
    result = melmo.minimize(melmo.loss.Masked(b), melmo.penalty.L1(0.2), D, max_iter=200)
    assert np.isfinite(result.fun) and result.z.shape == (D.shape[0],)


def test_blocks_are_dicts():
    f = melmo.loss.RobustPCA(Y)
    g = {"L": melmo.penalty.L1(0.5, on="singular-values"), "S": melmo.penalty.MCP(0.2, 3.0)}
    result = melmo.minimize(f, g, max_iter=300)
    assert set(result.x) == {"L", "S"} == set(result.z) and result.x["L"].shape == Y.shape
    assert result.certificate.verify()

    def fun(x):
        residual = x["L"] + x["S"] - Y
        return 0.5 * (residual**2).sum(), {"S": residual, "L": residual}

    start = {"L": np.zeros_like(Y), "S": np.zeros_like(Y)}
    own = melmo.minimize(fun, g, None, start, method="melmo", max_iter=30)
    ours = melmo.minimize(f, g, None, start, method="melmo", max_iter=30)
    assert np.allclose(own.x["S"], ours.x["S"], atol=1e-12)


def test_epsilon_certifies():
    result = melmo.minimize(
        melmo.loss.Masked(Y), melmo.penalty.MCP(0.2, 3.0), method="epoch-constant", epsilon=0.1, max_iter=100_000
    )
    assert result.status == "certified" and result.success and result.certificate.claim == (0.1, 0.1, None)
    assert result.certificate.dual_norm[1] <= 0.1 and result.certificate.prox_gap <= 0.1


def test_callback_sees_points_and_stops():
    seen = []

    def callback(info):
        seen.append(info)
        return info.k == 5

    result = melmo.minimize(melmo.loss.Masked(Y), melmo.penalty.L1(0.1), method="melmo", callback=callback)
    assert result.status == "stopped" and [info.k for info in seen] == [1, 2, 3, 4, 5]
    assert seen[0].x.shape == Y.shape and not np.array_equal(seen[0].x, seen[4].x)
    assert np.isclose(seen[4].fun, melmo.Problem(melmo.loss.Masked(Y), melmo.penalty.L1(0.1)).objective(seen[4].x))

    def stop(info):
        raise StopIteration

    assert melmo.minimize(melmo.loss.Masked(Y), melmo.penalty.L1(0.1), callback=stop).status == "stopped"


class Boom(Exception):
    pass


def raise_at(k):
    def callback(info):
        if info.k == k:
            raise Boom("no")

    return callback


def test_an_exception_in_a_callback_comes_back_with_the_result():
    with pytest.raises(Boom, match="no") as caught:
        melmo.minimize(melmo.loss.Masked(Y), melmo.penalty.L1(0.1), method="melmo", callback=raise_at(4))
    result = caught.value.result
    assert result.status == "raised" and result.nit == 3 and result.x.shape == Y.shape and np.isfinite(result.x).all()
    assert "raise_at" in "".join(str(entry) for entry in caught.traceback)


@pytest.mark.parametrize("method", ["auto", "melmo", "scaled", "epoch-constant"])
@pytest.mark.parametrize("where", ["f", "prox", "value", "matvec", "rmatvec"])
def test_an_exception_in_a_term_comes_back_with_the_result(method, where):
    class Failing(OwnL1):
        left = 12

        def fail(self, here):
            if here == where:
                self.left -= 1
                if self.left == 0:
                    raise Boom(here)

        def value(self, u):
            self.fail("value")
            return super().value(u)

        def prox(self, u, beta):
            self.fail("prox")
            return super().prox(u, beta)

    g = Failing(0.3)

    def fun(x):
        g.fail("f")
        return squares(x)

    class T:
        shape = (30, 30)
        norm_bound = 1.0

        def matvec(self, x):
            g.fail("matvec")
            return x

        def rmatvec(self, y):
            g.fail("rmatvec")
            return y

    with pytest.raises(Boom, match=where) as caught:
        melmo.minimize(fun, g, T(), np.zeros_like(Y), method=method, max_iter=200, trace_every=1)
    result = getattr(caught.value, "result", None)
    assert result is None or (result.status == "raised" and np.isfinite(result.x).all())
    assert melmo.minimize(squares, OwnL1(0.3), x0=Y, max_iter=50).success, "a failure does not stay behind"


def test_answers_of_the_wrong_kind_are_refused():
    with pytest.raises(TypeError, match="value, gradient"):
        melmo.minimize(lambda x: 3.0, OwnL1(1.0), x0=Y)
    with pytest.raises(ValueError, match="gradient of f"):
        melmo.minimize(lambda x: (3.0, np.zeros(3)), OwnL1(1.0), x0=Y)


def test_iterate():
    run = melmo.iterate(melmo.loss.Masked(Y), melmo.penalty.MCP(0.2, 3.0), method="melmo", max_iter=20)
    infos = list(run)
    assert [info.k for info in infos] == list(range(1, 22)) and run.method == "melmo"
    whole = melmo.minimize(melmo.loss.Masked(Y), melmo.penalty.MCP(0.2, 3.0), method="melmo", max_iter=20)
    assert np.array_equal(infos[-1].x, whole.certificate.x) and np.array_equal(run.x, whole.certificate.x)
    assert run.certificate().verify()
    assert not np.array_equal(infos[0].x, infos[1].x)


def test_iterate_raises_what_a_term_raises():
    def fun(x):
        raise Boom("now")

    with pytest.raises(Boom):
        list(melmo.iterate(fun, OwnL1(1.0), x0=Y, method="melmo", max_iter=3))


def test_several_starts():
    rng = np.random.default_rng(5)
    starts = [{"W": rng.standard_normal((6, 2)), "H": rng.standard_normal((2, 5))} for _ in range(4)]
    job = (melmo.loss.Factorization(Y, rank=2, ridge=0.1), melmo.penalty.MCP(0.2, 3.0), melmo.operator.Select("W"))
    one = melmo.minimize(*job, starts, max_iter=100)
    two = melmo.minimize(*job, starts, max_iter=100, n_jobs=2)
    assert len(one.runs) == 4 and one.fun == min(run.fun for run in one.runs)
    assert [run.fun for run in one.runs] == [run.fun for run in two.runs]


def test_progress():
    calls = []
    melmo.minimize(
        melmo.loss.Masked(np.random.default_rng(0).standard_normal((200, 200))),
        melmo.penalty.MCP(0.2, 3.0),
        melmo.operator.Difference2D(),
        method="melmo",
        max_iter=400,
        progress=lambda k, fun: calls.append((k, fun)),
    )
    assert calls == sorted(calls, key=lambda call: call[0]) and all(np.isfinite(fun) for _, fun in calls)
    tqdm = pytest.importorskip("tqdm")
    assert tqdm and melmo.minimize(melmo.loss.Masked(Y), melmo.penalty.L1(0.1), progress=True).success


def test_trace_and_plot():
    result = melmo.minimize(melmo.loss.Masked(Y), melmo.penalty.MCP(0.2, 3.0), method="melmo", max_iter=30, trace_every=1)
    assert list(result.trace["k"]) == list(range(1, 31)) and result.trace.dtype.names[:3] == ("epoch", "k", "F")
    pandas = pytest.importorskip("pandas")
    frame = result.trace.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 30
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert len(result.plot().axes) == 2


def test_a_certificate_travels():
    problem = melmo.Problem(melmo.loss.Masked(Y), melmo.penalty.MCP(0.2, 3.0))
    result = problem.minimize(method="melmo", max_iter=30)
    again = melmo.Certificate.from_json(result.certificate.to_json())
    assert again == result.certificate
    with pytest.raises(ValueError, match="remember"):
        again.verify()
    assert again.verify(problem, result.certificate.x).passed
    assert not again.verify(problem, result.certificate.x + 0.1).passed


class Equal:
    """u = c."""

    def __init__(self, c):
        self.c = c

    def value(self, u):
        return 0.0 if np.linalg.norm(u - self.c) <= 1e-9 else np.inf

    def prox(self, u, beta):
        return self.c.copy()


def test_a_constraint_is_kept_to_what_it_is_worth():
    """‖Tx − z‖ below 1e-6 of ‖Tx‖ was enough, and was 1.1e-6 of F."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        A, b, C, c = rng.normal(size=(120, 100)), rng.normal(size=120), rng.normal(size=(10, 100)), rng.normal(size=10)
        kkt = np.block([[A.T @ A, C.T], [C, np.zeros((10, 10))]])
        x, w = np.split(np.linalg.solve(kkt, np.concatenate([A.T @ b, c])), [100])
        least = 0.5 * np.sum((A @ x - b) ** 2)
        found = melmo.minimize(melmo.loss.LeastSquares(A, b), Equal(c), melmo.operator.Dense(C))
        price = 2 * np.linalg.norm(w) * np.linalg.norm(C @ found.x - c)
        assert found.success and 0.5 * np.sum((A @ found.x - b) ** 2) + price <= least * (1 + 1e-6)


def test_gradients_that_vanish_altogether_settle():
    """Exact data, and a penalty that is flat there: nothing is left that a tolerance could be next to."""
    rng = np.random.default_rng(0)
    A, x = rng.normal(size=(30, 6)), np.array([2.0, -3.0, 2.5, 4.0, -2.0, 3.0])
    for penalty in (melmo.penalty.MCP(1e-2, 3.0), melmo.penalty.SCAD(1e-2, 3.7)):
        found = melmo.minimize(melmo.loss.LeastSquares(A, A @ x), penalty)
        assert found.status == "settled" and found.nit < 100 and np.allclose(found.x, x), found


def test_minibatches_follow_from_the_seed_and_the_certificate_from_a_full_pass():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(500, 6)) / np.sqrt(500)
    f, g = melmo.loss.LeastSquares(A, A @ np.arange(6.0)), melmo.penalty.L1(0.01)

    def run(**options):
        return melmo.minimize(f, g, geometry="l2", method="stochastic", options={"batch": 16, **options}, max_iter=400, x0=np.zeros(6), tol=0)

    one, again, other = run(seed=3, momentum="storm"), run(seed=3, momentum="storm"), run(seed=4, momentum="storm")
    assert (one.x == again.x).all() and (one.x != other.x).any()
    assert one.certificate.verify().passed and one.fun < 0.2 * 0.5 * np.sum((A @ np.arange(6.0)) ** 2)
    assert np.linalg.norm(run(ball=2.0).x) <= 2.0 + 1e-9
    with pytest.raises(ValueError, match="batch"):
        run(batch=0)
