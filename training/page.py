"""The tables of docs/networks.md and its picture, from the results file.

    python training/page.py training/networks.json docs/networks.md docs/networks.png

What stands between the two marks of the page is written anew.
"""

import json
import re
import sys
from pathlib import Path

import matplotlib

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
    shares = sorted({share for cells in rows.values() for share in cells}, key=float, reverse=True)
    lines = ["| multiply-adds kept | " + " | ".join(NAMES[m] for m in rows) + " |", "|---" * (len(rows) + 1) + "|"]
    for share in shares:
        found = {m: cells.get(share) for m, cells in rows.items()}
        scores = {m: c["test"] for m, c in found.items() if c}
        best = (max if larger_is_better else min)(scores, key=scores.get) if scores else None
        lines.append(f"| {percent(share)} | " + " | ".join(shown(c, digits, m == best) for m, c in found.items()) + " |")
    return "\n".join(lines)


def settings(rows):
    lines = []
    for method, cells in rows.items():
        for share, found in cells.items():
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
        cells = []
        for suffix in ("", ", captured"):
            value, muon = step_ms.get(key + suffix), step_ms.get("muon" + suffix)
            cells.append("" if value is None else f"{value:.2f} ({value / muon:.2f} × Muon's)" if key != "muon" else f"{value:.2f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def picture(rows, path):
    figure, axis = plt.subplots(figsize=(7, 4.2))
    for method, cells in rows.items():
        points = sorted((c["multiply_adds"], c["test"], c["deviation"] or 0.0) for c in cells.values() if c)
        if points:
            x, y, spread = zip(*points)
            axis.errorbar([100 * v for v in x], y, spread, marker="o", markersize=4, capsize=3, label=NAMES[method])
    axis.set_xscale("log")
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
