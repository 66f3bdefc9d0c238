"""Which runs there are: tuning on one seed, then the cells of the tables. A run has a name, and is made once."""

import json

import numpy as np

TASKS = {
    # task: shares kept, at which share the settings for a share are chosen, seeds
    "images": {"shares": (0.5, 0.25, 0.1, 0.03), "tuned_at": {0.5: 0.25, 0.25: 0.25, 0.1: 0.1, 0.03: 0.1}, "seeds": (1, 2, 3, 4, 5)},
    "text": {"shares": (0.5, 0.25), "tuned_at": {0.5: 0.25, 0.25: 0.25}, "seeds": (1,)},
}


def gradual(**options):
    return {"begin": 0.1, "end": 0.75, **options}


SETTINGS = {
    "images": {
        "melmo": [
            gradual(lr=0.02, lam=1e-5),
            gradual(lr=0.02, lam=2e-6, cost=0.5),
            gradual(lr=0.02, lam=2e-6, ball=10.0),
            gradual(lr=0.03, lam=2e-6),
            gradual(lr=0.02, lam=1e-5, cost=0.5, ball=10.0),
            gradual(lr=0.02, lam=2e-6, end=0.6),
        ],
        "muon+pruning": [
            gradual(lr=0.02),
            gradual(lr=0.02, cost=0.5),
            gradual(lr=0.02, decay=0.1),
            gradual(lr=0.03),
            gradual(lr=0.02, cost=0.5, decay=0.1),
            gradual(lr=0.02, end=0.6),
        ],
        "proxadamw": [
            gradual(lr=1e-3, lam=1e-6),
            gradual(lr=1e-3, lam=1e-5),
            gradual(lr=1e-3, lam=1e-4),
            gradual(lr=3e-3, lam=1e-6),
            gradual(lr=1e-3, lam=1e-6, cost=0.5),
            {"lr": 1e-3, "lam": 1e-4, "begin": 0.75, "end": 0.75},
        ],
        "ramda": [
            gradual(lr=1e-2, lam=1e-7),
            gradual(lr=1e-2, lam=1e-6),
            gradual(lr=1e-2, lam=1e-5),
            gradual(lr=3e-2, lam=1e-6),
            gradual(lr=1e-2, lam=1e-6, cost=0.5),
            {"lr": 1e-2, "lam": 1e-5, "begin": 0.75, "end": 0.75},
        ],
    },
    "text": {
        "melmo": [
            *(gradual(lr=lr, lam=lam) for lr, lam in ((0.02, 2e-6), (0.01, 2e-6), (0.02, 1e-5))),
            gradual(lr=0.02, lam=2e-6, table=0.15),
            gradual(lr=0.02, lam=5e-7, table=0.15),
            gradual(lr=0.02, lam=5e-7, table=0.15, head=3.0),
        ],
        "muon+pruning": [
            *(gradual(lr=lr) for lr in (0.02, 0.01, 0.03)),
            *(gradual(lr=0.02, rest=rest) for rest in (1e-3, 6e-3, 1e-2)),
        ],
        "proxadamw": [
            *(gradual(lr=lr, lam=lam) for lr, lam in ((1e-3, 1e-6), (3e-3, 1e-6), (1e-3, 1e-5), (2e-3, 1e-6), (1e-3, 1e-7))),
            {"lr": 1e-3, "lam": 1e-6, "begin": 0.75, "end": 0.75},
        ],
        "ramda": [
            *(gradual(lr=lr, lam=lam) for lr, lam in ((1e-2, 1e-7), (3e-2, 1e-7), (1e-2, 1e-6), (5e-3, 1e-7), (1e-2, 1e-8))),
            {"lr": 1e-2, "lam": 1e-7, "begin": 0.75, "end": 0.75},
        ],
    },
}
#: The whole networks, without a penalty and with nothing removed. ProxAdamW is AdamW there. Images: as they are; text: as the setting that was chosen.
DENSE = [("melmo", {"lr": 0.02}), ("muon+pruning", {"lr": 0.02}), ("proxadamw", {"lr": 1e-3})]


def name_of(task, method, setting, share, seed):
    return json.dumps([task, method, setting, share, seed], sort_keys=True)


def best(results, task, method, share):
    """The setting with the best score on the data held back at the share it is chosen at, once all of them have run."""
    at = TASKS[task]["tuned_at"][share]
    found = [results["runs"].get(name_of(task, method, s, at, 0)) for s in SETTINGS[task][method]]
    if any(f is None for f in found):
        return None
    scores = [f["held"] if np.isfinite(f.get("held", np.nan)) else None for f in found]
    sign = 1 if task == "images" else -1
    return SETTINGS[task][method][max(range(len(scores)), key=lambda i: -np.inf if scores[i] is None else sign * scores[i])]


def tuning(task):
    shares = dict.fromkeys(TASKS[task]["tuned_at"].values())
    most = max(map(len, SETTINGS[task].values()))
    return [(task, m, s[n], at, 0) for n in range(most) for at in shares for m, s in SETTINGS[task].items() if n < len(s)]


def table_runs(results, task, seed):
    return [(task, m, best(results, task, m, share), share, seed) for share in TASKS[task]["shares"] for m in SETTINGS[task]]


def dense(results, task):
    if task == "images":
        return dict(DENSE)
    found = {method: best(results, task, method, TASKS[task]["shares"][0]) for method, _ in DENSE}
    of_pruning = ("begin", "end", "lam", "cost")
    return {m: s and {name: value for name, value in s.items() if name not in of_pruning} for m, s in found.items()}


def dense_runs(results, task, seed):
    return [(task, method, setting, 1.0, seed) for method, setting in dense(results, task).items()]


def waiting(results, tasks=("images", "text")):
    """What is left, the most wanted first; runs of a table wait for their settings."""
    runs = []
    if "images" in tasks:
        runs += dense_runs(results, "images", 1) + tuning("images") + table_runs(results, "images", 1)
    if "text" in tasks:
        runs += tuning("text") + table_runs(results, "text", 1) + dense_runs(results, "text", 1)
    if "images" in tasks:
        for seed in TASKS["images"]["seeds"][1:]:
            runs += table_runs(results, "images", seed) + dense_runs(results, "images", seed)[:2]
    return [r for r in runs if r[2] is not None and name_of(*r) not in results["runs"]]


def table(results, task):
    """method → share → mean and deviation of the test score, what is left and how many seeds; None where there is none."""
    rows = {}
    for method in SETTINGS[task]:
        whole = dense(results, task).get(method)
        cells = {"1.0": cell(results, task, method, whole, 1.0)} if whole else {}
        for share in TASKS[task]["shares"]:
            cells[str(share)] = cell(results, task, method, best(results, task, method, share), share)
        rows[method] = cells
    return rows


def cell(results, task, method, setting, share):
    runs = [results["runs"].get(name_of(task, method, setting, share, seed)) for seed in TASKS[task]["seeds"]]
    runs = [r for r in runs if r and "test" in r]
    if not runs:
        return None
    return {
        "test": round(float(np.mean([r["test"] for r in runs])), 3),
        "deviation": round(float(np.std([r["test"] for r in runs], ddof=1)), 3) if len(runs) > 1 else None,
        "multiply_adds": round(float(np.mean([r["multiply_adds"] for r in runs])), 4),
        "seeds": len(runs),
        "setting": setting,
    }
