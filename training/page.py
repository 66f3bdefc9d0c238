"""The tables of docs/networks.md and its picture, from the results file.

    python training/page.py training/networks.json docs/networks.md docs/networks.png

What stands between the two marks of the page is written anew.
"""

import json
import re
import statistics
import sys
from pathlib import Path

import matplotlib

sys.path.insert(0, str(Path(__file__).parent))
from compare import cells  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

BEGIN, END = "<!-- results -->", "<!-- end of results -->"
NAMES = {"melmo": "melmo", "muon+pruning": "Muon + gradual pruning", "proxadamw": "ProxAdamW", "ramda": "RAMDA"}


def percent(share):
    return f"{100 * float(share):g} %"


def shown(found, digits, lead):
    if found is None:
        return ""
    text = f"{found['test']:.{digits}f}"
    if found["deviation"] is not None:
        text += f" ± {found['deviation']:.{digits}f}"
    text = f"**{text}**" if lead else text
    return text + (f" ({found['seeds']} seeds)" if found["deviation"] is not None and found["seeds"] < 5 else "")


def table(rows, digits, larger_is_better):
    shares = sorted({share for row in rows.values() for share in row}, key=float, reverse=True)
    lines = ["| multiply-adds kept | " + " | ".join(NAMES[m] for m in rows) + " |", "|---" * (len(rows) + 1) + "|"]
    for share in shares:
        found = {m: row.get(share) for m, row in rows.items()}
        scores = {m: c["test"] for m, c in found.items() if c}
        best = (max if larger_is_better else min)(scores, key=scores.get) if scores else None
        lines.append(f"| {percent(share)} | " + " | ".join(shown(c, digits, m == best) for m, c in found.items()) + " |")
    return "\n".join(lines)


def differences(results, task, digits):
    """melmo minus Muon, seed by seed."""
    parts = []
    for share in cells.TASKS[task]["shares"]:
        both = [cells.best(results, task, method, share) for method in ("melmo", "muon+pruning")]
        found = []
        for seed in cells.TASKS[task]["seeds"]:
            names = [cells.name_of(task, m, s, share, seed) for m, s in zip(("melmo", "muon+pruning"), both)]
            runs = [results["runs"].get(name) for name in names]
            if all(run and "test" in run for run in runs):
                found.append(runs[0]["test"] - runs[1]["test"])
        if len(found) > 1:
            error = statistics.stdev(found) / len(found) ** 0.5
            parts.append(f"{statistics.mean(found):+.{digits}f} ± {error:.{digits}f} at {percent(share)}")
    return ", ".join(parts)


def settings(rows):
    lines = []
    for method, row in rows.items():
        for share, found in row.items():
            if found and float(share) < 1:
                text = ", ".join(f"{k} {v:g}" for k, v in sorted(found["setting"].items()))
                lines.append((NAMES[method], text, percent(share)))
    merged = {}
    for name, text, share in lines:
        merged.setdefault((name, text), []).append(share)
    return "\n".join(f"- {name}, {' and '.join(shares)}: {text}" for (name, text), shares in merged.items())


def times(step_ms):
    kinds = [("muon", "Muon"), ("melmo", "melmo, no penalty"), ("melmo, l1", "melmo, group ℓ1"), ("melmo, mcp", "melmo, group MCP")]
    lines = ["| ms a step | called from Python | captured in a CUDA graph |", "|---|---|---|"]
    for key, name in kinds:
        columns = []
        for suffix in ("", ", captured"):
            value, muon = step_ms.get(key + suffix), step_ms.get("muon" + suffix)
            columns.append("" if value is None else f"{value:.2f} ({value / muon:.2f} × Muon's)" if key != "muon" else f"{value:.2f}")
        lines.append(f"| {name} | " + " | ".join(columns) + " |")
    return "\n".join(lines)


def picture(rows, path):
    figure, axis = plt.subplots(figsize=(7, 4.2))
    for method, row in rows.items():
        points = sorted((c["multiply_adds"], c["test"], c["deviation"] or 0.0) for c in row.values() if c)
        if points:
            x, y, spread = zip(*points)
            axis.errorbar([100 * v for v in x], y, spread, marker="o", markersize=4, capsize=3, label=NAMES[method])
    axis.set_xscale("log")
    axis.set_xticks([3, 10, 25, 50, 100], ["3", "10", "25", "50", "100"])
    axis.minorticks_off()
    axis.set_xlabel("multiply-adds kept, %")
    axis.set_ylabel("test accuracy, %")
    axis.legend()
    axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def text(results):
    images, words = results["tables"]["images"], results["tables"]["text"]
    runs = sum("error" not in r for r in results["runs"].values())
    return f"""{results['date']}, {results['device']}, {runs} runs. Test accuracy on Fashion-MNIST in %, mean ± standard deviation over the seeds; the best of a row is bold:

{table(images, 2, True)}

melmo minus Muon with pruning, seed by seed, mean ± standard error: {differences(results, "images", 2)}.

The settings that were chosen:

{settings(images)}

The language model, bits a character of the test text (less is better), one seed:

{table(words, 3, False)}

An optimizer's step on the image network:

{times(results['step_ms'])}"""


def main():
    results, page = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    old = page.read_text(encoding="utf-8")
    new = re.sub(f"{BEGIN}.*{END}", lambda _: f"{BEGIN}\n{text(results)}\n{END}", old, flags=re.S)
    page.write_text(new, encoding="utf-8")
    picture(results["tables"]["images"], sys.argv[3])


if __name__ == "__main__":
    main()
