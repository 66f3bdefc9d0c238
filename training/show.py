"""Draws the filters of a weights file, each scaled to its own largest entry: the picture of docs/learned-prior.md.

    python training/show.py crates/melmo-tasks/src/denoise/learned/weights.txt docs/learned-filters.png
"""

import sys

import numpy as np
from PIL import Image

rows = [line.split() for line in open(sys.argv[1]) if line.startswith(("scale", "filter"))]
families = []
for name, *numbers in rows:
    if name == "scale":
        families.append([])
    else:
        side = round(len(numbers) ** 0.5)
        families[-1].append(np.array(numbers, float).reshape(side, side))
size, across = 6, 12
filters = [w for family in families for w in family]
sheet = np.full(((side * size + 6) * -(-len(filters) // across) + 6, (side * size + 6) * across + 6), 255, np.uint8)
for i, w in enumerate(filters):
    top, left = (6 + (side * size + 6) * k for k in divmod(i, across))
    grey = np.clip(127.5 + 127.5 * w / np.abs(w).max(), 0, 255).astype(np.uint8)
    sheet[top : top + side * size, left : left + side * size] = np.kron(grey, np.ones((size, size), np.uint8))
Image.fromarray(sheet).save(sys.argv[2], optimize=True)
