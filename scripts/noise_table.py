"""`melmo denoise` beside quick methods, for each kind of noise that pictures have.

    pip install scikit-image bm3d PyWavelets
    apt-get download mate-backgrounds plasma-workspace-wallpapers && for d in *.deb; do dpkg-deb -x $d photos; done
    python scripts/noise_table.py --grey bsd400_u8.npy --photos photos

Twenty pictures for each kind: ten of the kept grey ones and ten in colour; the camera's noise on twenty in colour. Everybody sees the noisy
picture alone: the others take scikit-image's `estimate_sigma`. A cell is the mean PSNR in dB. `--json` keeps what was found.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import skimage
from PIL import Image
from scipy import ndimage

SIZE = 160
WHEEL = ["astronaut.png", "coffee.png", "chelsea.png", "ihc.png", "retina.jpg", "rocket.jpg", "motorcycle_left.png", "hubble_deep_field.jpg"]
NATURE = ["RainDrops", "Blinds", "Dune", "TwoWings", "Wood", "LadyBird", "YellowFlower", "Garden", "GreenMeadow"]
WALL = ["Autumn", "ColorfulCups", "BytheWater", "Kite"]


def middle(picture, size=SIZE):
    i, j = ((n - size) // 2 for n in picture.shape[:2])
    return picture[i : i + size, j : j + size] / 255


def smaller(image, width):
    """By means of squares: what noise and JPEG a photograph has is mostly gone."""
    return image.resize((width, image.height * width // image.width), Image.BOX)


def colour(photos):
    folder = pathlib.Path(os.path.dirname(skimage.__file__)) / "data"
    found = {}
    for name in WHEEL:
        image = Image.open(folder / name).convert("RGB")
        found[name.split(".")[0]] = middle(np.asarray(smaller(image, image.width // 2) if image.width > 900 else image))
    paths = [f"backgrounds/mate/nature/{n}.jpg" for n in NATURE] + [f"wallpapers/{n}/contents/images/2560x1600.jpg" for n in WALL]
    for path in paths:
        image = Image.open(pathlib.Path(photos) / "usr/share" / path).convert("RGB")
        name = pathlib.Path(path).stem if "mate" in path else path.split("/")[1]
        found[name] = middle(np.asarray(smaller(image, 640)))
    return found


def seeded(k):
    return np.random.default_rng(1000 + k)


def gaussian(x, k, sigma=25 / 255):
    return x + sigma * seeded(k).normal(size=x.shape)


def poisson(x, k, peak=30.0):
    return seeded(k).poisson(x * peak) / peak


def correlated(x, k, sigma=15 / 255):
    noise = ndimage.gaussian_filter(seeded(k).normal(size=x.shape), (1, 1) + (0,) * (x.ndim - 2), mode="wrap")
    return x + sigma * noise / noise.std()


def salt_and_pepper(x, k, part=0.1):
    u = seeded(k).random(x.shape)
    return np.where(u < part / 2, 0.0, np.where(u > 1 - part / 2, 1.0, np.round(x * 255) / 255))


def camera(x, k, photons=150.0, read=3.0):
    """As at ISO 6400: photons and read noise in linear light, a Bayer pattern, bilinear demosaicing, gamma, 8 bits."""
    rng, mosaic = seeded(k), np.zeros(x.shape)
    for (i, j), c in {(0, 0): 0, (0, 1): 1, (1, 0): 1, (1, 1): 2}.items():
        mosaic[i::2, j::2, c] = 1
    raw = (x**2.2 * mosaic).sum(2)
    raw = (rng.poisson(raw * photons) + read * rng.normal(size=raw.shape)) / photons
    cross, square = np.array([[0, 1, 0], [1, 4, 1], [0, 1, 0]]) / 4, np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 4
    rgb = np.stack([ndimage.convolve(raw * mosaic[..., c], cross if c == 1 else square, mode="mirror") for c in range(3)], -1)
    return np.round(np.clip(rgb, 0, 1) ** (1 / 2.2) * 255) / 255


def clean(x, k):
    return np.round(x * 255) / 255


KINDS = {"Gaussian": gaussian, "Poisson": poisson, "camera": camera, "correlated": correlated, "salt and pepper": salt_and_pepper, "clean": clean}


def psnr(a, b):
    return float(min(99.0, -10 * np.log10(max(1e-12, np.mean((np.clip(a, 0, 1) - b) ** 2)))))


def melmo(program, y):
    with tempfile.TemporaryDirectory() as folder:
        place = lambda name: os.path.join(folder, name)
        np.save(place("y.npy"), y)
        subprocess.run([program, "denoise", place("y.npy"), "-o", place("x.npy"), "-q"], check=True)
        return np.load(place("x.npy"))


def others(y, with_bm3d):
    from skimage.restoration import denoise_nl_means, denoise_wavelet, estimate_sigma

    axis = -1 if y.ndim == 3 else None
    sigma = float(np.mean(estimate_sigma(y, channel_axis=axis)))
    yield "non-local means", lambda: denoise_nl_means(y, h=0.8 * sigma, sigma=sigma, patch_size=5, patch_distance=6, fast_mode=True, channel_axis=axis)
    yield "wavelets", lambda: denoise_wavelet(np.clip(y, 0, 1), channel_axis=axis, convert2ycbcr=axis is not None, rescale_sigma=True)
    yield "median", lambda: ndimage.median_filter(y, (3, 3) + (1,) * (y.ndim - 2))
    if with_bm3d:
        import bm3d

        yield "BM3D", lambda: (bm3d.bm3d_rgb if axis is not None else bm3d.bm3d)(y, max(sigma, 1e-3))


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("--grey", required=True, help="the file of 400 grey images, of which the last 40 were kept aside")
    ask.add_argument("--photos", required=True, help="where the packages were unpacked")
    ask.add_argument("--program", default="target/release/melmo")
    ask.add_argument("--kinds", nargs="*", default=list(KINDS))
    ask.add_argument("--no-bm3d", action="store_true")
    ask.add_argument("--every", type=int, default=1, help="take every so many-th picture only")
    ask.add_argument("--rows", action="store_true", help="a line for each picture")
    ask.add_argument("--json")
    args = ask.parse_args()
    grey = {f"grey {i}": middle(p) for i, p in enumerate(np.load(args.grey)[-40:]) if i % 4 == 0}
    many = colour(args.photos)
    table = {}
    for kind in args.kinds:
        pictures = list(many.items())[:20] if kind == "camera" else list(grey.items()) + list(many.items())[:10]
        rows = []
        for k, (name, x) in list(enumerate(pictures))[:: args.every]:
            y = KINDS[kind](x, k)
            row = {"noisy": psnr(y, x), "melmo": psnr(melmo(args.program, y), x)}
            row |= {method: psnr(run(), x) for method, run in others(y, not args.no_bm3d)}
            rows.append({"name": name} | row)
            if args.rows:
                print(kind, name, *(f"{m} {v:.2f}" for m, v in row.items()), flush=True)
        table[kind] = rows
        names = [m for m in rows[0] if m != "name"]
        if kind == args.kinds[0]:
            print("| noise | " + " | ".join(names) + " | pictures | below the noisy one |\n|" + "---|" * (len(names) + 3))
        means = [np.mean([r[m] for r in rows]) for m in names]
        below = sum(r["melmo"] < r["noisy"] - 0.005 for r in rows)
        print(f"| {kind} | " + " | ".join(f"{m:.2f}" for m in means) + f" | {len(rows)} | {below} |", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
