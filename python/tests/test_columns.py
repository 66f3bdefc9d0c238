"""Several right-hand sides, operators on columns, mirror images outside of an image."""

import numpy as np
import pytest

import melmo
from melmo.operator import Columns, Convolution, Dense, Difference2D
from melmo.penalty import L1

rng = np.random.default_rng(11)
A, B = rng.standard_normal((20, 6)), rng.standard_normal((20, 3))


def test_several_right_hand_sides_are_solved_as_one_matrix():
    g = L1(2.0)
    together = melmo.minimize(melmo.loss.LeastSquares(A, B), g, tol=1e-9)
    assert together.x.shape == (6, 3) and together.success
    for j in range(3):
        alone = melmo.minimize(melmo.loss.LeastSquares(A, B[:, j]), g, tol=1e-9).x
        assert np.allclose(together.x[:, j], alone, atol=1e-6)
    f = melmo.loss.LeastSquares(A, B)
    X = rng.standard_normal((6, 3))
    value, gradient = f(X)
    assert value == pytest.approx(0.5 * ((A @ X - B) ** 2).sum()) and np.allclose(gradient, A.T @ (A @ X - B))
    assert f.lipschitz == melmo.loss.LeastSquares(A, B[:, 0]).lipschitz


def test_rows_of_the_matrix_are_chosen_together():
    """Multi-task lasso: scikit-learn's, whose loss is 1/n of this one."""
    linear = pytest.importorskip("sklearn.linear_model")
    found = melmo.minimize(melmo.loss.LeastSquares(A, B), L1(4.0, on="rows"), tol=1e-9).x
    theirs = linear.MultiTaskLasso(alpha=4.0 / 20, fit_intercept=False, tol=1e-10).fit(A, B).coef_.T
    assert np.allclose(found, theirs, atol=1e-5)


@pytest.mark.parametrize("kind", ["array", "sparse", "operator", "f32", "one column"])
def test_any_design_and_any_start(kind):
    sparse = pytest.importorskip("scipy.sparse")
    design, b, x0 = A, B, np.zeros((6, 3))
    if kind == "sparse":
        design = sparse.csr_matrix(A)
    elif kind == "operator":
        design = __import__("scipy.sparse.linalg").sparse.linalg.aslinearoperator(A)
    elif kind == "f32":
        design, b, x0 = A.astype(np.float32), B.astype(np.float32), None
    elif kind == "one column":
        b, x0 = B[:, :1], None
    result = melmo.minimize(melmo.loss.LeastSquares(design, b), L1(2.0), x0=x0)
    expected = melmo.minimize(melmo.loss.LeastSquares(A, B), L1(2.0), tol=1e-9).x[:, : b.shape[1]]
    assert result.x.shape == expected.shape and np.allclose(result.x, expected, atol=1e-2 if kind == "f32" else 1e-4)
    with pytest.raises(ValueError, match=r"got \(3, 6\)"):
        melmo.minimize(melmo.loss.LeastSquares(A, B), L1(), x0=np.zeros((3, 6)))


def test_an_operator_of_a_column_acts_on_every_column():
    D, X = np.diff(np.eye(6), axis=0), rng.standard_normal((6, 3))
    f = melmo.loss.LeastSquares(A, B)
    found = melmo.minimize(f, L1(1.0), D, max_iter=4000)
    by_hand = melmo.minimize(f, L1(1.0), np.kron(D, np.eye(3)), max_iter=4000)
    assert found.z.shape == (5, 3) and found.fun == pytest.approx(by_hand.fun, rel=1e-6)
    assert np.allclose(Dense(D) @ X, D @ X) and np.allclose(Columns(D)(X), D @ X)
    colour = rng.standard_normal((5, 4, 3))
    T = Columns(Difference2D())
    assert all(np.allclose(T(colour)["dx"].reshape(5, 4, 3)[..., c], Difference2D()(colour[..., c])["dx"]) for c in range(3))
    with pytest.raises(ValueError, match="number of columns, count"):
        Columns(D).norm_bound
    assert Columns(D, count=2).shape == (10, 12)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (5, 1), (1, 1)])
def test_a_convolution_continues_the_image_by_reflection(shape):
    signal = pytest.importorskip("scipy.signal")
    image, kernel = rng.standard_normal((9, 7)), rng.standard_normal(shape)
    T = Convolution(kernel, boundary="reflect")
    assert np.allclose(T(image), signal.convolve2d(image, kernel, mode="same", boundary="symm"))
    y = rng.standard_normal(image.shape)
    fixed = Convolution(kernel, image.shape, boundary="reflect")
    assert (fixed(image) * y).sum() == pytest.approx((image * fixed.adjoint(y)).sum())
    assert np.linalg.norm(fixed(image)) <= fixed.norm_bound * np.linalg.norm(image)


def test_reflection_leaves_no_dark_frame():
    """A blur of a constant is the constant, to the edge."""
    kernel = np.ones((3, 3)) / 9
    assert np.allclose(Convolution(kernel, boundary="reflect")(np.ones((6, 5))), 1.0)
    assert Convolution(kernel, boundary="zero")(np.ones((6, 5)))[0, 0] < 0.5
    assert Convolution(kernel, (6, 5), boundary="reflect").norm_bound == pytest.approx(1.0)
