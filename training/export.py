"""Writes weights that `learned_prior.py` saved as the texts that the program holds.

    python training/export.py learned.npz crates/melmo-tasks/src/denoise/learned --about "…"

Filters are made symmetric to the last digit, so that mirror images of filters are filters exactly.
"""

import argparse
import json
import os

import numpy as np


def symmetric(group):
    """A family's filters from its first one: 2 or 4 of them, in the order of `Prior.filters`."""
    w = group[0].astype(np.float64)
    parity = 1.0 if np.abs(w + w[::-1, ::-1]).sum() > np.abs(w - w[::-1, ::-1]).sum() else -1.0
    w = (w + parity * w[::-1, ::-1]) / 2
    if len(group) == 4:
        return [w, w.T, w[:, ::-1], w.T[:, ::-1]]
    if np.abs(group[1] - group[0].T).sum() < np.abs(group[1] - group[0][:, ::-1]).sum():
        w = (w + w[:, ::-1]) / 2
        return [w, w.T]
    w = (w + w.T) / 2
    return [w, w[:, ::-1]]


def numbers(values, digits=9):
    return " ".join(f"{v:.{digits}g}" for v in np.ravel(values))


def bank(saved, prefix, family):
    """Filters and potentials, family by family."""
    filters = saved[prefix + "filters"]
    lines = [f"side {filters.shape[-1]}", "knots " + numbers(saved["knots"], 6), "nodes " + numbers(saved["nodes"])]
    for f in range(int(family.max()) + 1):
        group = filters[family == f]
        lines += ["scale " + numbers(saved[prefix + "scale"][0, f]), "values " + numbers(saved[prefix + "values"][0, f])]
        for w, original in zip(symmetric(list(group)), group):
            assert np.abs(w - original).max() < 1e-6 * np.abs(original).max() + 1e-7, f
            lines.append("filter " + numbers(w))
    return lines


def network(saved, facts):
    lines = [f"{name} {numbers(saved[name])}" for name in ("near", "mid", "far", "knee", "level", "bias")]
    lines += ["offset " + numbers(saved["bias2"]), f"most {facts['most']}"]
    lines += ["first " + numbers(row, 6) for row in saved["one"]]
    return lines + ["second " + numbers(row, 6) for row in saved["two"]]


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("weights")
    ask.add_argument("folder")
    ask.add_argument("--about", action="append", default=[])
    args = ask.parse_args()
    saved = np.load(args.weights)
    facts = json.loads(str(saved["facts"]))
    facts.pop("out", None)
    about = [f"# {line}" for line in args.about] + ["# facts: " + json.dumps(facts)]
    texts = {
        "first.txt": ["# A plain prior for a first picture: filters and a potential for each family of them.", *about]
        + bank(saved, "", saved["pilot_family"]),
        "adapted.txt": ["# The prior whose potentials follow the picture.", *about] + bank(saved, "final_", saved["family"]),
        "network.txt": ["# What makes scales of what the filters of adapted.txt see.", *about] + network(saved, facts),
    }
    for name, lines in texts.items():
        with open(os.path.join(args.folder, name), "w") as out:
            out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
