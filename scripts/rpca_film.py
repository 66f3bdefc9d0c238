"""A seeded film for `melmo rpca`: a scene whose light changes, discs that cross it, noise of 0.02.

python scripts/rpca_film.py FRAMES ROWS COLUMNS OUT.npy
"""

import sys

import numpy as np

frames, height, width = map(int, sys.argv[1:4])
rng = np.random.default_rng(0)
row, column = np.mgrid[:height, :width]
scene = 0.5 + 0.2 * np.sin(row / 17) * np.cos(column / 23) + 0.15 * ((row // 24 + column // 32) % 2)
light = np.linspace(0.8, 1, frames)
wave = np.sin(row / 9 + column / 40)
low, high = [0, 0, -1.5, -3, 6, -0.5], [height, width, 1.5, 3, 18, 0.5]
discs = [[rng.uniform(a, b) for a, b in zip(low, high)] for _ in range(8)]
film = np.empty((frames, height, width))
for t in range(frames):
    frame = scene * light[t] + 0.05 * np.sin(t / 11) * wave
    for y, x, down, right, radius, brighter in discs:
        inside = (row - (y + down * t) % height) ** 2 + (column - (x + right * t) % width) ** 2 < radius**2
        frame[inside] = np.clip(frame[inside] + brighter, 0, 1)
    film[t] = frame
film += 0.02 * rng.normal(size=film.shape)
np.save(sys.argv[4], film)
