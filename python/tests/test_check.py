"""`melmo.check` names what is wrong with a term, and a run that trusted one says so."""

import warnings
from collections import Counter

import numpy as np
import pytest

import melmo

Y = np.random.default_rng(0).standard_normal(12)


def squares(factor=1.0):
    return lambda x: (0.5 * ((x - Y) ** 2).sum(), factor * (x - Y))


class Mcp:
    """λ = 0.5, μ = 2: ρ = 0.5."""

    weak_convexity = 0.5

    def value(self, u):
        a = np.abs(u)
        return float(np.where(a <= 1, 0.5 * a - a**2 / 4, 0.25).sum())

    def prox(self, u, beta):
        a = np.abs(u)
        return np.where(a <= 1, np.sign(u) * np.maximum(a - 0.5 * beta, 0) / (1 - beta / 2), u)


class Forgotten(Mcp):
    weak_convexity = 0.0


class NoProx(Mcp):
    weak_convexity = 0.0

    def value(self, u):
        return float(np.abs(u).sum())

    def prox(self, u, beta):
        return 1e9 * u


class Short(NoProx):
    def prox(self, u, beta):
        return u[:3]


class Matrix:
    """A, with an adjoint that is so many times the right one."""

    shape = (8, 12)

    def __init__(self, factor=1.0):
        self.A, self.factor = np.random.default_rng(1).standard_normal(self.shape), factor

    def matvec(self, x):
        return self.A @ x

    def rmatvec(self, y):
        return self.factor * (self.A.T @ y)


def failures(checked):
    return [(wrong.term, wrong.law) for wrong in checked.failures]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_right_passes(dtype):
    checked = melmo.check(squares(), Mcp(), Matrix(), np.ones(12, dtype))
    assert checked.passed and bool(checked), checked
    assert {finding.term for finding in checked} == {"f", "g", "T"} and all(finding.tests > 0 for finding in checked)
    checked.raise_for_failure()
    assert melmo.Problem(melmo.loss.Masked(Y), melmo.penalty.MCP(0.5, 2.0)).check().passed


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_wrong_is_named(dtype):
    x0 = np.ones(12, dtype)
    assert failures(melmo.check(squares(2.0), Mcp(), x0=x0)) == [("f", "gradient")]
    assert failures(melmo.check(squares(-1.0), Mcp(), x0=x0)) == [("f", "gradient")]
    doubled = melmo.check(squares(), Mcp(), Matrix(2.0), x0)
    assert failures(doubled) == [("T", "adjoint")]
    assert "0.5000 times" in repr(doubled) and "FAILS  T adjoint" in repr(doubled)
    with pytest.raises(ValueError, match="T adjoint"):
        doubled.raise_for_failure()
    bounded = Matrix()
    bounded.norm_bound = 0.5
    assert failures(melmo.check(squares(), Mcp(), bounded, x0)) == [("T", "norm bound")]
    assert failures(melmo.check(squares(), NoProx(), x0=x0)) == [("g", "prox")]


def test_a_forgotten_weak_convexity_comes_with_the_pair_that_shows_it():
    (wrong,) = melmo.check(squares(), Forgotten(), x0=np.ones(12)).failures
    assert wrong.law == "weak convexity" and "ρ of 0.5" in wrong.advice
    a, b, g = wrong.witness["a"], wrong.witness["b"], Forgotten()
    assert a.shape == (12,) and g.value((a + b) / 2) > (g.value(a) + g.value(b)) / 2


def test_a_prox_of_the_wrong_length_is_a_finding():
    checked = melmo.check(squares(), Short(), x0=np.ones(12))
    assert failures(checked) == [("g", "answers")] and "expected 12 entries" in checked.failures[0].advice
    # The other terms had their turn.
    assert ("f", "gradient") in [(found.term, found.law) for found in checked]


@pytest.mark.parametrize("effort", [{"probes": -1}, {"probes": 1.5}, {"seed": -1}, {"tolerance": np.nan}])
def test_an_effort_that_makes_no_sense_is_refused(effort):
    (name,) = effort
    with pytest.raises(ValueError, match=name):
        melmo.check(squares(), Mcp(), x0=np.ones(12), **effort)


def test_the_first_look_costs_what_the_documents_say():
    calls = Counter()

    def counted(name, call):
        def counting(*arguments):
            calls[name] += 1
            return call(*arguments)

        return counting

    g, T = Mcp(), Matrix()
    g.value, g.prox = counted("values", g.value), counted("proxes", g.prox)
    T.matvec, T.rmatvec = counted("products", T.matvec), counted("products", T.rmatvec)
    problem = melmo.Problem(counted("gradients", squares()), g, T, np.ones(12))
    calls.clear()
    assert problem.check(np.ones(12), probes=0).passed
    assert calls == {"gradients": 25, "products": 11, "proxes": 9, "values": 219}


@pytest.mark.parametrize(
    "f, g, T, named",
    [
        (squares(-1.0), melmo.penalty.L1(0.1), None, "f gradient"),
        (squares(2.0), melmo.penalty.L1(0.1), None, "f gradient"),
        (squares(), melmo.penalty.L1(0.1), Matrix(2.0), "T adjoint"),
        (squares(), NoProx(), None, "g prox"),
        (squares(), Forgotten(), None, "g weak convexity"),
    ],
)
def test_a_run_names_the_term_that_led_it_astray(f, g, T, named):
    with pytest.warns(RuntimeWarning, match=named):
        result = melmo.minimize(f, g, T, np.ones(12), max_iter=50)
    assert not result.success and result.gap is None and result.certificate is None and "not what they say" in result.message


def test_a_doubled_adjoint_ends_somewhere_else_and_is_warned_of():
    def end(T):
        return melmo.minimize(squares(), melmo.penalty.L1(0.5), T, np.ones(12), max_iter=500)

    right = end(Matrix())
    with pytest.warns(RuntimeWarning, match="T adjoint"):
        wrong = end(Matrix(2.0))
    assert right.success and wrong.fun > right.fun + 0.2


def test_a_run_with_right_terms_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x0 in (np.ones(12), np.zeros(12, np.float32)):
            melmo.minimize(squares(), Mcp(), Matrix(), x0, max_iter=50)
            melmo.minimize(squares(), Mcp(), None, x0, max_iter=50)


def test_not_finite_points_to_check():
    def spoiled(x):
        value = 0.5 * ((x - Y) ** 2).sum()
        return (value, x - Y) if value > 1e-2 else (np.nan, x * np.nan)

    with pytest.warns(RuntimeWarning, match="melmo.check"):
        result = melmo.minimize(spoiled, melmo.penalty.L1(1e-6), x0=np.ones(12), max_iter=200)
    assert result.status == "not-finite"


class Absolute:
    """|u| with what is given as its prox."""

    weak_convexity = 0.0

    def __init__(self, prox):
        self.prox = prox

    def value(self, u):
        return float(np.abs(u).sum())


def soft(u, beta):
    return np.sign(u) * np.maximum(np.abs(u) - beta, 0)


NO_PROX = {
    "a constant": lambda u, beta: np.full_like(u, 1e9),
    "moved": lambda u, beta: u + 1000.0,
    "hard thresholds": lambda u, beta: np.where(np.abs(u) > beta, u, 0.0),
    "a forgotten beta": lambda u, beta: soft(u, 1.0),
    "zero": lambda u, beta: np.zeros_like(u),
}


@pytest.mark.parametrize("name", NO_PROX)
@pytest.mark.parametrize("asked", [{}, {"gap": 1e-6}, {"epsilon": 1e-3}])
def test_a_prox_that_is_none_is_no_success(name, asked):
    b = 10 * np.random.default_rng(3).standard_normal(40)
    with pytest.warns(RuntimeWarning, match="g prox"):
        result = melmo.minimize(melmo.loss.Masked(b), Absolute(NO_PROX[name]), **asked)
    assert not result.success and result.gap is None


def test_a_bound_above_the_objective_is_none():
    b = 10 * np.random.default_rng(3).standard_normal(40)
    problem = melmo.Problem(melmo.loss.Masked(b), Absolute(NO_PROX["a constant"]))
    run = problem.iterate(b, method="melmo", max_iter=5)
    next(run)
    certificate = run.certificate()
    assert certificate.optimality is None and "subgradient" in certificate.no_gap
    assert not certificate.verify() and not certificate.passed(1e-6)


def test_the_right_prox_is_a_success():
    b = 10 * np.random.default_rng(3).standard_normal(40)
    result = melmo.minimize(melmo.loss.Masked(b), Absolute(soft))
    assert result.success and np.allclose(result.x, soft(b, 1.0))


def noisy(u, beta):
    """The prox of |u|, computed to seven digits."""
    return soft(u, beta) * (1 + 1e-7 * np.sin(np.arange(u.size)))


class Box:
    """|u| ≤ 1/2, with room for rounding: a projection that is right."""

    weak_convexity = 0.0

    def value(self, u):
        return 0.0 if (np.abs(u) <= 0.5 + 1e-6).all() else np.inf

    def prox(self, u, beta):
        return np.clip(u, -0.5, 0.5)


class Single(Absolute):
    """|u| in single precision."""

    def value(self, u):
        return float(np.abs(u.astype(np.float32)).sum())


@pytest.mark.filterwarnings("ignore:the run trusted terms")
@pytest.mark.parametrize("g", [Absolute(noisy), Box(), Single(lambda u, beta: soft(u.astype(np.float32), beta).astype(float))])
@pytest.mark.parametrize("T", [None, np.random.default_rng(2).standard_normal((20, 30))])
def test_what_is_inexact_is_believed(g, T):
    b = np.random.default_rng(1).standard_normal(30)
    result = melmo.minimize(melmo.loss.Masked(b), g, T, max_iter=5000)
    assert result.certificate is not None and result.success == (result.status in ("settled", "certified"))
