"""Every golden trace through Python: the same rows to 1e-8, the same end, certificates that verify."""

import golden
import numpy as np
import pytest

import melmo


def problem(name, case):
    y = golden.array(name, "y")
    penalty = {"mcp": melmo.penalty.MCP, "l1": lambda lam, _: melmo.penalty.L1(lam)}[case["penalty"]]
    g = penalty(case["lam"], case["mu"])
    if case["problem"] == "factorize":
        x0 = {"W": golden.array(name, "w0"), "H": golden.array(name, "h0")}
        return melmo.loss.Factorization(y, rank=case["rank"]), g, melmo.operator.Select("W"), x0
    if case["problem"] == "tv":
        return melmo.loss.Masked(y), g, melmo.operator.Difference2D(y.shape), y
    return melmo.loss.Masked(y, golden.array(name, "mask")), g, None, golden.array(name, "x0")


def geometry(case):
    special = {
        None: None,
        "spectral": melmo.geometry.Spectral("svd"),
        "ns6": melmo.geometry.Spectral("newton-schulz:6"),
        "ns2": melmo.geometry.Spectral("newton-schulz:2"),
    }
    name = case.get("geom")
    return special.get(name, name)


def settings(case):
    known = {
        "gamma": case.get("gamma"),
        "beta": case.get("beta") or 1.0,
        "p": case.get("p"),
        "q": case.get("q"),
        "lipschitz": case.get("L"),
        "normalized": "yes" if case.get("normalized") else "no",
        "step": case.get("step"),
        "steps": len(case["trace"]),
        "restart": case.get("restart"),
    }
    (row,) = (row for row in melmo.catalogue()["methods"] if row["name"] == case["method"])
    names = [parameter["name"] for parameter in row["parameters"]]
    options = {name: known[name] for name in names if known.get(name) is not None}
    given = {"method": case["method"], "options": options, "geometry": geometry(case)}
    if case.get("eps") is not None:
        return {**given, "epsilon": case["eps"], "max_epochs": case["max_epochs"]}
    return {**given, "max_iter": len(case["trace"])}


def test_all_cases_are_here():
    assert len(golden.cases()) == 35


@pytest.mark.parametrize("name", golden.cases())
def test_trace(name):
    case = golden.case(name)
    f, g, T, x0 = problem(name, case)
    kept = {block: part.copy() for block, part in x0.items()} if isinstance(x0, dict) else x0.copy()
    result = melmo.minimize(f, g, T, x0, trace_every=1, exact_dual_norms=True, **settings(case))
    stable, first = case["stable_rows"], case["trace"][0]
    assert len(result.trace) >= stable
    for row, want in zip(result.trace[:stable], case["trace"]):
        assert row["k"] == want["k"] and row["epoch"] == (-1 if want.get("epoch") is None else want["epoch"])
        for field in ("F", "F_smoothed", "dual_norm", "prox_gap", "beta", "gamma"):
            if want.get(field) is not None:
                close = 1e-8 * abs(want[field]) + 1e-10 * abs(first[field])
                assert abs(row[field] - want[field]) <= close, (field, want["k"])
    assert (result.status == "certified") == bool(case.get("certified"))
    if case.get("certified_at") is not None:
        assert result.nit + 1 == case["certified_at"]
    if stable == len(case["trace"]):
        point = result.certificate.x  # where the method stood
        blocks = list(point.values()) if isinstance(point, dict) else [point]
        for i, block in enumerate(blocks):
            want = golden.array(name, f"final_{i}")
            assert np.abs(block - want.reshape(block.shape)).max() <= 1e-7 * np.abs(want).max()
    assert result.certificate.verify(tolerance=1e-6).passed
    for block, part in x0.items() if isinstance(x0, dict) else [(None, x0)]:
        assert (part == (kept[block] if block else kept)).all(), "the start was modified"
