#!/usr/bin/env python3
"""Films frame by frame beside films as volumes, and volumes beside total variation: a table for docs/denoising.md.

    python scripts/film_table.py bsd400_u8.npy 360 367

Pictures of the file (400 grey ones of 180×180) are seen through a window that moves by a pixel a frame. Volumes are made. Noise is given."""

import sys

import numpy as np
from skimage.restoration import denoise_tv_chambolle

import melmo

LEVELS = (0.05, 0.1)
WEIGHTS = (0.4, 0.7, 1.0, 1.5, 2.2, 3.0)


def moving(picture: np.ndarray, frames: int = 16, side: int = 64) -> np.ndarray:
    return np.stack([picture[40 : 40 + side, 40 + t : 40 + t + side] for t in range(frames)])


def ellipsoids(side: int = 40) -> np.ndarray:
    """Some that overlap, in a slope."""
    rng = np.random.default_rng(7)
    at = np.stack(np.mgrid[:side, :side, :side]) / side - 0.5
    volume = 0.3 + 0.2 * at[2]
    for _ in range(6):
        middle, radii = rng.uniform(-0.3, 0.3, 3), rng.uniform(0.08, 0.25, 3)
        inside = (((at - middle[:, None, None, None]) / radii[:, None, None, None]) ** 2).sum(0) < 1
        volume[inside] = rng.uniform(0.1, 0.9)
    return volume


def psnr(clean: np.ndarray, found: np.ndarray) -> float:
    return float(-10 * np.log10(np.mean((clean - found) ** 2)))


def best_variation(clean: np.ndarray, noisy: np.ndarray, level: float) -> float:
    return max(psnr(clean, denoise_tv_chambolle(noisy, weight=w * level, max_num_iter=400)) for w in WEIGHTS)


def main() -> None:
    pictures = np.load(sys.argv[1], mmap_mode="r")
    volumes = {f"picture {n}": moving(np.asarray(pictures[int(n)], float) / 255) for n in sys.argv[2:]}
    volumes["ellipsoids"] = ellipsoids()
    print("| what | noise | noisy | frame by frame | as a volume | TV, best of six weights |\n|---|---|---|---|---|---|")
    for name, clean in volumes.items():
        for level in LEVELS:
            noisy = clean + level * np.random.default_rng(1).standard_normal(clean.shape)
            frames = np.stack(list(melmo.denoise_film(noisy, noise=level)))
            volume = melmo.denoise(noisy, noise=level)
            found = [psnr(clean, noisy), psnr(clean, frames), psnr(clean, volume), best_variation(clean, noisy, level)]
            print(f"| {name} | {level} | " + " | ".join(f"{value:.2f}" for value in found) + " |", flush=True)


if __name__ == "__main__":
    main()
