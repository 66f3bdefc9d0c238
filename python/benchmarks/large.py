"""What is as large as the machine, by the program: 10⁸ ratings, 10⁸ counts, and a matrix that stays on disk.

    python python/benchmarks/large.py [ratings] [counts] [disk] [--folder DIR] [--program melmo] [--size 1.0] [--memory 2GB]

Each part makes its data in DIR (a temporary folder unless given; 2 to 8 GB, made once where DIR is given), runs the program on them
with `--result` and then `melmo verify`, and prints seconds and the peak of resident memory of both. `--size 0.01` is a hundredth of
everything. `disk` factorises one `.npy` twice, read into memory and by rows with `--memory`, and compares the second with the first and
the time of its passes: the bytes that it read (`/proc/PID/io`), over the speed at which the file can be read here (from the system's cache,
where that holds it).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

RANK = 20


class Ran:
    """A program that has run: seconds, processor's seconds, peak of memory in GB, bytes read in GB, and its summary."""

    def __init__(self, words: list[str]) -> None:
        start, self.read, self.peak = time.perf_counter(), 0.0, 0.0
        child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        watch = threading.Thread(target=self._watch, args=(child.pid,))
        watch.start()
        told = child.stdout.read()  # type: ignore[union-attr]
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = time.perf_counter() - start
        watch.join()
        self.processor = used.ru_utime + used.ru_stime
        if child.returncode != 0:
            raise SystemExit(f"{' '.join(words)}: status {child.returncode}\n{told}")
        self.told = told

    def _watch(self, pid: int) -> None:
        """What it has read and the most it has held, until it is gone. (`ru_maxrss` would have what this process held when it began.)"""
        try:
            while True:
                words = Path(f"/proc/{pid}/status").read_text().split()
                self.peak = int(words[words.index("VmHWM:") + 1]) * 1024 / 1e9
                words = Path(f"/proc/{pid}/io").read_text().split()
                self.read = int(words[words.index("rchar:") + 1]) / 1e9
                time.sleep(0.02)
        except (OSError, ValueError):
            return

    def __str__(self) -> str:
        return f"{self.seconds:.0f} s ({self.processor:.0f} s of the processor), {self.peak:.2f} GB at most"


def solved(program: str, words: list[str], folder: Path) -> tuple[Ran, dict[str, Any]]:
    """Runs and verifies; what was said of the run, as numbers."""
    result = folder / "result"
    ran = Ran([program, *words, "--result", str(result), "--force", "--json", "--quiet"])
    summary = json.loads(ran.told)
    print(f"  {ran}: F = {summary['F']:.6g}, stationary to {summary['dual_norm']:.3g}", flush=True)
    print(f"  verify: {Ran([program, 'verify', str(result)])}", flush=True)
    return ran, summary


def ratings(program: str, folder: Path, size: float, _: str) -> None:
    from ratings import generated

    path = folder / f"ratings-{size:g}.npz"
    if not path.exists():
        sparse.save_npz(path, sparse.csr_matrix(generated(int(1e8 * size))), compressed=False)
    shape = sparse.load_npz(path)
    print(f"{shape.shape[0]} × {shape.shape[1]}, {shape.nnz} ratings, 50 factors, 12 sweeps, single precision", flush=True)
    del shape
    words = ["complete", str(path), "--rank", "50", "--iterations", "12", "--precision", "f32"]
    solved(program, [*words, "--ridge", "10", "--offset-weight", "5"], folder)
    print("  the same as implicit feedback, ν = 10, α = 1", flush=True)
    solved(program, [*words, "--ridge", "10", "--implicit", "1"], folder)


def counts(program: str, folder: Path, size: float, _: str) -> None:
    from counts import counts as drawn

    path = folder / f"counts-{size:g}.npz"
    if not path.exists():
        sparse.save_npz(path, drawn(int(200_000 * size), 36_000, 500, 50, 0, np.float32), compressed=False)
    shape = sparse.load_npz(path)
    print(f"{shape.shape[0]} × {shape.shape[1]}, {shape.nnz} counts, rank {RANK}, 10 sweeps", flush=True)
    del shape
    words = ["factorize", str(path), "--rank", str(RANK), "--penalty", "l1:lambda=1e-6", "--ridge-h", "0.1", "--nonnegative"]
    solved(program, [*words, "--iterations", "10"], folder)


def disk(program: str, folder: Path, size: float, memory: str) -> None:
    rows, cols = int(30_000 * size), 25_000
    path = folder / f"rows-{size:g}.npy"
    if not path.exists():
        made = np.lib.format.open_memmap(path, "w+", np.float64, (rows, cols))
        rng = np.random.default_rng(0)
        H = np.maximum(rng.normal(size=(RANK, cols)), 0)
        for first in range(0, rows, 500):
            W = np.maximum(rng.normal(size=(min(500, rows - first), RANK)), 0)
            made[first : first + 500] = W @ H + rng.normal(0, 0.5, (len(W), cols))
        made.flush()
        del made
    bytes_of = path.stat().st_size / 1e9
    start = time.perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.read(64 << 20):
            pass
    speed = bytes_of / (time.perf_counter() - start)
    print(f"{rows} × {cols}, {bytes_of:.2f} GB, rank {RANK}, read here at {speed:.2f} GB/s", flush=True)
    words = ["factorize", str(path), "--rank", str(RANK), "--iterations", "10", "--scale", "none"]
    print("in memory", flush=True)
    inside, first = solved(program, words, folder)
    print(f"--memory {memory}", flush=True)
    outside, second = solved(program, [*words, "--memory", memory], folder)
    passes = (outside.read - inside.read) / speed
    ratio = outside.seconds / (inside.seconds + max(0.0, passes))
    print(f"{outside.read / bytes_of:.1f} passes, {passes:.0f} s more than in memory at that speed; F differs by {second['F'] / first['F'] - 1:+.1e}")
    print(f"by rows: {ratio:.2f} of the time in memory and of those passes")


def main() -> None:
    parts = {"ratings": ratings, "counts": counts, "disk": disk}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(parts))
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--program", default="melmo")
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--memory", default="2GB")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in asked.parts:
            print(f"\n{name}", flush=True)
            parts[name](asked.program, folder, asked.size, asked.memory)


if __name__ == "__main__":
    main()
