"""Constraints as g: 0 in a set, ∞ outside it."""

import cvxpy
import numpy as np
import pylops
import pyproximal
from case import Case, quadratic
from melmo import loss, operator, penalty
from peers import clarabel, pyproximal_identity
from signals import differences


def below_zero(u):
    return float(np.linalg.norm(np.minimum(u, 0)))


def _isotonic(y, T):
    def program():
        x = cvxpy.Variable(len(y))
        return (0.5 * cvxpy.sum_squares(x - y), [cvxpy.diff(x) >= 0]), x

    kept = {"distance": below_zero, "smooth": quadratic(np.eye(len(y)), y), "matrix": differences(len(y)).toarray()}
    peers = {"clarabel": clarabel(program)}
    return Case(loss.Masked(y), penalty.Nonnegative(), T, np.zeros(len(y)), peers=peers, **kept)


def isotonic(rng):
    y = np.sort(rng.normal(size=200)) + 0.5 * rng.normal(size=200)
    return _isotonic(y, operator.Dense(differences(200).toarray()))


def isotonic_long(rng):
    y = np.sort(rng.normal(size=2000)) + 0.5 * rng.normal(size=2000)
    return _isotonic(y, differences(2000))


def box(rng):
    A, b, T = rng.normal(size=(60, 40)), rng.normal(size=60), rng.normal(size=(30, 40))

    def program():
        x = cvxpy.Variable(40)
        return (0.5 * cvxpy.sum_squares(A @ x - b), [cvxpy.abs(T @ x) <= 0.1]), x

    kept = {"distance": lambda u: float(np.linalg.norm(u - np.clip(u, -0.1, 0.1))), "smooth": quadratic(A, b), "matrix": T}
    peers = {"clarabel": clarabel(program)}
    return Case(loss.LeastSquares(A, b), penalty.Box(-0.1, 0.1), operator.Dense(T), np.zeros(40), peers=peers, **kept)


def nonnegative(rng):
    A, b = rng.random(size=(300, 200)), rng.normal(size=300) + 5

    def program():
        x = cvxpy.Variable(200)
        return (0.5 * cvxpy.sum_squares(A @ x - b), [x >= 0]), x

    kept = {"distance": below_zero, "smooth": quadratic(A, b), "matrix": np.eye(200)}
    f, squared = pyproximal.L2(Op=pylops.MatrixMult(A), b=b), 1.01 * np.linalg.norm(A, 2) ** 2
    peers = {"clarabel": clarabel(program), "pyproximal": pyproximal_identity(f, pyproximal.Box(0), 200, squared)}
    return Case(loss.LeastSquares(A, b), penalty.Nonnegative(), None, np.zeros(200), peers=peers, **kept)


def onto_simplex(u):
    falling = np.sort(u)[::-1]
    sums = np.cumsum(falling) - 1
    last = np.nonzero(falling * np.arange(1, len(u) + 1) > sums)[0][-1]
    return np.maximum(u - sums[last] / (last + 1), 0)


class Simplex:
    """x ≥ 0, Σx = 1."""

    def value(self, u):
        return 0.0 if np.linalg.norm(u - onto_simplex(u)) <= 1e-9 else np.inf

    def prox(self, u, beta):
        return onto_simplex(u)


def simplex(rng):
    A, b = rng.normal(size=(100, 80)), 0.2 * rng.normal(size=100)

    def program():
        x = cvxpy.Variable(80)
        return (0.5 * cvxpy.sum_squares(A @ x - b), [x >= 0, cvxpy.sum(x) == 1]), x

    kept = {
        "distance": lambda u: float(np.linalg.norm(u - onto_simplex(u))),
        "smooth": quadratic(A, b),
        "matrix": np.eye(80),
    }
    peers = {"clarabel": clarabel(program)}
    return Case(loss.LeastSquares(A, b), Simplex(), None, np.full(80, 1 / 80), peers=peers, **kept)


class Equal:
    """u = c."""

    def __init__(self, c):
        self.c = c

    def value(self, u):
        return 0.0 if np.linalg.norm(u - self.c) <= 1e-9 else np.inf

    def prox(self, u, beta):
        return self.c.copy()


def equality(rng):
    A, b, C, c = rng.normal(size=(120, 100)), rng.normal(size=120), rng.normal(size=(10, 100)), rng.normal(size=10)

    def program():
        x = cvxpy.Variable(100)
        return (0.5 * cvxpy.sum_squares(A @ x - b), [C @ x == c]), x

    kept = {"distance": lambda u: float(np.linalg.norm(u - c)), "smooth": quadratic(A, b), "matrix": C}
    peers = {"clarabel": clarabel(program)}
    return Case(loss.LeastSquares(A, b), Equal(c), operator.Dense(C), np.zeros(100), peers=peers, **kept)


CASES = [isotonic, isotonic_long, box, nonnegative, simplex, equality]
