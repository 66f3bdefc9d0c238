"""Ratings at scale: ours beside cmfrec's Cholesky ALS and implicit's ALS, 50 factors, two threads, one split.

    python python/benchmarks/ratings.py [--ratings 1e7] [--file ratings.csv] [--rounds 1] [--weights 20 28] [--only memory]

Generated ratings have power-law users and items, 70 000 × 10 000 for 10⁷; `--file` takes a list of user, item, rating instead
(MovieLens' ratings.csv or ratings.dat). A tenth is left out. Every program is given the same weights to try and is shown at its best; rounds alternate
between the programs, and CPU seconds are those of both threads, which a loaded machine changes little. `--only memory` fits ours alone
and says how much memory that took. Needs cmfrec and implicit.
"""

import os

THREADS = 2
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MELMO_THREADS"):
    os.environ[_name] = str(THREADS if _name in ("OMP_NUM_THREADS", "MELMO_THREADS") else 1)

import argparse
import resource
import time
import warnings

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix

import melmo

FACTORS, SWEEPS, LISTED = 50, 12, 10
RIDGES, IMPLICIT = (16.0, 20.0, 24.0, 28.0, 32.0), (80.0, 320.0, 640.0, 1280.0)


def generated(count, seed=0):
    """Half stars of users and items: offsets, twelve tastes of falling weight, and noise; drawn by blocks of users, so that memory goes
    with the ratings alone."""
    rng = np.random.default_rng(seed)
    rows, cols = max(200, round(70_000 * count / 1e7)), max(100, round(10_000 * (count / 1e7) ** 0.5))
    activity, fame = (np.arange(rows) + 300.0) ** -0.7, (np.arange(cols) + 40.0) ** -0.9
    ladder = np.cumsum(fame / fame.sum())
    drawn = rng.poisson(1.1 * count * activity / activity.sum())  # one of eleven draws falls on a place that there is
    tastes = 0.8 ** np.arange(12)
    likes, kinds = rng.normal(size=rows), rng.normal(size=cols)
    W, H = rng.normal(size=(rows, 12)).astype("f4"), (0.45 * tastes * rng.normal(size=(cols, 12))).astype("f4")
    parts = []
    for block in np.array_split(np.arange(rows), max(1, count // 500_000)):
        users = np.repeat(block, drawn[block])
        items = np.minimum(np.searchsorted(ladder, rng.random(len(users))), cols - 1)
        users, items = np.divmod(np.unique(users * np.int64(cols) + items), cols)
        values = 3.5 + 0.4 * likes[users] + 0.5 * kinds[items] + np.einsum("ij,ij->i", W[users], H[items])
        stars = np.clip(np.round(2 * (values + 0.75 * rng.normal(size=len(users)))) / 2, 0.5, 5.0)
        parts.append((stars.astype("f4"), users.astype("i4"), items.astype("i4")))
    stars, users, items = (np.concatenate(part) for part in zip(*parts))
    return coo_matrix((stars, (users, items)), shape=(rows, cols))


def read(path):
    """A list of user, item and rating; of MovieLens 10M, with two colons between them."""
    import pandas

    found = pandas.read_csv(path, sep=":", header=None, usecols=[0, 2, 4]) if path.endswith(".dat") else pandas.read_csv(path)
    (users, _), (items, _) = (pandas.factorize(found.iloc[:, at], sort=True) for at in (0, 1))
    return coo_matrix((found.iloc[:, 2].to_numpy("f4"), (users.astype("i4"), items.astype("i4"))))


def split(all_of_them, share=0.1, seed=1):
    held = np.random.default_rng(seed).random(all_of_them.nnz) < share
    part = lambda kept: coo_matrix(  # noqa: E731
        (all_of_them.data[kept], (all_of_them.row[kept], all_of_them.col[kept])), shape=all_of_them.shape
    )
    return part(~held), part(held)


def by_melmo(train, ridge):
    X = csr_matrix(train)
    model = timed(lambda: melmo.MatrixCompletion(rank=FACTORS, ridge=ridge, offset_weight=5.0, max_iter=SWEEPS).fit(X))
    return *model[1:], lambda users, items: model[0].predict_at(users, items)


def by_cmfrec(train, ridge):
    from cmfrec import CMF

    model = CMF(
        method="als", use_cg=False, k=FACTORS, lambda_=ridge, niter=SWEEPS, nthreads=THREADS, use_float=True,
        precompute_for_predictions=False, verbose=False, random_state=0,
    )  # fmt: skip
    model = timed(lambda: model.fit(train))
    return *model[1:], lambda users, items: model[0].predict(users, items)


def implicitly_by_melmo(train, ridge):
    X = csr_matrix(train)
    make = lambda: melmo.MatrixCompletion(rank=FACTORS, ridge=ridge, implicit=1.0, max_iter=SWEEPS).fit(X)  # noqa: E731
    model = timed(make)
    return *model[1:], model[0].recommend(X, LISTED)


def implicitly_by_implicit(train, ridge, use_cg=False):
    from implicit.als import AlternatingLeastSquares

    X = csr_matrix(train)
    # Its confidences are the values themselves, ours 1 + value.
    confidences = csr_matrix((1 + X.data, X.indices, X.indptr), shape=X.shape)
    model = AlternatingLeastSquares(
        factors=FACTORS, regularization=ridge, alpha=1.0, iterations=SWEEPS, num_threads=THREADS, use_cg=use_cg, random_state=0
    )
    model = timed(lambda: model.fit(confidences, show_progress=False) or model)
    found, _ = model[0].recommend(np.arange(X.shape[0]), X, N=LISTED, filter_already_liked_items=True)
    return *model[1:], found


def timed(work):
    """What it gives, seconds by the clock, and of both processors."""
    clock, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = work()
    return answer, time.perf_counter() - clock, time.process_time() - cpu


def rmse(predict, held):
    return float(np.sqrt(np.mean((predict(held.row, held.col) - held.data.astype("f8")) ** 2)))


def ranking(lists, held):
    """Precision and NDCG of lists, over the rows with something left out."""
    held = csr_matrix(held)
    gains = 1 / np.log2(np.arange(LISTED) + 2)
    precision, ndcg, rows = 0.0, 0.0, 0
    for i in np.flatnonzero(np.diff(held.indptr)):
        wanted = held.indices[held.indptr[i] : held.indptr[i + 1]]
        hits = np.isin(lists[i], wanted)
        precision, rows = precision + hits.mean(), rows + 1
        ndcg += gains[hits].sum() / gains[: min(LISTED, len(wanted))].sum()
    return precision / rows, ndcg / rows


def race(title, programs, train, judge, better, rounds, weights):
    """Every program at its best weight, the others by turns; seconds of the fastest round at that weight."""
    found = {name: [] for name in programs}
    for _ in range(rounds):
        for ridge in weights:
            for name, run in programs.items():
                clock, cpu, answer = run(train, ridge)
                found[name].append((judge(answer), ridge, clock, cpu))
    print(f"\n{title}\n\n| | weight | {better} | seconds | CPU seconds | CPU, as a part of ours |\n|---|---|---|---|---|---|")
    best = {}
    for name, runs in found.items():
        score = min(runs, key=lambda run: run[0][0]) if better == "RMSE" else max(runs, key=lambda run: run[0][-1])
        same = [run for run in runs if run[1] == score[1]]
        best[name] = (score, min(run[2] for run in same), min(run[3] for run in same))
    ours = next(iter(best.values()))[2]
    for name, (score, clock, cpu) in best.items():
        shown = " / ".join(f"{value:.4f}" for value in score[0])
        print(f"| {name} | {score[1]:g} | {shown} | {clock:.1f} | {cpu:.1f} | {cpu / ours:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ratings", type=float, default=1e7)
    parser.add_argument("--file")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--weights", type=float, nargs="+", help="of both kinds; unless given, some around the best of each")
    parser.add_argument("--only", choices=["explicit", "implicit", "memory"])
    asked = parser.parse_args()
    data = read(asked.file) if asked.file else generated(int(asked.ratings))
    train, held = split(data)
    print(f"{data.shape[0]}×{data.shape[1]}, {data.nnz} ratings, {held.nnz} left out; {THREADS} threads, load {os.getloadavg()[0]:.1f}")
    if asked.only == "memory":
        del data
        train = csr_matrix(train)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        clock, cpu, predict = by_melmo(train, (asked.weights or RIDGES)[0])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{clock:.0f} s ({cpu:.0f} s of CPU), RMSE {rmse(predict, held):.4f}; {before:.2f} GB before, {peak:.2f} GB at most")
        return
    if asked.only != "implicit":
        programs = {"melmo": by_melmo, "cmfrec, Cholesky": by_cmfrec}
        race("Ratings", programs, train, lambda predict: (rmse(predict, held),), "RMSE", asked.rounds, asked.weights or RIDGES)
    if asked.only != "explicit":
        programs = {
            "melmo, implicit": implicitly_by_melmo,
            "implicit, Cholesky": implicitly_by_implicit,
            "implicit, conjugate gradients": lambda train, ridge: implicitly_by_implicit(train, ridge, use_cg=True),
        }
        kind = f"precision@{LISTED} / NDCG@{LISTED}"
        race("What is rated at all", programs, train, lambda lists: ranking(lists, held), kind, asked.rounds, asked.weights or IMPLICIT)


if __name__ == "__main__":
    main()
