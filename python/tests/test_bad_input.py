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


VALUE_ERRORS = {
    "lambda": lambda: melmo.penalty.MCP(-1.0),
    "lift is called": lambda: melmo.penalty.MCP(on="diagonal"),
    "entries only": lambda: melmo.penalty.Nonnegative(on="rows"),
    "needs groups": lambda: melmo.penalty.L1(on="groups").value(y),
    "takes no weights": lambda: melmo.penalty.L1(on="rows", weights=[1.0]).value(y),
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
    "max_iter": lambda: melmo.minimize(f, g, max_iter=-1),
    "trace_every": lambda: melmo.minimize(f, g, trace_every=0.5),
    "time_limit": lambda: melmo.minimize(f, g, time_limit=-1.0),
    "x0: expected 12": lambda: melmo.minimize(f, g, x0=np.zeros(5)),
    "every entry must be finite": lambda: melmo.minimize(f, g, x0=np.full((4, 3), np.inf)),
    "say what x looks like": lambda: melmo.minimize(lambda x: (0.0, x), g),
    "weights: expected 12": lambda: melmo.minimize(f, {"x": melmo.penalty.L1(weights=[1.0])}),
    "operator T takes": lambda: melmo.minimize(f, g, np.ones((2, 5))),
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
    "real numbers": lambda: melmo.loss.Masked(np.ones((2, 2), dtype=complex)),
    "no prox": lambda: melmo.minimize(f, 3.0),
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
