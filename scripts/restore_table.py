"""What `melmo deblur` and `melmo inpaint` make of pictures beside scikit-image: python scripts/restore_table.py bsd400_u8.npy 10

Needs NumPy, SciPy, scikit-image and the program in target/release. The first argument is the file of 400 grey Berkeley images (not part of
the project; the last 40 were kept aside by everything that was learned), the second how many of those 40 are taken. The blur is that of a
real lens: a picture is blurred and its border cut off, so that nobody knows what lay outside. PSNR is taken 8 pixels inside, for all.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from scipy.ndimage import gaussian_filter
from skimage import data, restoration

MELMO = pathlib.Path(__file__).parent.parent / "target/release/melmo"
MARGIN = 8


def program(command: str, picture: np.ndarray) -> tuple[np.ndarray, dict]:
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/in.npy", picture)
        line = [str(MELMO), *command.split(), "--json", "-q", "-o", f"{folder}/out.npy"]
        line.insert(2, f"{folder}/in.npy")
        told = json.loads(subprocess.run(line, check=True, capture_output=True).stdout)
        return np.load(f"{folder}/out.npy"), told


def psnr(clean: np.ndarray, found: np.ndarray) -> float:
    inside = (slice(MARGIN, -MARGIN),) * 2
    return float(-10 * np.log10(np.mean((clean - np.clip(found, 0, 1))[inside] ** 2)))


def deblurred(picture: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    cut = (slice(7, -7),) * 2
    clean = picture[cut]
    blurred = gaussian_filter(picture, 1.6, truncate=4)[cut] + 0.01 * rng.normal(size=clean.shape)
    line = np.exp(-0.5 * (np.arange(-7, 8) / 1.6) ** 2)
    psf = np.outer(line, line) / line.sum() ** 2
    sharp, told = program("deblur --kernel gaussian:1.6", blurred)
    wiener = restoration.unsupervised_wiener(blurred, psf, clip=False, rng=0)[0]
    lucy = max(psnr(clean, restoration.richardson_lucy(blurred, psf, num_iter=n)) for n in (5, 10, 20, 30, 50))
    found = {"given": psnr(clean, blurred), "melmo": psnr(clean, sharp), "wiener": psnr(clean, wiener)}
    return found | {"lucy, best n": lucy, "stationary to": told["dual_norm"]}


def filled(picture: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    missing = rng.random(picture.shape) < 0.8
    found, told = program("inpaint", np.where(missing, np.nan, picture))
    theirs = restoration.inpaint_biharmonic(picture * ~missing, missing)
    return {"melmo": psnr(picture, found), "biharmonic": psnr(picture, theirs), "stationary to": told["dual_norm"]}


def table(name: str, job, pictures: list[np.ndarray]) -> None:
    rows = [job(picture, np.random.default_rng(i)) for i, picture in enumerate(pictures)]
    means = {key: np.mean([row[key] for row in rows]) for key in rows[0]}
    print(f"{name:34}" + "  ".join(f"{key} {mean:.2f}" for key, mean in means.items()), flush=True)


kept = np.load(sys.argv[1])[360:] / 255.0
count = int(sys.argv[2])
kept = [kept[i * 40 // count] for i in range(count)]
photographs = [picture()[:256, :256] / 255.0 for picture in (data.camera, data.coins, data.brick)]
for name, pictures in ((f"{count} kept aside", kept), ("camera, coins, brick (256²)", photographs)):
    table(f"blur, {name}", deblurred, pictures)
    table(f"80 % missing, {name}", filled, pictures)
