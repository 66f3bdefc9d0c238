"""Ten more, made after the rule was: what `auto` has never been fitted to."""

import cvxpy
import numpy as np
import pylops
import pyproximal
import scipy.sparse as sp
from case import Case, quadratic
from constraints import Equal, Simplex, below_zero, onto_simplex
from images import ball, kernel, picture
from melmo import loss, operator, penalty
from peers import clarabel, l2, pyproximal_split
from scipy.signal import convolve2d
from scipy.sparse.linalg import LinearOperator
from signals import differences, grid_edges


def mixture(rng):
    """Shares of known densities: −Σ log Ax on the simplex. Nobody knows an L_f, and f ends where Ax ≤ 0."""
    centres, points = np.linspace(-4, 4, 40), np.concatenate([rng.normal(-2, 0.5, 150), rng.normal(1, 1.0, 250)])
    A = np.exp(-((points[:, None] - centres) ** 2) / (2 * 0.6**2))

    def f(x):
        t = A @ x
        if not (t > 0).all():
            return np.inf, np.full(40, np.nan)
        return -float(np.log(t).sum()), -(A.T @ (1 / t))

    def program():
        x = cvxpy.Variable(40)
        return (-cvxpy.sum(cvxpy.log(A @ x)), [x >= 0, cvxpy.sum(x) == 1]), x

    kept = {"distance": lambda u: float(np.linalg.norm(u - onto_simplex(u))), "smooth": f, "matrix": np.eye(40)}
    return Case(f, Simplex(), None, np.full(40, 1 / 40), peers={"clarabel": clarabel(program)}, **kept)


def convex_fit(rng):
    """A convex function through noisy values: second differences that are not negative."""
    n, D = 300, differences(300, 2)
    y = (np.linspace(-1, 1, n)) ** 2 + 0.1 * rng.normal(size=n)

    def program():
        x = cvxpy.Variable(n)
        return (0.5 * cvxpy.sum_squares(x - y), [cvxpy.diff(x, 2) >= 0]), x

    kept = {"distance": below_zero, "smooth": quadratic(np.eye(n), y), "matrix": D.toarray()}
    return Case(loss.Masked(y), penalty.Nonnegative(), D, y, peers={"clarabel": clarabel(program)}, **kept)


def portfolio(rng):
    """Shares that add up to one, each at most a tenth: an equality and a box, by a stack."""
    n, A = 100, rng.normal(size=(150, 100)) @ np.diag(0.5 + rng.random(100)) / 10
    b = A @ np.full(n, 0.02) + 0.1 * rng.normal(size=150)

    def program():
        x = cvxpy.Variable(n)
        return (0.5 * cvxpy.sum_squares(A @ x - b), [cvxpy.sum(x) == 1, x >= 0, x <= 0.1]), x

    def distance(u):
        return float(np.hypot(u[0] - 1, np.linalg.norm(u[1:] - np.clip(u[1:], 0, 0.1))))

    T = operator.Stack(operator.Dense(np.ones((1, n))), operator.Identity((n,)))
    kept = {"distance": distance, "smooth": quadratic(A, b), "matrix": np.vstack([np.ones(n), np.eye(n)])}
    g = [Equal(np.ones(1)), penalty.Box(0.0, 0.1)]
    return Case(loss.LeastSquares(A, b), g, T, np.full(n, 1 / n), peers={"clarabel": clarabel(program)}, **kept)


def volume_inpaint(rng):
    """Two voxels of five, isotropic."""
    y = ball(20) + 0.1 * rng.normal(size=(20, 20, 20))
    mask = (rng.random(y.shape) < 0.4).astype(float)
    D = sp.vstack([sp.csr_matrix(op) for op in _axes(20)])

    def program():
        x = cvxpy.Variable(8000)
        steps = cvxpy.reshape(D @ x, (8000, 3), order="F")
        seen = cvxpy.multiply(mask.ravel(), x - y.ravel())
        return 0.5 * cvxpy.sum_squares(seen) + 0.1 * cvxpy.sum(cvxpy.norm(steps, axis=1)), x

    g = penalty.L1(0.1, on="pixels")
    return Case(loss.Masked(y * mask, mask), g, operator.Difference3D(), y * mask, peers={"clarabel": clarabel(program)})


def _axes(n):
    D, one = sp.vstack([differences(n), sp.csr_matrix((1, n))]), sp.eye(n)
    return [sp.kron(sp.kron(D, one), one), sp.kron(sp.kron(one, D), one), sp.kron(sp.kron(one, one), D)]


def robust_graph(rng):
    """A loss of one's own without an L_f behind a graph, jumps not shrunk: Σ √(1 + (x − y)²) and MCP."""
    D, y = grid_edges(20, 20), 3.0 * (np.arange(400) % 20 > 9) + 0.4 * rng.standard_t(2, 400)

    def f(x):
        s = np.sqrt(1 + (x - y) ** 2)
        return float(s.sum()), (x - y) / s

    return Case(f, penalty.MCP(0.5, 2.0), D, y, convex=False)


def laplacian(rng):
    """PyLops' Laplacian as T: ‖T‖² is 64, and smooth pictures are nearly free."""
    n = 48
    y, T = picture(n) + 0.1 * rng.normal(size=(n, n)), pylops.Laplacian((n, n), edge=False)
    D = sp.csr_matrix(T.todense())

    def program():
        x = cvxpy.Variable(n * n)
        return 0.5 * cvxpy.sum_squares(x - y.ravel()) + 0.1 * cvxpy.norm1(D @ x), x

    split = pyproximal_split(l2(y), pyproximal.L1(sigma=0.1), T, y.ravel().copy(), 8.0)
    return Case(loss.Masked(y), penalty.L1(0.1), T, y, peers={"clarabel": clarabel(program), "pyproximal": split})


def bright_deblur(rng):
    """A blurred picture, flat in pieces and nowhere negative: a stack of differences and the identity, a penalty for each."""
    n = 64
    b = convolve2d(picture(n), kernel(), mode="same") + 0.01 * rng.normal(size=(n, n))
    A = pylops.signalprocessing.Convolve2D((n, n), kernel(), offset=(3, 3))
    T = operator.Stack(operator.Difference2D((n, n)), operator.Identity((n, n)))
    D, B = grid_edges(n, n), sp.csr_matrix(A.todense())

    def program():
        x = cvxpy.Variable(n * n)
        return (0.5 * cvxpy.sum_squares(B @ x - b.ravel()) + 0.002 * cvxpy.norm1(D @ x), [x >= 0]), x

    f = loss.LeastSquares(operator.Convolution(kernel(), b.shape), b)
    return Case(f, [penalty.L1(0.002), penalty.Nonnegative()], T, b, peers={"clarabel": clarabel(program)})


def hankel(rng):
    """Two decaying tones, seen in part: singular values of a Hankel matrix, T an operator of one's own, MCP."""
    n, rows = 127, 64
    t = np.arange(n)
    signal = np.exp(-t / 80) * np.cos(0.4 * t) + 0.7 * np.cos(1.1 * t)
    mask = (rng.random(n) < 0.5).astype(float)
    y = mask * (signal + 0.05 * rng.normal(size=n))
    place = np.add.outer(np.arange(rows), np.arange(n - rows + 1)).ravel()
    T = LinearOperator(
        (place.size, n), matvec=lambda x: np.ravel(x)[place], rmatvec=lambda u: np.bincount(place, np.ravel(u), n), dtype=float
    )
    return Case(loss.Masked(y, mask), _Singular(rows, 2.0, 4.0), T, y, convex=False)


class _Singular:
    """MCP of the singular values of a matrix."""

    def __init__(self, rows, lam, mu):
        self.rows, self.lam, self.mu = rows, lam, mu
        self.rho = self.weak_convexity = 1 / mu

    def value(self, u):
        s = np.linalg.svd(u.reshape(self.rows, -1), compute_uv=False)
        bent = np.minimum(s, self.mu * self.lam)
        return float((self.lam * bent - bent**2 / (2 * self.mu)).sum())

    def prox(self, u, beta):
        left, s, right = np.linalg.svd(u.reshape(self.rows, -1), full_matrices=False)
        shrunk = np.where(s <= self.mu * self.lam, np.maximum(s - beta * self.lam, 0) / (1 - beta / self.mu), s)
        return ((left * shrunk) @ right).ravel()


def rising_chances(rng):
    """Chances that rise with age: logistic, an order by differences."""
    n, D = 400, differences(400)
    b = np.where(rng.random(n) < 1 / (1 + np.exp(-np.linspace(-3, 3, n))), 1.0, -1.0)

    def f(x):
        t = -b * x
        return float(np.logaddexp(0, t).sum()) + 0.005 * float(x @ x), -b / (1 + np.exp(-t)) + 0.01 * x

    f.lipschitz = 0.26

    def program():
        x = cvxpy.Variable(n)
        return (cvxpy.sum(cvxpy.logistic(cvxpy.multiply(-b, x))) + 0.005 * cvxpy.sum_squares(x), [cvxpy.diff(x) >= 0]), x

    kept = {"distance": below_zero, "smooth": f, "matrix": D.toarray()}
    return Case(f, penalty.Nonnegative(), D, np.zeros(n), peers={"clarabel": clarabel(program)}, **kept)


def sensed_jumps(rng):
    """A picture of few levels from a third of as many random sums, SCAD of its differences, from 0."""
    n, x = 32, np.zeros((32, 32))
    x[6:20, 8:26], x[12:28, 4:14] = 1.0, -1.0
    A = rng.normal(size=(n * n // 3, n * n)) / n
    b = A @ x.ravel() + 0.01 * rng.normal(size=n * n // 3)
    return Case(loss.LeastSquares(A, b), penalty.SCAD(0.02, 3.7), operator.Difference2D((n, n)), np.zeros((n, n)), convex=False)


CASES = [
    mixture,
    convex_fit,
    portfolio,
    volume_inpaint,
    robust_graph,
    laplacian,
    bright_deblur,
    hankel,
    rising_chances,
    sensed_jumps,
]
