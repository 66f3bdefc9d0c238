"""Draws a weights file: the picture of docs/learned-prior.md.

    python training/show.py crates/melmo-tasks/src/denoise/learned/adapted.txt docs/learned-filters.png

A cell for each family: its filters, each scaled to its own largest entry, and ψ′ right of 0 at noise of 25/255. All ψ′ have the same axes:
responses from 0 to 1 in units of the noise, ψ′ from 0 to 0.6.
"""

import sys

import numpy as np
from PIL import Image, ImageDraw

ACROSS, PIXEL, GAP, WIDE, HIGH = 3, 6, 6, 180, 90
RIGHT, TOP, NOISE = 1.0, 0.6, 25.0


def families(path):
    """(side, knots, nodes, [(scale, values, filters)])."""
    found, head = [], {}
    for line in open(path):
        if line.startswith("#"):
            continue
        name, *numbers = line.split()
        numbers = np.array(numbers, float)
        if name == "scale":
            found.append((numbers, [], []))
        elif name in ("values", "filter"):
            found[-1][1 if name == "values" else 2].append(numbers)
        else:
            head[name] = numbers
    return int(head["side"][0]), head["knots"], head["nodes"], found


def picture(w, side):
    grey = np.clip(127.5 + 127.5 * w / np.abs(w).max(), 0, 255).astype(np.uint8).reshape(side, side)
    return Image.fromarray(np.kron(grey, np.ones((PIXEL, PIXEL), np.uint8)))


def main():
    side, knots, nodes, found = families(sys.argv[1])
    node = int(np.argmin(np.abs(nodes - NOISE)))
    size = side * PIXEL + GAP
    cell = (4 * size + WIDE + 2 * GAP, HIGH + 2 * GAP)
    sheet = Image.new("L", (ACROSS * cell[0] + GAP, -(-len(found) // ACROSS) * cell[1] + GAP), 255)
    draw = ImageDraw.Draw(sheet)
    for i, (scale, values, filters) in enumerate(found):
        top, left = (GAP + k * n for k, n in zip(divmod(i, ACROSS), cell[::-1]))
        for j, w in enumerate(filters):
            sheet.paste(picture(w, side), (left + j * size, top + (HIGH - side * PIXEL) // 2))
        left += 4 * size
        draw.line([(left, top), (left, top + HIGH), (left + WIDE, top + HIGH)], fill=160)
        alpha = np.exp(scale[node])
        curve = values[0].reshape(len(nodes), -1)[node] / alpha
        at = np.concatenate([[0], knots / alpha, [max(RIGHT, knots[-1] / alpha)]])
        to = np.concatenate([[0], curve, curve[-1:]])
        x = np.linspace(0, RIGHT, WIDE)
        y = np.interp(x, at, to)
        points = [(left + WIDE * a / RIGHT, top + HIGH * (1 - b / TOP)) for a, b in zip(x, y)]
        draw.line(points, fill=0, width=2)
    sheet.save(sys.argv[2], optimize=True)


if __name__ == "__main__":
    main()
