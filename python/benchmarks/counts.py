"""Factors of sparse counts: melmo beside scikit-learn's NMF on a 20 000 × 10 000 matrix, and 10⁸ counts in 200 000 × 36 000.

    python python/benchmarks/counts.py [compare] [large] [--rank 20] [--seed 0]

`compare` lets both minimise ½‖X − WH‖² with W, H ≥ 0 and nothing else (melmo: a λ of 10⁻⁹ on W, ν = 0). scikit-learn runs coordinate descent
from nndsvd and from random factors, and multiplicative updates; melmo runs `hals` from random factors, so many sweeps or until it settles.
Runs take turns; times are the least of `--turns`, by the clock and by the processor. The last line compares the first run of melmo that
is below the lowest objective of scikit-learn with the run that reached that.

`large` factorises 10⁸ counts in single precision in a process of its own and prints its peak memory.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
import warnings
from typing import Any, Callable

import numpy as np
from scipy import sparse

import melmo


def counts(rows: int, cols: int, a_row: int, topics: int, seed: int, dtype: Any = np.float64) -> sparse.csr_matrix:
    """Documents of about `a_row` different words: each mixes three topics, a topic is a power law over its own order of words."""
    rng = np.random.default_rng(seed)
    weight = 1.0 / np.arange(1, cols + 1) ** 0.9
    ladder = np.cumsum(weight / weight.sum())
    orders = np.stack([rng.permutation(cols) for _ in range(topics)]).astype(np.int32)
    starts, places, values = [0], [], []
    for first in range(0, rows, 1000):
        for _ in range(first, min(first + 1000, rows)):
            mixed = rng.choice(topics, 3, replace=False)
            drawn = np.minimum(np.searchsorted(ladder, rng.random(int(1.6 * a_row))), cols - 1)
            words, often = np.unique(orders[rng.choice(mixed, len(drawn)), drawn], return_counts=True)
            places.append(words)
            values.append(often.astype(dtype))
            starts.append(starts[-1] + len(words))
    return sparse.csr_matrix((np.concatenate(values), np.concatenate(places), np.asarray(starts)), shape=(rows, cols))


def in_turns(runs: dict[str, Callable[[], float]], turns: int) -> dict[str, tuple[float, float, float]]:
    """Of every run the objective, with its least time by the clock and by the processor."""
    found: dict[str, tuple[float, float, float]] = {}
    for _ in range(turns):
        for name, run in runs.items():
            clock, processor = time.perf_counter(), time.process_time()
            objective = run()
            spent = time.perf_counter() - clock, time.process_time() - processor
            before = found.get(name, (objective, np.inf, np.inf))
            found[name] = objective, min(before[1], spent[0]), min(before[2], spent[1])
    return found


def theirs(X: Any, rank: int, **how: Any) -> Callable[[], float]:
    from sklearn.decomposition import NMF

    def run() -> float:
        model = NMF(rank, random_state=0, **how)
        model.fit_transform(X)
        return 0.5 * float(model.reconstruction_err_) ** 2

    return run


def ours(X: Any, rank: int, steps: int | None) -> Callable[[], float]:
    def run() -> float:
        model = melmo.SparseFactorization(
            rank, penalty="l1", lam=1e-9, ridge=0.0, nonnegative=True, max_iter=steps, random_state=0
        ).fit(X)
        return 0.5 * float(model.reconstruction_err_) ** 2

    return run


def compare(rank: int, seed: int, turns: int) -> None:
    X = counts(20_000, 10_000, 100, 30, seed)
    print(f"20 000 × 10 000, {X.nnz} counts, rank {rank}, seed {seed}; the least of {turns} turns", flush=True)
    peers = {
        "NMF, coordinate descent, nndsvd": theirs(X, rank, init="nndsvd", max_iter=200),
        "NMF, coordinate descent, nndsvd, tol 1e-6": theirs(X, rank, init="nndsvd", max_iter=1000, tol=1e-6),
        "NMF, coordinate descent, random": theirs(X, rank, init="random", max_iter=200),
        "NMF, multiplicative updates, nndsvda": theirs(X, rank, init="nndsvda", solver="mu", max_iter=200),
    }
    own = {f"melmo, hals, {steps} sweeps": ours(X, rank, steps) for steps in (20, 40, 80, 160)}
    own["melmo, hals, until it settles"] = ours(X, rank, None)
    found = in_turns({**peers, **own}, turns)
    print(f"{'':44}{'½‖X − WH‖²':>14}{'seconds':>10}{'processor':>11}")
    for name, (objective, clock, processor) in found.items():
        print(f"{name:44}{objective:14.6g}{clock:10.2f}{processor:11.2f}")
    target, clock, processor = min(found[name] for name in peers)
    below = [found[name] for name in own if found[name][0] < target]
    if below:
        best = min(below, key=lambda row: row[1])
        print(f"melmo is below {target:.6g} in {best[1] / clock:.2f} of the time, {best[2] / processor:.2f} of the processor's")
    else:
        print(f"melmo is not below {target:.6g}")


def large(rank: int, seed: int) -> None:
    X = counts(200_000, 36_000, 500, 50, seed, np.float32)
    print(f"200 000 × 36 000, {X.nnz} counts, rank {rank}, single precision, seed {seed}", flush=True)
    start = time.perf_counter()
    melmo.SparseFactorization(rank, penalty="l1", lam=1e-9, ridge=0.0, nonnegative=True, max_iter=10, random_state=0).fit(X)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"10 sweeps in {time.perf_counter() - start:.0f} s; peak memory {peak:.2f} GB, the data included")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["compare", "large"])
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--turns", type=int, default=2)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # steps are limited on purpose
    if "compare" in asked.parts:
        compare(asked.rank, asked.seed, asked.turns)
    if "large" in asked.parts and asked.parts != ["large"]:
        subprocess.run([sys.executable, __file__, "large", "--rank", str(asked.rank), "--seed", str(asked.seed)], check=True)
    elif "large" in asked.parts:
        large(asked.rank, asked.seed)


if __name__ == "__main__":
    main()
