"""Writes weights that `learned_prior.py` saved as the text that the program holds.

    python training/export.py learned.npz crates/melmo-tasks/src/denoise/learned/weights.txt --about "…"

Filters are made symmetric to the last digit, so that mirror images of filters are filters exactly.
"""

import argparse
import json

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


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("weights")
    ask.add_argument("out")
    ask.add_argument("--about", action="append", default=[])
    args = ask.parse_args()
    saved = np.load(args.weights)
    numbers = lambda values: " ".join(f"{v:.9g}" for v in np.ravel(values))
    lines = ["# The learned prior of `melmo denoise --prior learned`: a bank of filters and a potential for each family of them."]
    lines += [f"# {line}" for line in args.about]
    facts = json.loads(str(saved["facts"]))
    facts.pop("out", None)
    lines += ["# facts: " + json.dumps(facts)]
    lines += [f"side {saved['filters'].shape[-1]}", "knots " + numbers(saved["knots"]), "nodes " + numbers(saved["nodes"])]
    for f in range(int(saved["family"].max()) + 1):
        group = saved["filters"][saved["family"] == f]
        lines += ["scale " + numbers(saved["scale"][f]), "values " + numbers(saved["values"][f])]
        for w, original in zip(symmetric(list(group)), group):
            assert np.abs(w - original).max() < 1e-6 * np.abs(original).max() + 1e-7, f
            lines.append("filter " + numbers(w))
    with open(args.out, "w") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
