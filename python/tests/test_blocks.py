"""Building blocks on their own: prox, envelope, oracles, operators, losses; against golden tables and other libraries."""

import golden
import numpy as np
import pytest

import melmo

BY_NAME = {row["name"]: melmo._catalogue.class_name(row["name"]) for row in melmo.catalogue()["penalties"]}


def penalty(name, *values):
    (row,) = (row for row in melmo.catalogue()["penalties"] if row["name"] == name)
    return getattr(melmo.penalty, BY_NAME[name])(*values[: len(row["parameters"])])


def test_prox_table():
    table = golden.rows("prox-table")
    for line in table:
        g = penalty(line["penalty"], line["lam"], line["par"])
        assert abs(g.prox([line["x"]], line["beta"])[0] - line["prox"]) <= 1e-6
        assert abs(g.envelope([line["x"]], line["beta"]) - line["envelope"]) <= 1e-11 * (1 + abs(line["envelope"]))
    assert len(table) == 364


def test_oracle_table():
    table = golden.rows("oracle-table")
    for line in table:
        name, geom = line["phi"], line["geom"]
        phi, stored = golden.array("oracle-table", name), golden.array("oracle-table", f"{name}-{geom}")
        if geom.startswith("ns"):
            geometry = melmo.geometry.Spectral(f"newton-schulz:{geom[2:]}")
        else:
            geometry = melmo._functions.named(geom)
        answer = geometry.oracle_answer(phi)
        exact = line["dual_norm"]
        assert abs((phi * answer.direction).sum() - (phi * stored).sum()) <= 1e-9 * max(exact, 1e-300)
        assert abs(geometry.dual_norm(phi) - exact) <= 1e-9 * exact
        assert answer.dual_norm[0] <= exact * (1 + 1e-12) and exact <= answer.dual_norm[1] * (1 + 1e-12)
    assert len(table) == 104


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("oracle", ["auto", "gram", "svd", "newton-schulz:6", "minimax:6"])
def test_answers_hold_whatever_rounding_did(dtype, oracle):
    # Products of Hadamard matrices with powers of two: singular values that are known exactly, in both precisions.
    hadamard = np.ones((1, 1))
    for _ in range(5):
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    values = 2.0 ** -(np.arange(32) % 7)
    phi = (hadamard * values) @ hadamard.T / 32  # entries are sums of few powers of two
    phi = phi.astype(dtype)
    exact = values.sum()
    answer = melmo.geometry.Spectral(oracle).oracle_answer(phi)
    lower, upper = answer.dual_norm
    assert lower <= exact <= upper and upper - lower <= 1e-9 * exact
    overlap = -np.sum(phi.astype(np.float64) * answer.direction.astype(np.float64))
    assert overlap >= (1 - answer.eta) * exact * (1 - 1e-15) and answer.eta < 0.5
    assert np.linalg.norm(answer.direction.astype(np.float64), 2) <= 1 + answer.excess + 1e-15


@pytest.mark.parametrize("name", [name for name in BY_NAME])
def test_envelope_gradient_is_the_gap_over_beta(name):
    g = penalty(name)
    u = np.linspace(-3, 3, 25)
    z, grad = g.prox(u, 0.2), g.envelope_gradient(u, 0.2)
    assert np.allclose(grad, (u - z) / 0.2, atol=1e-12)
    assert g.envelope(u, 0.2) <= g.value(u) + 1e-12
    steps = 1e-6 * np.eye(25)
    slope = [(g.envelope(u + h, 0.2) - g.envelope(u - h, 0.2)) / 2e-6 for h in steps]
    assert np.allclose(slope, grad, atol=1e-5)


@pytest.mark.parametrize("name", [row["name"] for row in melmo.catalogue()["geometries"]])
def test_geometries_are_dual(name):
    rng = np.random.default_rng(0)
    phi = rng.standard_normal((5, 4))
    geometry = melmo._functions.named(name)
    d = melmo.lmo(geometry, phi)
    assert geometry.norm(d) <= 1 + 1e-9
    assert np.isclose(-(phi * d).sum(), melmo.dual_norm(name, phi))


def test_polar_is_orthogonal():
    A = np.random.default_rng(1).standard_normal((9, 4))
    Q = melmo.polar(A)
    u, _, vt = np.linalg.svd(A, full_matrices=False)
    assert np.allclose(Q, u @ vt) and np.allclose(melmo.polar(A.astype(np.float32), "gram"), Q, atol=1e-4)


def test_lifts():
    u = np.random.default_rng(2).standard_normal((6, 5))
    s = np.linalg.svd(u, compute_uv=False)
    assert np.isclose(melmo.penalty.L1(0.5, on="singular-values").value(u), 0.5 * s.sum())
    assert np.isclose(melmo.penalty.L1(on="rows").value(u), np.linalg.norm(u, axis=1).sum())
    assert np.isclose(melmo.penalty.L1(on="columns").value(u), np.linalg.norm(u, axis=0).sum())
    pixels = melmo.penalty.L1(on="pixels").value({"dx": u, "dy": 2 * u})
    assert np.isclose(pixels, np.sqrt(5) * np.abs(u).sum())
    groups = melmo.penalty.L1(on="groups", groups=[[0, 1], [2]], weights=[2.0, 1.0])
    assert np.isclose(groups.value([3.0, 4.0, -5.0]), 15.0)
    assert np.isclose(melmo.penalty.L1(weights=[1.0, 0.0]).value([3.0, 4.0]), 3.0)


@pytest.mark.parametrize(
    "T",
    [
        melmo.operator.Difference2D((4, 5)),
        melmo.operator.Difference3D((2, 2, 5)),
        melmo.operator.Convolution(np.ones((3, 3)), (4, 5), boundary="periodic"),
        melmo.operator.Mask(np.arange(20).reshape(4, 5) % 2),
        melmo.operator.Sample(np.arange(20).reshape(4, 5) % 2),
        melmo.operator.Scale(melmo.operator.Difference2D((4, 5)), c=-3.0),
        melmo.operator.Difference2D((4, 5)) @ melmo.operator.Convolution(np.ones((3, 3)), (4, 5)),
        melmo.operator.Stack(melmo.operator.Identity((4, 5)), melmo.operator.Difference2D((4, 5))),
        melmo.operator.Dense(np.random.default_rng(0).standard_normal((7, 20))),
    ],
    ids=repr,
)
def test_adjoints(T):
    rng = np.random.default_rng(0)
    m, n = T.shape
    x, y = rng.standard_normal(n), rng.standard_normal(m)
    assert n == 20 and np.isclose(T.matvec(x) @ y, x @ T.rmatvec(y))
    assert np.linalg.norm(T.matvec(x)) <= T.norm_bound * np.linalg.norm(x) * (1 + 1e-12)


def test_operators_keep_shapes_and_names():
    image = np.random.default_rng(0).standard_normal((4, 5))
    d = melmo.operator.Difference2D()(image)
    assert set(d) == {"dx", "dy"} and d["dx"].shape == (4, 5)
    assert np.allclose(d["dx"][:, :-1], np.diff(image, axis=1)) and np.allclose(d["dy"][:-1], np.diff(image, axis=0))
    assert melmo.operator.Difference2D(image.shape).adjoint(d).shape == (4, 5)


def test_scipy_takes_our_operators():
    linalg = pytest.importorskip("scipy.sparse.linalg")
    T = melmo.operator.Difference2D((4, 5))
    A = linalg.aslinearoperator(T)
    x = np.arange(20.0)
    assert np.array_equal(A @ x, T.matvec(x)) and np.array_equal(A.H @ (A @ x), T.rmatvec(T.matvec(x)))


def test_losses_give_value_and_gradient():
    rng = np.random.default_rng(0)
    A, b, x = rng.standard_normal((7, 4)), rng.standard_normal(7), rng.standard_normal(4)
    value, gradient = melmo.loss.LeastSquares(A, b)(x)
    assert np.isclose(value, 0.5 * ((A @ x - b) ** 2).sum()) and np.allclose(gradient, A.T @ (A @ x - b))
    f = melmo.loss.Factorization(rng.standard_normal((5, 6)), rank=2)
    value, gradient = f({"W": np.zeros((5, 2)), "H": np.zeros((2, 6))})
    assert set(gradient) == {"W", "H"} and gradient["H"].shape == (2, 6)


def test_prox_agrees_with_pyproximal():
    pyproximal = pytest.importorskip("pyproximal")
    u = np.linspace(-4, 4, 101)
    for beta in (0.1, 0.5, 0.9):
        assert np.allclose(melmo.penalty.L1(0.7).prox(u, beta), pyproximal.L1(sigma=0.7).prox(u, beta))
        box = pyproximal.Box(-1.0, 2.0)
        assert np.allclose(melmo.penalty.Box(-1.0, 2.0).prox(u, beta), box.prox(u, beta))
        scad = pyproximal.SCAD(sigma=0.8, a=3.7)
        assert np.allclose(melmo.penalty.SCAD(0.8, 3.7).prox(u, beta), scad.prox(u, beta), atol=1e-9)
    matrix = np.random.default_rng(0).standard_normal((6, 4))
    nuclear = pyproximal.Nuclear((6, 4), sigma=0.5)
    ours = melmo.penalty.L1(0.5, on="singular-values").prox(matrix, 0.8)
    assert np.allclose(ours.ravel(), nuclear.prox(matrix.ravel(), 0.8))


def test_prox_agrees_with_skglm():
    penalties = pytest.importorskip("skglm.penalties")
    u = np.linspace(-4, 4, 41)
    for step in (0.1, 0.5):
        pairs = [
            (melmo.penalty.MCP(0.7, 3.0), penalties.MCPenalty(0.7, 3.0)),
            (melmo.penalty.SCAD(0.7, 3.7), penalties.SCAD(0.7, 3.7)),
            (melmo.penalty.L1(0.7), penalties.L1(0.7)),
        ]
        for ours, theirs in pairs:
            assert np.allclose(ours.prox(u, step), [theirs.prox_1d(v, step, 0) for v in u], atol=1e-12)
            assert np.isclose(ours.value(u), theirs.value(u))
