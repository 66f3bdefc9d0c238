"""PSNR of `melmo denoise` with the learned prior beside differences: the table of docs/learned-prior.md.

    cargo build --release
    python scripts/learned_table.py ../shared/data/bsd400_u8.npy [COUNT]

The images are the first COUNT (40) of the last 40 of the file, which were not learned from, and grey photographs of scikit-image, where it
is installed. Noise is Gaussian, seeded, not clipped; results are clipped to 0 … 1. `blind` estimates the noise; otherwise it is given.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

plain = ["--prior", "differences"]
MELMO = Path(__file__).resolve().parent.parent / "target" / "release" / "melmo"


def psnr(x, clean):
    return -10 * np.log10(np.mean((np.clip(x, 0, 1) - clean) ** 2))


def run(folder, noisy, *options):
    """The picture and the summary."""
    np.save(folder / "noisy.npy", noisy)
    command = [MELMO, "denoise", "noisy.npy", "-o", "out.npy", "--force", "--json", "-q", "--threads", "1", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return np.load(folder / "out.npy"), json.loads(done.stdout)


def table(name, images, sigmas, folder):
    for sigma in sigmas:
        rows = []
        for i, clean in enumerate(images):
            noisy = clean + sigma / 255 * np.random.RandomState(1000 + i).randn(*clean.shape)
            given = ["--noise", repr(sigma / 255)]
            cells = [run(folder, noisy, *options)[0] for options in (
                [*given, *plain], plain, [*given, "--prior", "learned"], ["--prior", "learned"])]
            rows.append([psnr(x, clean) for x in (noisy, *cells)])
        means = " | ".join(f"{v:.2f}" for v in np.mean(rows, 0))
        print(f"| {name} | {sigma} | {means} |", flush=True)


def main():
    kept = np.load(sys.argv[1])[-40:][: int(sys.argv[2]) if len(sys.argv) > 2 else 40] / 255.0
    print("| images | noise | noisy | differences | blind | learned | blind |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        table(f"{len(kept)} kept aside", kept, [15, 25, 50], folder)
        try:
            from skimage import data, util
        except ImportError:
            return
        for name in ("camera", "coins", "brick"):
            table(name, [util.img_as_float(getattr(data, name)())], [15, 25], folder)


if __name__ == "__main__":
    main()
