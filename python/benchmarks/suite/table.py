"""What is stored, as one table, and how many problems keep the bars."""

import json

#: An excess below this does not count.
SLACK = 0.05


def show(stored):
    rows = [(name, json.loads(place.read_text())) for name, place in stored if place.exists()]
    rows = [(name, kept) for name, kept in rows if "auto" in kept["methods"]]
    print("| problem | auto is | above the lowest F | seconds to it | the fastest | its seconds | ratio |")
    print("|---|---|---|---|---|---|---|")
    kept_bars = [line(name, kept) for name, kept in rows]
    accurate, twice, ten = (sum(bars[i] for bars in kept_bars) for i in range(3))
    print(f"\n{accurate} of {len(rows)} as low as asked; {twice} within twice the fastest, {ten} within ten times.")


def line(name, kept):
    auto = kept["methods"]["auto"]
    over = (auto["ended"] - kept["lowest"]) / abs(kept["lowest"])
    others = {m: row["seconds"] for m, row in kept["methods"].items() if m != "auto" and row["seconds"] is not None}
    fastest = min(others, key=others.get, default=None)
    own, best = auto["seconds"], others.get(fastest)
    accurate = over <= kept["accuracy"]
    ratio = own / best if own is not None and best else None
    within = [own is not None and (best is None or own <= times * best or own - best <= SLACK) for times in (2, 10)]
    cells = [
        name.replace("_", " ") + ("" if kept["convex"] else " ∗"),
        auto["method"] + ("" if auto["settled"] else " ·"),
        f"{over:+.0e}" + ("" if accurate else " ✗"),
        "–" if own is None else f"{own:.2f} of {auto['whole']:.2f}",
        fastest or "–",
        "–" if best is None else f"{best:.2f}",
        "–" if ratio is None else f"{ratio:.1f}" + ("" if within[0] else " ✗"),
    ]
    print("| " + " | ".join(cells) + " |")
    return accurate, *within
