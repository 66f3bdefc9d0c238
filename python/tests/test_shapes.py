"""The shape of the start is the shape of x: what a penalty calls a row, and what a norm calls a matrix."""

import numpy as np
import pytest

import melmo

RNG = np.random.default_rng(0)
A = RNG.normal(size=(150, 120))
X = np.outer(RNG.normal(size=20), RNG.normal(size=6))
B = A @ X.reshape(-1)
F = melmo.loss.LeastSquares(A, B)


@pytest.mark.parametrize("on", ["rows", "columns", "singular-values"])
@pytest.mark.parametrize("loss", ["LeastSquares", "Huber"])
def test_a_penalty_sees_the_matrix_that_the_start_is(on, loss):
    g = melmo.penalty.L1(0.7, on=on)
    f = getattr(melmo.loss, loss)(A, B)
    x = RNG.normal(size=(20, 6))
    problem = melmo.Problem(f, g, x0=x)
    sizes = {
        "rows": np.linalg.norm(x, axis=1),
        "columns": np.linalg.norm(x, axis=0),
        "singular-values": np.linalg.svd(x, compute_uv=False),
    }
    assert problem.objective(x) == pytest.approx(f(x)[0] + 0.7 * sizes[on].sum())
    assert problem.minimize(x, max_iter=3).x.shape == (20, 6)
    assert np.allclose(problem.prox_point(x, 0.5), g.prox(x + 0.0, 0.5))


def test_a_nuclear_norm_finds_a_matrix_of_rank_one():
    result = melmo.minimize(F, melmo.penalty.L1(1e-2, on="singular-values"), x0=np.zeros((20, 6)), max_iter=2000)
    values = np.linalg.svd(result.x, compute_uv=False)
    assert np.linalg.norm(result.x - X) < 1e-2 and values[1] < 1e-2 * values[0]


def test_a_norm_of_the_steps_sees_it_too():
    result = melmo.minimize(F, melmo.penalty.L1(0.1), x0=np.zeros((20, 6)), geometry="spectral", method="melmo", max_iter=3)
    (norm,) = result.certificate.norms
    assert (norm.rows, norm.cols) == (20, 6) and result.certificate.verify()


def test_gradients_have_the_shape_of_x():
    value, gradient = F(X)
    assert gradient.shape == X.shape and np.allclose(gradient.reshape(-1), F(X.reshape(-1))[1]) and value < 1e-20


def test_a_start_of_another_shape_is_refused():
    problem = melmo.Problem(F, melmo.penalty.L1(0.1, on="rows"))
    assert problem.minimize(np.zeros(120), max_iter=1).x.shape == (120,)
    with pytest.raises(ValueError, match="shape"):
        problem.minimize(np.zeros((20, 6)), max_iter=1)
    with pytest.raises(ValueError, match="shape"):
        melmo.minimize(melmo.loss.Masked(np.ones((4, 3))), melmo.penalty.L1(0.1), x0=np.zeros((3, 4)))
    # Axes that are stacked are the same matrix.
    stacked = melmo.minimize(melmo.loss.Masked(np.ones((2, 2, 3))), melmo.penalty.L1(0.1), x0=np.zeros((4, 3)), max_iter=1)
    assert stacked.x.shape == (4, 3)
    x = RNG.normal(size=(2, 2, 3))
    nuclear = melmo.Problem(melmo.loss.Masked(x), melmo.penalty.L1(1.0, on="singular-values"))
    assert nuclear.objective(x) == pytest.approx(np.linalg.svd(x.reshape(4, 3), compute_uv=False).sum())
