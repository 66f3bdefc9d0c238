"""`melmo denoise` without options beside total variation tuned on the clean image.

    pip install scikit-image
    cargo build --release
    python scripts/denoise_table.py [--images held-out | chosen-on] [--cache DIR]

For six images of the scikit-image wheel and three strengths of seeded Gaussian noise (range 1), a table of PSNR and SSIM
(scikit-image's own, data_range 1) of the noisy image, of melmo, and of skimage.restoration.denoise_tv_chambolle with the
weight that is best *for this very clean image*: by PSNR, and (last column) by SSIM. melmo sees the noisy array alone.
"""

import argparse
import json
import os
import subprocess
import tempfile

import numpy as np
import skimage
from skimage import img_as_float, io
from skimage.metrics import peak_signal_noise_ratio, structural_similarity
from skimage.restoration import denoise_tv_chambolle

IMAGES = {
    # Never looked at while constants were chosen.
    "held-out": ["camera", "coins", "brick", "astronaut", "coffee", "chelsea"],
    # What the constants were chosen on (there: crops of 256×256).
    "chosen-on": ["moon", "gravel", "grass", "clock_motion", "cell", "page", "text", "ihc", "hubble_deep_field",
                  "motorcycle_left", "retina", "rocket"],
}
SIGMAS = [0.03, 0.05, 0.1]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PROGRAM = os.environ.get("MELMO", os.path.join(ROOT, "target", "release", "melmo"))


def load(name):
    folder = os.path.join(os.path.dirname(skimage.__file__), "data")
    for extension in (".png", ".jpg"):
        path = os.path.join(folder, name + extension)
        if os.path.exists(path):
            return img_as_float(io.imread(path))
    raise SystemExit(f"{name} is not in the scikit-image wheel")


def axis(image):
    return 2 if image.ndim == 3 else None


def measure(image, clean):
    psnr = peak_signal_noise_ratio(clean, image, data_range=1)
    return psnr, structural_similarity(clean, image, data_range=1, channel_axis=axis(clean))


def noisy(clean, sigma, place):
    """Noise is not clipped, so that its strength is the same everywhere."""
    return clean + sigma * np.random.default_rng([place, round(1000 * sigma)]).standard_normal(clean.shape)


def tuned(image, clean, sigma):
    """The best of a fine grid of weights: 16 from 0.2 to 3 times the noise, then 6 more around the best; by PSNR and by SSIM."""
    tried = {}

    def attempt(weight):
        if weight not in tried:
            tried[weight] = measure(denoise_tv_chambolle(image, weight=weight, channel_axis=axis(clean)), clean)

    grid = sigma * np.geomspace(0.2, 3, 16)
    for weight in grid:
        attempt(weight)
    step = grid[1] / grid[0]
    best = []
    for which in (0, 1):
        centre = max(tried, key=lambda weight: tried[weight][which])
        for power in (-0.75, -0.5, -0.25, 0.25, 0.5, 0.75):
            attempt(centre * step**power)
        best.append(max(tried.items(), key=lambda item: item[1][which]))
    return best


def melmo(images, options):
    with tempfile.TemporaryDirectory() as folder:
        answers, sigmas = [], []
        for i, image in enumerate(images):
            noisy_file, answer = (os.path.join(folder, f"{i}{end}") for end in (".npy", ".out.npy"))
            np.save(noisy_file, image)
            command = [PROGRAM, "denoise", "--prior", "differences", noisy_file, "-o", answer, "--json", "--quiet", *options]
            told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            sigmas.append(json.loads(told)["noise"])
            answers.append(np.load(answer))
        return answers, sigmas


def baseline(cache, key, image, clean, sigma):
    """Tuning takes minutes; with --cache it is done once."""
    path = cache and os.path.join(cache, f"{key}.npy")
    if path and os.path.exists(path):
        return np.load(path)
    (weight, by_psnr), (_, by_ssim) = tuned(image, clean, sigma)
    found = np.array([*by_psnr, weight / sigma, *by_ssim])
    if path:
        os.makedirs(cache, exist_ok=True)
        np.save(path, found)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", choices=IMAGES, default="held-out")
    parser.add_argument("--cache", help="where to keep what tuning found")
    parser.add_argument("--option", action="append", default=[], help="passed on to the program, as in --option=--strength=1.1")
    given = parser.parse_args()
    cases = [(place, name, sigma) for place, name in enumerate(IMAGES[given.images]) for sigma in SIGMAS]
    cleans = {name: load(name) for name in IMAGES[given.images]}
    images = [noisy(cleans[name], sigma, place) for place, name, sigma in cases]
    answers, sigmas = melmo(images, given.option)
    print("| image | noise | found | noisy | melmo | TV, best PSNR | its weight over the noise | TV, best SSIM |")
    print("|---|---|---|---|---|---|---|---|")
    rows = []
    for (place, name, sigma), image, answer, found in zip(cases, images, answers, sigmas):
        clean = cleans[name]
        tv = baseline(given.cache, f"{given.images}-{name}-{sigma}", image, clean, sigma)
        row = [*measure(image, clean), *measure(answer, clean), *tv]
        rows.append(row)
        show(name, f"{sigma:.2f}", f"{found:.4f}", row)
    show("**mean**", "", "", np.mean(rows, axis=0))


def show(name, sigma, found, row):
    pair = lambda psnr, ssim: f"{psnr:.2f} {ssim:.4f}"
    cells = [pair(*row[0:2]), pair(*row[2:4]), pair(*row[4:6]), f"{row[6]:.2f}", pair(*row[7:9])]
    print("|", " | ".join([name, sigma, found, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
