"""One problem: the lowest F that anybody finds, then everybody's time to it."""

import json
import sys

import numpy as np
import ours
from clock import Once, seconds_to

#: CPU seconds that a method may take where nobody has been faster yet.
LONGEST = 4.0
#: A time was taken to another F where the goal has fallen since by more than this part of the accuracy.
STALE = 0.1
#: Times are taken anew so often at most, where methods that came later ended lower.
PASSES = 3


def measure(make, place, only_auto=False):
    """Fills in what the store does not have yet; a problem's data are of the seed 0."""
    kept = json.loads(place.read_text()) if place.exists() else {"methods": {}}
    if only_auto:
        kept["methods"].pop("auto", None)
    case, print_ = None, lambda text: print(f"{make.__name__}: {text}", file=sys.stderr, flush=True)
    if "lowest" not in kept:
        case = make(np.random.default_rng(0))
        reference(case, kept)
        _save(place, kept)
        print_(f"lowest {kept['lowest']:.9g}")
    names = ["auto", *([] if only_auto else ours.METHODS), *([] if only_auto else kept["peers"])]
    for _ in range(PASSES):
        due = [name for name in names if name not in kept["methods"] or stale(kept["methods"][name], kept)]
        for name in due:
            case = case or make(np.random.default_rng(0))
            case.price = kept["price"]
            row = auto(case, kept) if name == "auto" else timed(case, name, kept)
            kept["methods"][name] = row
            kept["lowest"] = min(kept["lowest"], row["ended"])
            _save(place, kept)
            print_(f"{name} {row}")


def stale(row, kept):
    """A time to an F that somebody has gone below since."""
    accuracy = kept["accuracy"] * abs(kept["lowest"])
    return row["seconds"] is not None and row.get("goal", np.inf) > kept["lowest"] + (1 + STALE) * accuracy


def _save(place, kept):
    place.write_text(json.dumps(kept, indent=1))


def reference(case, kept):
    """The lowest F of long runs; for a constraint, also the price of leaving it."""
    points = []
    for name, peer in case.peers.items():
        runs = peer()
        if isinstance(runs, Once):
            points.extend(x for _, x in runs.attempts())
    # An interior point method is exact; where none applies, several of ours have to agree.
    alone = not case.convex or "clarabel" in case.peers
    for method in ("auto",) if alone else ("auto", "admm", "primal-dual", "fista"):
        try:
            points.append(ours.solve(case, method, tol=1e-9, max_iter=20000, time_limit=30.0)[0].x)
        except ValueError:
            continue
    case.settle_price(points[0])
    merits = [case.merit(x) for x in points]
    case.settle_price(points[int(np.argmin(merits))])
    merits = [case.merit(x) for x in points]
    kept.update(lowest=min(merits), price=case.price, convex=case.convex, accuracy=case.accuracy, peers=list(case.peers))


def target(case, kept):
    return kept["lowest"] + case.accuracy * abs(kept["lowest"])


def auto(case, kept):
    """Left alone: where it ends and when; and when it was there."""
    found, whole = ours.solve(case, "auto")
    seconds, _ = seconds_to(ours.run(case, "auto"), case.merit, target(case, kept), 3 * LONGEST)
    row = {"ended": case.merit(found.x), "whole": whole, "seconds": _finite(seconds), "goal": target(case, kept)}
    return row | {"method": found.method, "reason": found.reason, "settled": bool(found.success)}


def timed(case, name, kept):
    """A method's time to the target: no longer than three times that of the fastest so far, where only time is left to find out."""
    known = [row["seconds"] for row in kept["methods"].values() if row["seconds"] is not None]
    cap = max(0.3, 3 * min(known)) if known and case.convex else LONGEST
    runs = case.peers[name]() if name in case.peers else ours.run(case, name)
    best, lowest = np.inf, np.inf
    for run in runs if isinstance(runs, list) else [runs]:
        try:
            seconds, merit = seconds_to(run, case.merit, target(case, kept), min(cap, LONGEST))
        except (ValueError, ArithmeticError) as error:
            return {"ended": float("inf"), "seconds": None, "refused": str(error)}
        best, lowest = min(best, seconds), min(lowest, merit)
    return {"ended": float(lowest), "seconds": _finite(best), "goal": target(case, kept)}


def _finite(seconds):
    return float(seconds) if np.isfinite(seconds) else None
