"""Run by mpirun (test_ranks.py): estimators that have a part of the rows each find what one machine finds, and end together."""

import os
import pickle
import signal
import sys
import threading
import traceback
import warnings

import numpy as np
from mpi4py import MPI
from scipy.sparse import csr_matrix
from sklearn.base import clone

import melmo
from melmo import SparseFactorization, SparseLogistic, SparseLogisticCV, SparseRegression, SparseRegressionCV

comm = MPI.COMM_WORLD
draw = np.random.default_rng(5)  # the same numbers everywhere
ROWS, COLS = 70, 8
X = 2.0 + draw.standard_normal((ROWS, COLS)) * np.array([1, 3, 0.5, 1, 2, 1, 1, 1])
X[draw.random(X.shape) < 0.2] = 0
TRUTH = np.array([1.5, 0, -2, 0, 0.5, 0, 0, 0])
y = X @ TRUTH + 3 + 0.3 * draw.standard_normal(ROWS)
weights, offset = draw.random(ROWS) + 0.1, 0.2 * draw.standard_normal(ROWS)
# Uneven, and the last of several has none.
edges = np.linspace(0, 1, max(2, comm.size)) ** 1.5 * ROWS
edges = np.append(edges.astype(int), ROWS) if comm.size > 1 else np.array([0, ROWS])
own = slice(edges[comm.rank], edges[comm.rank + 1])


def near(name, here, there, room):
    here, there = np.asarray(here, dtype=float), np.asarray(there, dtype=float)
    assert here.shape == there.shape, (name, here.shape, there.shape)
    apart = np.abs(here - there).max(initial=0)
    assert apart <= room * max(1, np.abs(there).max(initial=0)), (name, apart)


def same(name, here, there, room, fields=("coef_", "intercept_", "lam_", "objective_")):
    for field in fields:
        near(f"{name}: {field}", getattr(here, field), getattr(there, field), room)
    found = comm.allgather([np.asarray(getattr(here, field)).tolist() for field in fields])
    assert all(other == found[0] for other in found), f"{name}: every rank has the same"


def squares():
    groups = [[0, 1], [2, 3, 4], [5], [6, 7]]
    kinds = [
        {"lam": 0.1},
        {"penalty": "mcp"},
        {"penalty": "scad", "lam": 0.2, "standardize": True},
        {"penalty": "mcp", "lam": 0.1, "groups": groups, "fit_intercept": False},
        {"lam": 0.05, "positive": True, "penalty_weights": [1, 2, 1, 1, 0.5, 1, 1, 1]},
        {"penalty": "ridge", "lam": 0.3},
    ]
    for kind in kinds:
        for data in (X, csr_matrix(X)):
            more = {"sample_weight": weights, "offset": offset} if kind["penalty" if "penalty" in kind else "lam"] != "ridge" else {}
            here = SparseRegression(**kind, comm=comm).fit(data[own], y[own], **{name: part[own] for name, part in more.items()})
            there = SparseRegression(**kind).fit(data, y, **more)
            same(f"{kind}", here, there, 1e-6)
            near("predictions", here.predict(data[own]), there.predict(data)[own], 1e-6) if own.start < own.stop else None
    two = np.stack([y, X[:, 1] - y], axis=1)
    for groups in (None, [[j] for j in range(COLS)]):
        same("two targets", SparseRegression(lam=0.1, groups=groups, comm=comm).fit(X[own], two[own]), SparseRegression(lam=0.1, groups=groups).fit(X, two), 1e-6)
    path, whole = SparseRegression("mcp", comm=comm).path(X[own], y[own], n_lambdas=8), SparseRegression("mcp").path(X, y, n_lambdas=8)
    near("λ of the path", path.lambdas, whole.lambdas, 1e-9)
    near("coefficients of the path", path.coefs, whole.coefs, 1e-6)
    single = SparseRegression(lam=0.1, comm=comm).fit(X[own].astype("f4"), y[own])
    assert single.coef_.dtype == np.float32
    near("single", single.coef_, SparseRegression(lam=0.1).fit(X, y).coef_, 1e-3)
    again = SparseRegression(lam=0.1, warm_start=True, comm=comm).fit(X[own], y[own]).fit(X[own], y[own])
    near("again", again.coef_, SparseRegression(lam=0.1).fit(X, y).coef_, 1e-6)


def other_losses():
    counts = np.round(np.exp(0.3 * (X @ TRUTH - 2).clip(-3, 3)))
    for kind, target in (({"loss": "huber", "lam": 0.1}, y), ({"loss": "poisson", "lam": 0.05, "standardize": True}, counts), ({"loss": "quantile:level=0.7,width=0.5", "lam": 0.05}, y)):
        tight = {**kind, "tol": 1e-6}
        here = SparseRegression(**tight, comm=comm).fit(X[own], target[own], weights[own], offset[own])
        there = SparseRegression(**tight).fit(X, target, weights, offset)
        same(f"{kind}", here, there, 1e-4)
        assert here.violation_ <= 1e-6
    # MCP has several minimisers: this one is stationary for all rows.
    mcp = SparseRegression("mcp", lam=0.1, loss="huber", comm=comm).fit(X[own], y[own])
    assert mcp.violation_ <= 1e-7


def classes():
    labels = np.array(["no", "yes"])[(X @ TRUTH + draw.standard_normal(ROWS) > 0).astype(int)]
    three = np.array(["a", "b", "c"])[np.digitize(X @ TRUTH + draw.standard_normal(ROWS), [-2, 1])]
    for kind, target in (({"lam": 0.02}, labels), ({}, labels), ({"lam": 0.03, "class_weight": "balanced"}, three), ({"lam": 0.02, "groups": [[0, 1, 2, 3], [4, 5, 6, 7]]}, three)):
        tight = {**kind, "tol": 1e-6}
        here, there = SparseLogistic(**tight, comm=comm).fit(X[own], target[own]), SparseLogistic(**tight).fit(X, target)
        same(f"logistic {kind}", here, there, 1e-4)
        assert list(here.classes_) == list(there.classes_)


def cross_validation():
    here = SparseRegressionCV("mcp", n_lambdas=12, cv=4, comm=comm).fit(X[own], y[own], weights[own])
    there = SparseRegressionCV("mcp", n_lambdas=12, cv=4).fit(X, y, weights)
    same("cross-validation", here, there, 1e-5, ("coef_", "intercept_", "lam_", "losses_"))
    labels = (X @ TRUTH + draw.standard_normal(ROWS) > 0).astype(int)
    kind = {"n_lambdas": 4, "ratio": 0.1, "cv": 3, "tol": 1e-6}
    here, there = SparseLogisticCV(**kind, comm=comm).fit(X[own], labels[own]), SparseLogisticCV(**kind).fit(X, labels)
    same("cross-validation of classes", here, there, 1e-4, ("coef_", "lam_", "losses_"))


def factors():
    Y = X @ draw.standard_normal((COLS, 12))
    Y[draw.random(Y.shape) < 0.1] = np.nan
    for data, kind in ((Y, {}), (csr_matrix(np.nan_to_num(Y)), {"penalty": "l1"}), (np.abs(np.nan_to_num(Y)), {"nonnegative": True})):
        settings = {"n_components": 3, "lam": 0.5, "method": "scaled", "max_iter": 60, "random_state": 4, **kind}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # sixty steps are few
            here = SparseFactorization(**settings, comm=comm).fit(data[own])
            there = SparseFactorization(**settings).fit(data)
        fields = ("components_", "reconstruction_err_", *([] if "nonnegative" in kind else ["objective_"]))  # F(x) is ∞ where a sign is off
        same(f"factors {kind}", here, there, 1e-7, fields)
        if own.start < own.stop:
            near("W", here.transform(data[own]), there.transform(data)[own], 1e-6)


def copies():
    """Ranks share a communicator with clones; copies do without."""
    model = SparseRegression(lam=0.1, comm=comm).fit(X[own], y[own])
    twin = clone(model)
    assert twin.comm is comm and twin.get_params()["comm"] is comm and not hasattr(twin, "coef_")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        read = pickle.loads(pickle.dumps(model))
    assert read.comm is None and (read.coef_ == model.coef_).all() and "communicator" in str(said[0].message)


def refusals():
    """All hear of it where one cannot take part, and of what ranks do not share."""
    bad = [
        (lambda: SparseRegression(loss="cox", comm=comm).fit(X[own], np.abs(y[own]) + 1), "cox"),
        (lambda: SparseRegression(comm=3).fit(X, y), "communicator"),
        (lambda: SparseRegressionCV(n_jobs=2, comm=comm).fit(X[own], y[own]), "n_jobs"),
        (lambda: SparseFactorization(2, nonnegative=True, comm=comm).fit(np.where(X == 0, np.nan, X)[own]), "nonnegative"),
    ]
    if comm.size > 1:
        other = 0.2 if comm.rank == 1 else 0.1
        broken = X.copy()
        broken[edges[0], 0] = np.nan
        bad += [
            (lambda: SparseRegression(lam=other, comm=comm).fit(X[own], y[own]), "rank 1 has another parameter 'lam'"),
            (lambda: SparseRegression(comm=comm).fit(X[own, : 8 - (comm.rank == 1)], y[own]), "columns"),
            (lambda: SparseRegression(comm=comm).fit(broken[own], y[own]), "NaN"),
            (lambda: SparseFactorization(2, comm=comm, random_state=comm.rank).fit(X[own]), "random_state"),
            (lambda: melmo.minimize(melmo.loss.Masked(np.ones(4)), melmo.penalty.L1(other), comm=comm), "rank 1 has another g"),
            (lambda: melmo.minimize(melmo.loss.Masked(np.ones(4)), melmo.penalty.L1(0.1), x0=np.full(4, other), comm=comm), "x0"),
        ]
    for act, word in bad:
        try:
            act()
        except (ValueError, TypeError, RuntimeError) as error:
            assert word in str(error), error
        else:
            raise AssertionError(f"not refused: {word}")


def interrupts():
    """Ctrl-C on one rank, whenever it comes, ends all at the same step; nobody waits."""
    Y = draw.standard_normal((60, 20))
    rows = melmo.share(60, comm, beside=1)
    terms = melmo.loss.Masked(Y[rows.held]), melmo.penalty.L1(0.3), melmo.operator.Difference2D(), Y[rows.held]
    for after in (0.01, 0.03, 0.1, 0.3):
        comm.Barrier()
        pressed = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
        if comm.rank == comm.size - 1:
            pressed.start()
        try:
            ended = melmo.minimize(*terms, comm=comm, split=rows, max_iter=10**9, tol=0).status
        except KeyboardInterrupt:  # before the first step
            ended = "interrupted"
        assert ended == "interrupted" and set(comm.allgather(ended)) == {"interrupted"}
    comm.Barrier()
    many = draw.standard_normal((300, 120))
    if comm.rank == comm.size - 1:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    rows = melmo.share(300, comm)
    try:
        SparseLogisticCV(n_lambdas=100, comm=comm, tol=1e-9).fit(many[rows.own], (many[rows.own] @ np.ones(120) > 0).astype(int))
    except KeyboardInterrupt:
        ended = "fit"
    assert set(comm.allgather(ended)) == {"fit"}


if __name__ == "__main__":
    acts = [squares, other_losses, classes, cross_validation, factors, copies, refusals, interrupts]
    try:
        for act in [act for act in acts if act.__name__ in sys.argv] or acts:
            act()
    except BaseException:  # at its end a rank would wait for the others, and they for it
        traceback.print_exc()
        comm.Abort(1)
    if comm.rank == 0:
        print(f"{comm.size} ranks")
