"""Tomography from few angles, beside scikit-image: python scripts/tomography_table.py bsd400_u8.npy 5

Needs NumPy, scikit-image and the package melmo. Sinograms of 60 parallel angles come from scikit-image's `radon`, not from our operator, and
have noise of 0.2 % of their largest value (or what the third argument says). Pictures are those of the 400 grey Berkeley images (not part of the project) that were kept aside, the
middle 128×128 of them, and the Shepp-Logan phantom; only the disc that all rays see counts. FBP has the best of scikit-image's filters and SART the best of 1 to 6
rounds for each picture, which nobody knows without the original. Ours has the learned prior beside the data; the weight of the data is the
smallest with which they are explained as well as their noise allows (the discrepancy principle).
"""

import sys

import melmo
import numpy as np
from skimage.data import shepp_logan_phantom
from skimage.transform import iradon, iradon_sart, radon, resize

SIDE, ANGLES = 128, np.linspace(0, 180, 60, endpoint=False)
FILTERS = ("ramp", "shepp-logan", "cosine", "hamming", "hann")
#: What the prior takes for noise: it only decides how finely it looks.
LEVEL = 0.05
TRIALS = 7
#: The noise, as a part of the largest value.
NOISE = float(sys.argv[3]) if len(sys.argv) > 3 else 0.002
i, j = np.mgrid[:SIDE, :SIDE] - SIDE // 2
DISC = i**2 + j**2 <= (SIDE // 2 - 1) ** 2


def psnr(clean: np.ndarray, found: np.ndarray) -> float:
    return float(-10 * np.log10(np.mean((clean - np.clip(found, 0, 1))[DISC] ** 2)))


def ours(sinogram: np.ndarray, sigma: float) -> tuple[np.ndarray, melmo.Result]:
    rays = melmo.operator.Radon(ANGLES, (SIDE, SIDE), detectors=SIDE)
    prior = melmo.prior.Learned((SIDE, SIDE), noise=LEVEL)
    x = np.clip(iradon(sinogram, ANGLES, filter_name="hann"), 0, 1)
    low, high = None, None
    weight = 1 / rays.norm_bound**2
    for _ in range(TRIALS):
        scale = np.sqrt(weight)
        data = melmo.loss.LeastSquares(melmo.operator.Scale(rays, c=scale), scale * sinogram.T)
        result = melmo.minimize(prior.beside(data), melmo.penalty.Box(0, 1), x0=x, max_iter=80)
        x = result.x
        off = np.mean((rays(x) - sinogram.T) ** 2) / sigma**2
        if abs(np.log(off)) < 0.02:
            break
        low, high = (weight, high) if off > 1 else (low, weight)
        weight = np.sqrt(low * high) if low and high else weight * (4 if off > 1 else 0.25)
    return x, result


def row(clean: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    clean = clean * DISC
    sinogram = radon(clean, ANGLES, circle=True)
    sigma = NOISE * sinogram.max()
    sinogram = sinogram + sigma * rng.normal(size=sinogram.shape)
    fbp = max(psnr(clean, iradon(sinogram, ANGLES, filter_name=name)) for name in FILTERS)
    x, sart = None, []
    for _ in range(6):
        x = iradon_sart(sinogram, ANGLES, image=x)
        sart.append(psnr(clean, x))
    found, result = ours(sinogram, sigma)
    numbers = {"FBP": fbp, "SART": max(sart), "melmo": psnr(clean, found)}
    return numbers | {"stationary to": result.certificate.dual_norm[1]}


def main() -> None:
    kept, count = np.load(sys.argv[1])[360:] / 255, int(sys.argv[2])
    middle = [(n - SIDE) // 2 for n in kept.shape[1:]]
    cut = (slice(middle[0], middle[0] + SIDE), slice(middle[1], middle[1] + SIDE))
    jobs = {f"kept {40 * k // count}": kept[40 * k // count][cut] for k in range(count)}
    jobs["Shepp-Logan"] = resize(shepp_logan_phantom(), (SIDE, SIDE), anti_aliasing=True)
    rows = {name: row(clean, np.random.default_rng(k)) for k, (name, clean) in enumerate(jobs.items())}
    rows[f"mean of the {count} kept"] = {key: np.mean([rows[n][key] for n in list(jobs)[:count]]) for key in next(iter(rows.values()))}
    for name, numbers in rows.items():
        print(f"{name:22}" + "  ".join(f"{key} {value:.2f}" for key, value in numbers.items()), flush=True)


if __name__ == "__main__":
    main()
