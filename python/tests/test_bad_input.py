"""What makes no sense is a ValueError or a TypeError that says so."""

import numpy as np
import pytest

import melmo

y = np.ones((4, 3))
f, g = melmo.loss.Masked(y), melmo.penalty.MCP(0.2, 3.0)


def damaged():
    """A sparse matrix that SciPy must not be asked to print: its indices lead anywhere."""
    matrix = __import__("scipy.sparse").sparse.csr_matrix(np.ones((3, 3)))
    matrix.indices = np.full(9, 2**30, dtype=np.int32)
    return matrix


def sparse():
    return __import__("scipy.sparse.linalg").sparse


def linear(A, b):
    return melmo.loss.LeastSquares(A, b)


class Own:
    def value(self, u):
        return 0.0

    def prox(self, u, beta):
        return u


VALUE_ERRORS = {
    "MCP: lam = -1: must be a finite number above 0": lambda: melmo.penalty.MCP(-1.0),
    "SCAD: a = 2: must be a finite number above 2": lambda: melmo.penalty.SCAD(1.0, 2.0),
    "lift is called": lambda: melmo.penalty.MCP(on="diagonal"),
    "entries only": lambda: melmo.penalty.Nonnegative(on="rows"),
    "needs groups": lambda: melmo.penalty.L1(on="groups").value(y),
    "takes no weights": lambda: melmo.penalty.L1(on="singular-values", weights=[1.0]).value(y),
    "below 1/ρ": lambda: g.prox(y, 4.0),
    "beta": lambda: g.prox(y, 0.0),
    "mask": lambda: melmo.loss.Masked(y, mask=np.full((4, 3), 0.5)),
    "entries, got 11": lambda: melmo.loss.Masked(y, mask=np.ones(11)),
    "finite": lambda: melmo.loss.Masked(np.full((2, 2), np.nan)),
    "no method is called": lambda: melmo.minimize(f, g, method="newton"),
    "no geometry is called": lambda: melmo.minimize(f, g, geometry="l3"),
    "parameter of melmo is called `alpha`": lambda: melmo.minimize(f, g, method="melmo", options={"alpha": 1.0}),
    "did you mean `gamma`": lambda: melmo.minimize(f, g, method="melmo", options={"gama": 1.0}),
    "restart is called": lambda: melmo.minimize(f, g, method="epoch-constant", options={"restart": "never"}),
    "1/\\(2ρ\\)": lambda: melmo.minimize(f, g, method="melmo", options={"beta": 9.0}),
    "give one of them": lambda: melmo.minimize(f, g, epsilon=1.0, relative_epsilon=1.0),
    "epsilon = 0": lambda: melmo.minimize(f, g, epsilon=0.0),
    "tol = -1": lambda: melmo.minimize(f, g, tol=-1.0),
    "tol = nan": lambda: melmo.minimize(f, g, tol=np.nan),
    "tol = inf": lambda: melmo.minimize(f, g, tol=np.inf),
    "squares are not finite": lambda: melmo.SparseFactorization(1).fit(np.full((4, 3), 1e160)),
    "max_iter": lambda: melmo.minimize(f, g, max_iter=-1),
    "trace_every": lambda: melmo.minimize(f, g, trace_every=0.5),
    "time_limit": lambda: melmo.minimize(f, g, time_limit=-1.0),
    "x0: expected 12": lambda: melmo.minimize(f, g, x0=np.zeros(5)),
    "every entry must be finite": lambda: melmo.minimize(f, g, x0=np.full((4, 3), np.inf)),
    "say what x looks like": lambda: melmo.minimize(lambda x: (0.0, x), g),
    "weights: expected 12": lambda: melmo.minimize(f, {"x": melmo.penalty.L1(weights=[1.0])}),
    r"T: is 2×5 and takes 5 entries; x has 12, its shape is \(4, 3\)": lambda: melmo.minimize(f, g, np.ones((2, 5))),
    r"T: is 5×5 .* x has 12": lambda: melmo.minimize(f, g, sparse().eye(5).tocsr()),
    r"T: is 3×5 .* x has 12": lambda: melmo.minimize(f, g, sparse().linalg.aslinearoperator(np.ones((3, 5)))),
    r"T: expected a matrix, got an array of the shape \(12,\); a start is x0=": lambda: melmo.minimize(f, g, np.ones(12)),
    r"T: expected a matrix, got an array of the shape \(2, 2, 3\)": lambda: melmo.minimize(f, g, np.ones((2, 2, 3))),
    r"b: A is 4×3; expected 4 entries, or the shape \(4, k\) .*, got the shape \(3,\)": lambda: linear(y, np.ones(3)),
    r"b: A is 4×3; .* got the shape \(3, 2\)": lambda: linear(y, np.ones((3, 2))),
    "penalty: .mcp:lambda=3. says what is chosen here": lambda: melmo.SparseRegressionCV("mcp:lambda=3", cv=2).fit(y, y[:, 0]),
    "y: .* 3 targets with the loss cox": lambda: melmo.SparseRegressionCV(loss="cox", cv=2).fit(y, np.abs(y) + 1),
    "y: found counts that are all 0": lambda: melmo.SparseRegression(loss="poisson").fit(y, 0 * y[:, 0]),
    "noise: expected a number above 0": lambda: melmo.RobustPCA(noise=0.0).fit(y),
    r"mask: expected the shape of Y, \(4, 3\), got \(4, 4\)": lambda: melmo.loss.Masked(y, mask=np.ones((4, 4))),
    r"mask: expected the shape of Y, \(4, 3\), got \(3, 4\)": lambda: melmo.loss.Masked(y, mask=np.ones((3, 4))),
    "Y: expected an array, got lists that make none": lambda: melmo.loss.Masked([[1, 2], [3]]),
    "g: a list of 2 and T is no Stack: .* are added, g1 \\+ g2": lambda: melmo.minimize(f, [g, g]),
    "g: a list of 0 and T is no Stack": lambda: melmo.minimize(f, []),
    "g: a list of 1 and T is a Stack of 2": lambda: melmo.minimize(f, [g], melmo.operator.Stack(None, None)),
    "no parameter of fista is called `gama`; there is none": lambda: melmo.minimize(f, g, method="fista", options={"gama": 1}),
    "block is called": lambda: melmo.minimize(f, g, melmo.operator.Select("W")),
    "no block of Tx": lambda: melmo.minimize(f, {"W": g}),
    "the blocks W, H": lambda: melmo.minimize(melmo.loss.Factorization(y), g, melmo.operator.Select("W"), {"W": y}),
    "needs to know|give it the shape": lambda: melmo.operator.Difference2D().norm_bound,
    "no bundled set": lambda: melmo.data.load("lena"),
    "no format has this extension": lambda: melmo.data.read("table.xyz"),
    "expected a matrix": lambda: melmo.polar(np.ones(3)),
    "max_iter = 1000000000000000000000000000000": lambda: melmo.minimize(f, g, max_iter=10**30),
    "max_iter = inf": lambda: melmo.minimize(f, g, max_iter=float("inf")),
    "max_epochs": lambda: melmo.minimize(f, g, max_epochs=2**40),
    "n_jobs = 0": lambda: melmo.minimize(f, g, x0=[y, y], n_jobs=0),
    "lam: too large": lambda: melmo.penalty.MCP(10**400),
    "known: l2, ": lambda: melmo.lmo("l7", y),
    "groups: an entry = -1": lambda: melmo.penalty.L1(on="groups", groups=[[-1]]).value(y),
    "lift is called `3`": lambda: melmo.penalty.L1(on=3),
    "lift is called `csr_matrix": lambda: melmo.penalty.L1(on=damaged()),
}

TYPE_ERRORS = {
    "unexpected keyword": lambda: melmo.penalty.MCP(nu=1.0),
    "expected a number": lambda: melmo.penalty.MCP("much"),
    "x0: expected real numbers, got 'zeros'": lambda: melmo.minimize(f, g, x0="zeros"),
    "image: expected real numbers, got .*'a.png'": lambda: melmo.denoise("a.png"),
    "g: expected a penalty, or an object with value.* and prox.*, got 3.0": lambda: melmo.minimize(f, 3.0),
    "g: expected a penalty, .* got None": lambda: melmo.minimize(f, None),
    "g: expected a penalty, got 'l1'; .* are objects": lambda: melmo.minimize(f, "l1"),
    r"g: expected a penalty, got an array of the shape \(4, 3\); T is the third": lambda: melmo.minimize(f, y),
    r"f: expected a loss or a function, got an array of the shape \(4, 3\)": lambda: melmo.minimize(y, g),
    "T: expected an operator .*, got 'identity'": lambda: melmo.minimize(f, g, "identity"),
    "T: expected an object with matvec, .*LinearOperator makes": lambda: melmo.minimize(f, g, lambda x: x),
    "A: expected a matrix, a SciPy sparse matrix, or an operator, got None": lambda: linear(None, y[:, 0]),
    "b: expected an array, got None": lambda: linear(y, None),
    "f: .* got 'least-squares'; those of melmo.loss are objects": lambda: melmo.minimize("least-squares", g),
    "penalty: MCP is a class": lambda: melmo.SparseRegression(penalty=melmo.penalty.MCP).fit(y, y[:, 0]),
    "penalty: .* ElasticNet": lambda: melmo.SparseRegression(penalty=g + g).fit(y, y[:, 0]),
    "callback: dict is a class": lambda: melmo.minimize(f, g, callback=dict),
    "Y: expected an array, got None": lambda: melmo.loss.Masked(None),
    "A: expected an operator .*, got 'dense'": lambda: linear("dense", y[:, 0]),
    "A: Identity is a class": lambda: linear(melmo.operator.Identity, y[:, 0]),
    "operator: Identity is a class": lambda: melmo.operator.Stack(melmo.operator.Identity, y),
    "g: L1 is a class": lambda: melmo.minimize(f, {"x": melmo.penalty.L1}),
    "g: MCP is a class": lambda: melmo.minimize(f, [melmo.penalty.MCP, g], melmo.operator.Stack(None, None)),
    "lam: expected a number, got None": lambda: melmo.penalty.L1(None),
    "lam: expected a number, got '0.1'": lambda: melmo.penalty.L1("0.1"),
    "MCP: .*'gamma'; it takes lam, mu, on, weights, groups": lambda: melmo.penalty.MCP(0.1, gamma=3.0),
    "f: the value: expected a number": lambda: melmo.minimize(lambda x: (x, x), g, x0=y),
    "Logistic: .* complex ones. They may stand in LeastSquares": lambda: melmo.loss.Logistic(y + 1j, np.sign(y[:, 0])),
    "x: Logistic takes real x": lambda: melmo.minimize(melmo.loss.Logistic(y, np.sign(y[:, 0])), g, x0=np.zeros(y.shape[1]) + 1j),
    "x0: Y is complex, and so is x": lambda: melmo.minimize(melmo.loss.Masked(y + 1j), g, x0=y),
    "no penalty of moduli": lambda: melmo.minimize(melmo.loss.Masked(y + 1j), melmo.penalty.Nonnegative()),
    "on='singular-values' is for real x": lambda: melmo.minimize(melmo.loss.Masked(y + 1j), melmo.penalty.L1(on="singular-values")),
    "phi: .* complex ones": lambda: melmo.geometry.L2().dual_norm(y + 1j),
    "T: expected real numbers, got complex": lambda: melmo.minimize(f, g, sparse().eye(12).tocsr() * 1j),
    "T: .* complex ones": lambda: melmo.minimize(f, g, sparse().linalg.aslinearoperator(np.eye(12) * 1j)),
    "u: .* complex ones": lambda: g.prox(y * 1j, 0.1),
    "g: .* operator Identity.*; g and T are swapped": lambda: melmo.minimize(f, melmo.operator.Identity(), g),
    "f: .* penalty .*; f and g are swapped": lambda: melmo.minimize(Own(), lambda x: (0.0, x), x0=y),
    "a loss or a function": lambda: melmo.minimize(3.0, g),
    "expected a dict": lambda: melmo.minimize(melmo.loss.Factorization(y), g, melmo.operator.Select("W"), y),
    "expected one array": lambda: melmo.minimize(f, g, x0={"x": y}),
    "geometry: expected": lambda: melmo.minimize(f, g, geometry=3),
    "unexpected keyword argument 'nonsense'": lambda: melmo.minimize(f, g, nonsense=1),
    "gamma.*expected a number": lambda: melmo.minimize(f, g, method="melmo", options={"gamma": "fast"}),
    "g: expected a penalty of melmo.penalty, got None": lambda: melmo.prox(None, y),
    "no envelope": lambda: melmo.envelope(object(), y),
    "beta: expected a number": lambda: melmo.prox(g, y, None),
    "geometry\\['beta'\\]: expected": lambda: melmo.minimize(f, g, geometry={"beta": None}),
    "method: expected a string": lambda: melmo.minimize(f, g, method=3),
    "options: expected a dict": lambda: melmo.minimize(f, g, method="melmo", options=[1]),
    "max_iter: expected a number": lambda: melmo.minimize(f, g, max_iter="many"),
    "epsilon: expected a number": lambda: melmo.minimize(f, g, epsilon="small"),
    "time_limit: expected a number": lambda: melmo.minimize(f, g, time_limit="1 s"),
    "callback: expected a function": lambda: melmo.minimize(f, g, callback=3),
    "progress: expected True": lambda: melmo.minimize(f, g, progress="yes"),
    "n_jobs: expected a number": lambda: melmo.minimize(f, g, x0=[y, y], n_jobs="all"),
    "got the penalty .*swapped": lambda: melmo.minimize(g, f),
    "g: expected a penalty, got the loss": lambda: melmo.minimize(f, f),
    "T: expected an operator, got the penalty": lambda: melmo.minimize(f, g, g),
    "g: MCP is a class; expected an object of it, MCP": lambda: melmo.minimize(f, melmo.penalty.MCP),
    "f: Masked is a class": lambda: melmo.minimize(melmo.loss.Masked, g),
    "T: Difference2D is a class": lambda: melmo.minimize(f, g, melmo.operator.Difference2D),
    "geometry: Spectral is a class": lambda: melmo.minimize(f, g, geometry=melmo.geometry.Spectral),
    "geometry: expected a geometry or its name, got int": lambda: melmo.dual_norm(7, y),
    "groups: expected lists": lambda: melmo.penalty.L1(on="groups", groups=3).value(y),
    "groups: expected lists of entries, got <function": lambda: melmo.penalty.L1(groups=lambda entry: entry),
    "groups: expected lists of entries, got csr_matrix": lambda: melmo.penalty.L1(groups=damaged()),
    "weights: expected real numbers": lambda: melmo.penalty.L1(weights=lambda entry: entry),
    "blocks: expected the name of a block": lambda: melmo.operator.Select(lambda: "W"),
    "blocks: a name: expected a string": lambda: melmo.operator.Select([damaged()]),
    "oracle: expected a string": lambda: melmo.geometry.Spectral(damaged()),
    "groups: expected lists of columns": lambda: melmo.SparseRegression(groups=damaged()).fit(y, y[:, 0]),
    "lambdas: expected a list": lambda: melmo.SparseRegression().fit(y, y[:, 0]).path(y, y[:, 0], lambdas=damaged()),
    "sparse matrix cannot": lambda: melmo.loss.Masked(__import__("scipy.sparse").sparse.eye(3).tocsr()),
}


@pytest.mark.parametrize("message", VALUE_ERRORS)
def test_value_errors(message):
    with pytest.raises(ValueError, match=message):
        VALUE_ERRORS[message]()


@pytest.mark.parametrize("message", TYPE_ERRORS)
def test_type_errors(message):
    with pytest.raises(TypeError, match=message):
        TYPE_ERRORS[message]()


def test_a_missing_file():
    with pytest.raises(FileNotFoundError):
        melmo.data.read("nowhere.npy")
