"""Complex data: x complex, penalties of moduli, certificates as ever."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import melmo
from melmo.loss import LeastSquares, Masked
from melmo.operator import Difference2D, Identity, Stack
from melmo.penalty import L1, MCP, SCAD, Ridge

rng = np.random.default_rng(3)


def draw(*shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def soft(z, level):
    return z * np.maximum(0, 1 - level / np.maximum(np.abs(z), 1e-300))


z = draw(9)
C, c = draw(30, 8), draw(30)


def test_soft_thresholds_of_moduli():
    found = melmo.minimize(Masked(z), L1(0.5))
    assert np.iscomplexobj(found.x) and np.allclose(found.x, soft(z, 0.5), atol=1e-9)
    assert found.success and found.gap < 1e-9 and found.certificate.verify()
    assert found.fun == pytest.approx(0.5 * np.linalg.norm(found.x - z) ** 2 + 0.5 * np.abs(found.x).sum())
    weights = np.arange(1, 10)
    assert np.allclose(melmo.minimize(Masked(z), L1(0.2, weights=weights)).x, soft(z, 0.2 * weights), atol=1e-9)
    assert np.allclose(melmo.minimize(Masked(z), L1(0.3) + Ridge(1.0)).x, soft(z, 0.3) / 2, atol=1e-9)
    single = melmo.minimize(Masked(z.astype(np.complex64)), L1(0.5)).x
    assert single.dtype == np.complex64 and np.allclose(single, soft(z, 0.5), atol=1e-4)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix, aslinearoperator])
def test_a_complex_lasso(kind):
    found = melmo.minimize(LeastSquares(kind(C), c), L1(8.0), tol=1e-9)
    x, step = np.zeros(8, complex), 1 / np.linalg.norm(C, 2) ** 2
    for _ in range(3000):
        x = soft(x - step * C.conj().T @ (C @ x - c), 8.0 * step)
    assert np.allclose(found.x, x, atol=1e-6) and np.array_equal(found.x == 0, x == 0) and (x == 0).any()
    assert found.success and found.gap < 1e-4 * found.fun and found.certificate.verify()
    value, gradient = LeastSquares(kind(C), c)(x)
    assert value == pytest.approx(0.5 * np.linalg.norm(C @ x - c) ** 2) and np.allclose(gradient, C.conj().T @ (C @ x - c))


@pytest.mark.parametrize("penalty", [L1(1e-4), MCP(1e-2, 3.0), SCAD(1e-2, 3.7)])
def test_a_signal_from_some_of_its_frequencies(penalty):
    n, keep = 256, np.sort(rng.choice(256, 72, replace=False))
    signal = np.zeros(n, complex)
    signal[rng.choice(n, 6, replace=False)] = draw(6) + 2

    def spread(y):
        w = np.zeros(n, complex)
        w[keep] = np.ravel(y)
        return np.fft.ifft(w, norm="ortho")

    F = LinearOperator((72, n), matvec=lambda x: np.fft.fft(np.ravel(x), norm="ortho")[keep], rmatvec=spread, dtype=complex)
    found = melmo.minimize(LeastSquares(F, F.matvec(signal)), penalty)
    assert found.success, found.message
    assert np.array_equal(found.x != 0, signal != 0) and np.allclose(found.x, signal, atol=2e-3)


def test_images_by_their_transforms():
    """b and x may be images, of an operator between flat vectors; for a unitary one x = F*b, thresholded."""

    def matvec(x):
        return np.fft.fft2(np.reshape(x, (6, 5)), norm="ortho").ravel()

    def rmatvec(y):
        return np.fft.ifft2(np.reshape(y, (6, 5)), norm="ortho").ravel()

    F, b = LinearOperator((30, 30), matvec=matvec, rmatvec=rmatvec, dtype=complex), draw(6, 5)
    found = melmo.minimize(LeastSquares(F, b), L1(0.5), x0=np.zeros((6, 5), complex)).x
    assert found.shape == (6, 5) and np.allclose(found, soft(np.fft.ifft2(b, norm="ortho"), 0.5), atol=1e-6)
    assert melmo.minimize(LeastSquares(F, b), L1(0.5)).x.shape == (30,)


def test_real_and_complex_may_be_mixed():
    x = draw(8)
    # A real matrix acts on both parts; complex data may have a real x.
    found = melmo.minimize(LeastSquares(C.real, C.real @ x), L1(1e-6)).x
    assert np.allclose(found, x, atol=1e-5)
    for A in (C, scipy.sparse.csr_matrix(C), aslinearoperator(C)):
        found = melmo.minimize(LeastSquares(A, C @ x.real), L1(1e-6), x0=np.zeros(8)).x
        assert found.dtype == float and np.allclose(found, x.real, atol=1e-5)
    found = melmo.minimize(LeastSquares(C.real, C.real @ x.real), L1(1e-6), x0=np.zeros(8, complex)).x
    assert np.iscomplexobj(found) and np.allclose(found, x.real, atol=1e-5)
    several = melmo.minimize(LeastSquares(C, np.stack([C @ x, C @ x[::-1]], 1)), L1(1e-6)).x
    assert np.allclose(several, np.stack([x, x[::-1]], 1), atol=1e-5)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix, aslinearoperator])
def test_complex_operators(kind):
    """For a unitary U: x = U*·soft(Uz)."""
    U = np.linalg.qr(draw(9, 9))[0]
    found = melmo.minimize(Masked(z), L1(0.5), kind(U), tol=1e-8)
    assert np.allclose(found.x, U.conj().T @ soft(U @ z, 0.5), atol=1e-5) and np.iscomplexobj(found.z)
    assert found.certificate.verify()


def test_matrices_images_and_stacks():
    M = draw(6, 4)
    for on, axis in (("rows", 1), ("columns", 0)):
        want = M * np.maximum(0, 1 - 1 / np.linalg.norm(M, axis=axis, keepdims=True))
        assert np.allclose(melmo.minimize(Masked(M), L1(1.0, on=on)).x, want, atol=1e-9)
    image = np.zeros((12, 12), complex)
    image[3:9, 3:9] = 1 + 2j
    noisy = image + 0.1 * draw(12, 12)
    far = np.linalg.norm(noisy - image)
    for on in ("entries", "pixels"):
        found = melmo.minimize(Masked(noisy), L1(0.15, on=on), Difference2D())
        assert found.x.shape == image.shape and np.linalg.norm(found.x - image) < 0.6 * far
        assert set(found.z) == {"dx", "dy"}
    # The two parts of the stack are one L1 of twice the weight.
    found = melmo.minimize(Masked(z), [L1(0.2), L1(0.3)], Stack(Identity(), Identity()), tol=1e-9).x
    assert np.allclose(found, soft(z, 0.5), atol=1e-5)


def test_functions_of_your_own():
    class Own:
        def value(self, u):
            return 0.5 * float(np.abs(u).sum())

        def prox(self, u, beta):
            return soft(u, 0.5 * beta)

    def fun(x):
        assert np.iscomplexobj(x)
        return 0.5 * np.linalg.norm(x - z) ** 2, x - z

    for f, g in ((fun, L1(0.5)), (Masked(z), Own()), (fun, Own())):
        found = melmo.minimize(f, g, x0=np.zeros(9, complex))
        assert found.success and np.allclose(found.x, soft(z, 0.5), atol=1e-6)
    problem = melmo.Problem(LeastSquares(C, c), L1(0.1))
    assert problem.check().passed and np.iscomplexobj(problem.smoothed(draw(8), 0.1)[1])
    assert pickle.loads(pickle.dumps(problem)).objective(np.ones(8) * 1j) == problem.objective(np.ones(8) * 1j)
    assert np.iscomplexobj(next(melmo.iterate(LeastSquares(C, c), L1(0.1))).x)


def test_right_hand_sides_that_do_not_fit():
    with pytest.raises(ValueError, match="b: A makes 30 numbers, got the shape .29,"):
        LeastSquares(C, c[1:])
    with pytest.raises(ValueError, match="x0: expected 8 entries"):
        melmo.minimize(LeastSquares(C, c), L1(1.0), x0=np.zeros(3, complex))


def test_a_learned_prior_is_of_real_images():
    prior = melmo.prior.Learned((4, 4), 0.1)
    with pytest.raises(TypeError, match="learned prior is one of real images"):
        prior.beside(Masked(draw(4, 4)))
    with pytest.raises(TypeError, match="learned prior is one of real images"):
        melmo.minimize(prior.beside(Masked(np.ones((4, 4)))), L1(0.1), x0=np.zeros((4, 4), complex))


def test_sums_are_of_moduli_wherever_they_stand():
    """Split, in a list and in a dict: each as on a variable of its own, also of two dimensions."""
    rng = np.random.default_rng(4)
    z = rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4))

    class Own:
        def value(self, u):
            return 0.2 * float(np.abs(u).sum())

        def prox(self, u, beta):
            return u * np.maximum(0, 1 - 0.2 * beta / np.maximum(np.abs(u), 1e-300))

    shrunk = z * np.maximum(0, 1 - 0.5 / np.abs(z))
    for g, T in [
        (L1(0.3) + Own(), None),
        ([L1(0.1) + L1(0.2), L1(0.2)], Stack(Identity(), Identity())),
        ({"0.x": L1(0.2), "1.x": L1(0.1) + L1(0.2)}, Stack(Identity(), Identity())),
    ]:
        found = melmo.minimize(Masked(z), g, T, tol=1e-9).x
        np.testing.assert_allclose(found, shrunk, atol=1e-6)
