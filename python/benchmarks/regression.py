"""Penalised regression beside others: processor time to the same objective, one thread each, by turns in one run.

    python python/benchmarks/regression.py [lasso] [mcp] [scad] [group] [logistic] [cancer] [draws]

Every solver gets the loosest of its tolerances at which its objective is within 1e-6 of the least that anybody finds. Compilation is not
counted: everybody has run once before. For MCP and SCAD, which have many local minima, everybody goes down the same sequence of λ, each
solution the start of the next, and the objective to reach is skglm's. `draws`, which has to be asked for, counts on other draws of two
tables who ends lower.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import sys
import time
import warnings

import celer
import numpy as np
import scipy.sparse
import skglm
from sklearn.linear_model import Lasso, LogisticRegression

import melmo

#: What counts as the same objective.
EQUAL = 1e-6
#: Tolerances that are tried, from the loosest.
LADDER = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10]
#: μ of MCP, a of SCAD.
BEND = 3.7
#: λ on the way, for penalties that are not convex.
STRIDE = 0.6
GROUP = 5


def table(rows, cols, density=None, draw=0):
    """Columns of unit variance, neighbours correlated by a half (full) or not at all (sparse), and a target from one column in fifty."""
    rng = np.random.default_rng(rows + cols if draw == 0 else [rows + cols, draw])
    if density is None:
        X = rng.normal(size=(rows, cols))
        for j in range(1, cols):
            X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    else:
        X = scipy.sparse.random(rows, cols, density, "csc", random_state=rng, data_rvs=rng.standard_normal) / np.sqrt(density)
    truth = np.zeros(cols)
    used = rng.choice(cols, max(10, min(cols // 50, rows // 10)), replace=False)
    truth[used] = rng.normal(size=len(used))
    y = X @ truth
    y = y + 0.3 * np.std(y) * rng.normal(size=rows)
    return np.asfortranarray(X) if density is None else X, y / np.std(y)


TABLES = {"200×1000": (200, 1000), "1000×5000": (1000, 5000), "500×20000 sparse": (500, 20000, 0.01), "20000×200": (20000, 200)}


class Case:
    """One problem: (1/n)·Σ ℓ(yᵢ, xᵢᵀb) + Σ ψ(bⱼ), no intercept."""

    def __init__(self, kind, X, y, share):
        self.kind, self.X = kind, X
        self.y = np.sign(y) if kind == "logistic" else y
        self.n, cols = X.shape
        self.groups = [list(range(j, j + GROUP)) for j in range(0, cols, GROUP)]
        slope = X.T @ self.y / self.n * (0.5 if kind == "logistic" else 1)
        if kind == "group":
            slope = np.linalg.norm(slope.reshape(-1, GROUP), axis=1) / np.sqrt(GROUP)
        self.top = np.abs(slope).max()
        self.lam = self.top * share
        self.rows = X.tocsr() if scipy.sparse.issparse(X) else np.ascontiguousarray(X)

    def way(self):
        """λ from below λ_max to λ."""
        steps = max(1, round(np.log(self.lam / self.top) / np.log(STRIDE)))
        return self.top * (self.lam / self.top) ** (np.arange(1, steps + 1) / steps)

    def objective(self, b):
        t, size = self.X @ b, np.abs(b)
        loss = np.logaddexp(0, -self.y * t).mean() if self.kind == "logistic" else 0.5 * ((self.y - t) ** 2).mean()
        lam = self.lam
        if self.kind == "mcp":
            return loss + np.where(size <= BEND * lam, lam * size - size**2 / (2 * BEND), BEND * lam**2 / 2).sum()
        if self.kind == "scad":
            middle = (2 * BEND * lam * size - size**2 - lam**2) / (2 * (BEND - 1))
            return loss + np.where(size <= lam, lam * size, np.where(size <= BEND * lam, middle, lam**2 * (BEND + 1) / 2)).sum()
        if self.kind == "group":
            size = np.sqrt(GROUP) * np.linalg.norm(b.reshape(-1, GROUP), axis=1)
        return loss + lam * size.sum()


def ours(case, tol):
    penalty = {"mcp": f"mcp:mu={BEND}", "scad": f"scad:a={BEND}"}.get(case.kind, "l1")
    how = dict(fit_intercept=False, tol=tol, groups=case.groups if case.kind == "group" else None)
    if case.kind == "logistic":
        return melmo.SparseLogistic(penalty, case.lam, **how).fit(case.X, case.y).coef_[0]
    return melmo.SparseRegression(penalty, case.lam, **how).fit(case.X, case.y).coef_


def by_skglm(case, tol):
    solvers, penalties, datafits = skglm.solvers, skglm.penalties, skglm.datafits
    if case.kind == "group":
        indices, ptr = skglm.utils.data.grp_converter(GROUP, case.X.shape[1])
        weights = np.full(len(case.groups), np.sqrt(GROUP))
        penalty, fit = penalties.WeightedGroupL2(case.lam, weights, ptr, indices), datafits.QuadraticGroup(ptr, indices)
        return estimator(fit, penalty, solvers.GroupBCD(tol=tol, fit_intercept=False)).fit(case.X, case.y).coef_
    if case.kind in ("mcp", "scad"):
        solver = solvers.AndersonCD(tol=tol, fit_intercept=False, warm_start=True)
        make = penalties.MCPenalty if case.kind == "mcp" else penalties.SCAD
        model = estimator(datafits.Quadratic(), make(case.top, BEND), solver)
        for lam in case.way():
            solver.tol = max(tol, 1e-3 * lam) if lam != case.lam else tol
            model.penalty = make(lam, BEND)
            model.fit(case.X, case.y)
        return model.coef_
    if case.kind == "logistic":
        solver = solvers.ProxNewton(tol=tol, fit_intercept=False)
        return estimator(datafits.Logistic(), penalties.L1(case.lam), solver).fit(case.X, case.y).coef_.ravel()
    solver = solvers.AndersonCD(tol=tol, fit_intercept=False)
    return estimator(datafits.Quadratic(), penalties.L1(case.lam), solver).fit(case.X, case.y).coef_


def estimator(datafit, penalty, solver):
    return skglm.GeneralizedLinearEstimator(datafit, penalty, solver)


def by_celer(case, tol):
    how = dict(tol=tol, fit_intercept=False)
    if case.kind == "lasso":
        return celer.Lasso(case.lam, **how).fit(case.X, case.y).coef_
    if case.kind == "group":
        weights = np.full(len(case.groups), np.sqrt(GROUP))
        return celer.GroupLasso(GROUP, case.lam, weights=weights, **how).fit(case.X, case.y).coef_
    return celer.LogisticRegression(C=1 / (case.n * case.lam), **how).fit(case.X, case.y).coef_[0]


def by_liblinear(case, tol):
    model = LogisticRegression(l1_ratio=1, C=1 / (case.n * case.lam), solver="liblinear", tol=tol, fit_intercept=False, max_iter=10000)
    return model.fit(case.rows, case.y).coef_[0]


def by_sklearn(case, tol):
    return Lasso(case.lam, tol=tol, fit_intercept=False, max_iter=100_000).fit(case.X, case.y).coef_


SOLVERS = {
    "lasso": {"melmo": ours, "skglm": by_skglm, "celer": by_celer, "scikit-learn": by_sklearn},
    "mcp": {"melmo": ours, "skglm": by_skglm},
    "scad": {"melmo": ours, "skglm": by_skglm},
    "group": {"melmo": ours, "skglm": by_skglm, "celer": by_celer},
    "logistic": {"melmo": ours, "skglm": by_skglm, "celer": by_celer, "liblinear": by_liblinear},
}


def timed(solve, case, tol):
    start = time.process_time()
    b = solve(case, tol)
    return time.process_time() - start, case.objective(b)


def settle(case, solvers):
    """The least objective, and for every solver the loosest tolerance that gets there, with what is reached and the first time."""
    limits = {name: timed(solve, case, LADDER[-2])[1] for name, solve in solvers.items()}
    convex = case.kind not in ("mcp", "scad")
    least = min(limits.values()) if convex else limits["skglm"]
    found = {}
    for name, solve in solvers.items():
        goal = least if limits[name] <= least * (1 + EQUAL) else limits[name]
        for tol in LADDER:
            seconds, value = timed(solve, case, tol)
            if value <= goal * (1 + EQUAL):
                break
        found[name] = (tol, value, seconds)
    return least, found


def compare(kind, shape, X, y, share):
    """One line of the table; for each rival whether it needed as long, and how much longer."""
    case, solvers = Case(kind, X, y, share), SOLVERS[kind]
    least, found = settle(case, solvers)
    times = {name: [] for name in solvers}
    rounds = int(np.clip(2 / sum(seconds for _, _, seconds in found.values()), 1, 15))
    for _ in range(rounds):  # by turns
        for name, solve in solvers.items():
            times[name].append(timed(solve, case, found[name][0])[0])
    own = min(times["melmo"])
    ratios = {name: min(times[name]) / own for name in solvers if name != "melmo"}
    above = found["melmo"][1] / least - 1
    cells = [f"{1e3 * own:.1f}"] + [f"{name} {ratio:.2f}" for name, ratio in ratios.items()]
    print(f"| {kind} | {shape} | λ_max/{round(1 / share)} | {' | '.join(cells[:1])} | {', '.join(cells[1:])} | {above:+.0e} |", flush=True)
    return list(ratios.values())


def cancer():
    """MCP logistic regression of the breast cancer data along 50 λ in 5 folds, chosen by cross-validation."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    start = time.process_time()
    model = melmo.SparseLogisticCV("mcp", n_lambdas=50, cv=5, n_jobs=1).fit(X, y)
    print(f"\nbreast cancer, MCP, 50 λ × 5 folds: {time.process_time() - start:.2f} s, {np.count_nonzero(model.coef_)} of 30 columns")


def draws(count=12):
    """MCP and SCAD at λ_max/100 on other draws: how far from skglm's objective, both to their limits."""
    for kind in ("mcp", "scad"):
        for shape in ("200×1000", "500×20000 sparse"):
            density = (*TABLES[shape], None)[2]
            cases = [Case(kind, *table(*TABLES[shape][:2], density, draw), 0.01) for draw in range(1, count + 1)]
            apart = np.array([case.objective(ours(case, 1e-8)) / case.objective(by_skglm(case, 1e-8)) - 1 for case in cases])
            above = f"above in {np.sum(apart > EQUAL)} of {count}, by {max(0, apart.max()):.0e} at most"
            print(f"{kind}, {shape}: {above}; the median is {np.median(apart):+.0e}", flush=True)


def main():
    warnings.simplefilter("ignore")
    asked = sys.argv[1:] or [*SOLVERS, "cancer"]
    kinds = [kind for kind in asked if kind in SOLVERS]
    tables = {shape: table(*sides) for shape, sides in TABLES.items()}
    X, y = tables["200×1000"]
    for kind in kinds:  # everybody compiles
        for few in (np.asfortranarray(X[:, :50]), scipy.sparse.csc_matrix(X[:, :50])):
            for solve in SOLVERS[kind].values():
                solve(Case(kind, few, y, 0.5), 1e-3)
    print("Processor time to the same objective; ratios are the other's time over melmo's.\n")
    print("| penalty | data | λ | melmo, ms | ratios | objective over the goal |\n|---|---|---|---|---|---|")
    ratios = [r for kind in kinds for shape, (X, y) in tables.items() for share in (0.1, 0.01) for r in compare(kind, shape, X, y, share)]
    if ratios:
        faster, least = np.mean(np.array(ratios) >= 1), min(ratios)
        print(f"\nAt least as fast in {100 * faster:.0f} % of {len(ratios)} comparisons; the least ratio is {least:.2f}.")
    if "cancer" in asked:
        cancer()
    if "draws" in asked:
        draws()


if __name__ == "__main__":
    main()
