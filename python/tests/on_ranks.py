"""Run by mpirun (test_ranks.py): every rank compares its rows with what one machine finds, and rank 0 says how many ranks there were."""

import os
import sys
from pathlib import Path

import melmo
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
draw = np.random.default_rng(3)  # the same numbers everywhere
SETTINGS = {"method": "melmo", "max_iter": 60, "tol": 0}


def same(name, here, there, room=1e-9):
    assert here.shape == there.shape, (name, here.shape, there.shape)
    assert np.abs(here - there).max(initial=0) <= room * np.abs(there).max(initial=1), name


def same_certificate(name, here, there):
    assert abs(here.fun - there.fun) <= 1e-9 * abs(there.fun), name
    for a, b in zip((*here.certificate.dual_norm, here.certificate.prox_gap), (*there.certificate.dual_norm, there.certificate.prox_gap)):
        assert abs(a - b) <= 1e-6 * abs(b), name
    assert [row[2:] for row in here.certificate.norms] == [row[2:] for row in there.certificate.norms], name
    assert all(other == here.fun for other in comm.allgather(here.fun)), f"{name}: ranks see the same numbers"


def regression(precision):
    A, b = draw.standard_normal((23, 6)).astype(precision), draw.standard_normal(23).astype(precision)
    rows = melmo.share(23, comm)
    g = melmo.penalty.MCP(0.3, 2.0)
    here = melmo.minimize(melmo.loss.LeastSquares(A[rows.own], b[rows.own]), g, comm=comm, **SETTINGS)
    there = melmo.minimize(melmo.loss.LeastSquares(A, b), g, **SETTINGS)
    same("regression", here.x, there.certificate.x, 1e-9 if precision == "f8" else 1e-3)
    if precision == "f8":
        same_certificate("regression", here, there)


def factors():
    Y, W, H = draw.standard_normal((17, 9)), draw.standard_normal((17, 3)), draw.standard_normal((3, 9))
    rows = melmo.share(17, comm)
    terms = melmo.penalty.L1(0.2), melmo.operator.Select("W")
    loss = melmo.loss.Factorization(Y[rows.held], rank=3)
    for geometry in ("l2", "spectral"):
        settings = {**SETTINGS, "geometry": geometry}
        here = melmo.minimize(loss, *terms, {"W": W[rows.held], "H": H}, comm=comm, split={"W": rows}, **settings)
        there = melmo.minimize(melmo.loss.Factorization(Y, rank=3), *terms, {"W": W, "H": H}, **settings)
        same("W", here.x["W"], there.certificate.x["W"][rows.own])
        same("H", here.x["H"], there.certificate.x["H"])
        same("z", here.z, there.z[rows.own])
        same_certificate(f"factors, {geometry}", here, there)


def pictures():
    for shape, operator in (((13, 8), melmo.operator.Difference2D), ((5, 4, 3), melmo.operator.Difference3D)):
        Y = draw.standard_normal(shape)
        rows = melmo.share(shape[0], comm, beside=1)
        part = Y[rows.held]
        here = melmo.minimize(
            melmo.loss.Masked(part), melmo.penalty.L1(0.3), operator(), part, comm=comm, split=rows, **SETTINGS
        )
        there = melmo.minimize(melmo.loss.Masked(Y), melmo.penalty.L1(0.3), operator(), Y, **SETTINGS)
        same(f"a picture of {shape}", here.x, there.certificate.x[rows.own])
        for name, differences in there.z.items():
            same(f"differences {name} of {shape}", here.z[name], differences[rows.own])
        same_certificate(f"a picture of {shape}", here, there)


def colours():
    """Pictures of several channels: first and second differences, of which two rows of each neighbour are held."""
    if comm.size > 6:
        return  # every rank needs as many rows as differences reach
    Y = draw.standard_normal((3, 14, 8))
    for weight, beside in ((0.5, 2), (0.0, 1)):
        rows = melmo.share(14, comm, beside=beside)
        T, g = melmo.operator.Jet(weight=weight), melmo.penalty.L1(0.3, on="columns")  # a pixel's differences are a column
        if weight > 0:
            g = {"first": g, "second": melmo.penalty.MCP(0.2, 3.0, on="columns")}
        part = Y[:, rows.held]
        here = melmo.minimize(melmo.loss.Masked(part), g, T, part, comm=comm, split=rows, **SETTINGS)
        there = melmo.minimize(melmo.loss.Masked(Y), g, T, Y, **SETTINGS)
        same(f"colours, weight {weight}", here.x, there.certificate.x[:, rows.own])
        same_certificate(f"colours, weight {weight}", here, there)
        for name in there.z if weight > 0 else [None]:
            z, whole = (here.z, there.z) if name is None else (here.z[name], there.z[name])
            planes = whole.reshape(len(whole), 14, 8)[:, rows.own]
            same(f"differences {name} of colours, weight {weight}", z, planes.reshape(len(whole), -1))


def gaps():
    """A gap that is proven of the whole, and the time of rank 0."""
    Y = draw.standard_normal((30, 20))
    rows = melmo.share(30, comm, beside=1)
    terms = melmo.loss.Masked(Y[rows.held]), melmo.penalty.L1(0.3), melmo.operator.Difference2D(), Y[rows.held]
    proven = melmo.minimize(*terms, comm=comm, split=rows, relative_gap=1e-3)
    assert proven.status == "certified" and proven.gap <= 1e-3 * abs(proven.fun), proven
    for g in (melmo.penalty.MCP(0.3, 2.0), melmo.penalty.L1(0.3)):  # of the first nothing is known; the second is bounded together
        try:
            entries = melmo.share(30, comm)
            found = melmo.minimize(melmo.loss.Masked(Y[entries.held]), g, x0=Y[entries.held], comm=comm, split=entries, gap=1e-3)
        except ValueError as error:
            assert "bound" in str(error), error
        else:
            assert found.gap <= 1e-3, found
    late = melmo.minimize(*terms, comm=comm, split=rows, max_iter=10**9, tol=0, time_limit=0.3)
    assert late.status == "time" and len(set(comm.allgather(late.nit))) == 1, late


def refusals():
    """All hear of it where one cannot take part."""
    rows = melmo.share(6, comm)
    Y = draw.standard_normal((6, 4))
    f = melmo.loss.Masked(Y[rows.held])
    bad = [
        (ValueError, lambda: melmo.minimize(f, melmo.penalty.L1(0.1), comm=comm, split={"y": rows})),
        (ValueError, lambda: melmo.minimize(f, melmo.penalty.L1(0.1), comm=comm, split=rows, callback=print)),
        (ValueError, lambda: melmo.minimize(f, melmo.penalty.L1(0.1, on="singular-values"), comm=comm, split=rows)),
        (ValueError, lambda: melmo.minimize(f, melmo.penalty.L1(0.1), comm=comm, split=rows, method="admm")),
        (TypeError, lambda: melmo.minimize(f, melmo.penalty.L1(0.1), comm=object())),
    ]
    for kind, act in bad:
        try:
            act()
        except kind as error:
            assert str(error), error
        else:
            raise AssertionError("not refused")
    if comm.size > 1:
        start = np.zeros((99, 4)) if comm.rank == 1 else None
        try:
            melmo.minimize(f, melmo.penalty.L1(0.1), x0=start, comm=comm, split=rows)
        except (ValueError, RuntimeError) as error:
            assert comm.rank == 1 or "rank 1" in str(error), error
        else:
            raise AssertionError("not refused")


def leaves():
    """What a term of one's own raises on one rank ends all."""
    def fun(x):
        if comm.rank == comm.size - 1 and abs(x).max() > 0:
            raise KeyError("mine")
        return 0.5 * ((x - 1) ** 2).sum(), x - 1

    try:
        melmo.minimize(fun, melmo.penalty.L1(0.01), x0=np.zeros(3), comm=comm, **SETTINGS)
    except KeyError:
        assert comm.rank == comm.size - 1
    except RuntimeError as error:
        assert f"rank {comm.size - 1} ended the run" in str(error) and comm.rank < comm.size - 1, error
    else:
        raise AssertionError("nobody heard of it")


def wait():
    """A run that only Ctrl-C ends; the file `begun` says that it has begun."""
    rows = melmo.share(30, comm)
    begun = np.zeros(1)

    def fun(x):
        if begun[0] == 0 and comm.rank == 0:
            Path("begun").touch()
        begun[0] = 1
        return 0.5 * ((x - 1) ** 2).sum(), x - 1

    fun.lipschitz = 1.0
    x0 = np.zeros((rows.size or 1, 3))
    ended = melmo.minimize(fun, melmo.penalty.L1(0.01), x0=x0, comm=comm, split=rows, method="subgradient", max_iter=10**12, tol=0)
    Path(f"ended{comm.rank}").write_text(ended.status)
    os._exit(0)  # mpirun, which ends its ranks, hears no farewell of MPI any more


if __name__ == "__main__":
    if "wait" in sys.argv:
        wait()
        sys.exit()
    if "leave" in sys.argv:
        if comm.rank == 1:
            os._exit(9)  # an end without the farewell of MPI, which would wait for the others
        melmo.minimize(melmo.loss.Masked(np.ones(4)), melmo.penalty.L1(0.1), comm=comm)
    for act in (lambda: regression("f8"), lambda: regression("f4"), factors, pictures, colours, gaps, refusals, leaves):
        act()
    if comm.rank == 0:
        print(f"{comm.size} ranks")
