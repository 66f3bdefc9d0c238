"""Installs a wheel into a fresh environment without a compiler, and tries it: python scripts/try_wheel.py WHEEL [PYTHON]

The limits are those that the project promises: at most 9 MB, five seconds to install it
beside NumPy, 0.3 seconds to import it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time

IMPORT = "import time, numpy; t = time.perf_counter(); import melmo; print(time.perf_counter() - t)"
TRIAL = """
import numpy as np, melmo
photo = melmo.data.load("camera")
noisy = photo + 0.1 * np.random.default_rng(0).standard_normal(photo.shape)
clean = melmo.denoise(noisy)
assert abs(clean - photo).mean() < 0.3 * abs(noisy - photo).mean()
result = melmo.minimize(melmo.loss.Masked([3.0, 0.1, -0.2, -4.0]), melmo.penalty.MCP(0.5, 2.0))
assert result.success and result.certificate.verify()
"""


def processor() -> float:
    """Processor seconds of the programs that were started: on a busy machine, what an idle one would take."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    wheel, python = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else sys.executable
    with tempfile.TemporaryDirectory() as path:
        subprocess.run([python, "-m", "venv", path], check=True)
        # Nothing but the environment is on the path: no compiler, no Rust.
        environment = {**os.environ, "PATH": f"{path}/bin"}
        pip = [f"{path}/bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--only-binary", ":all:"]
        subprocess.run([*pip, "numpy"], check=True, env=environment)
        begun, worked = time.perf_counter(), processor()
        subprocess.run([*pip, "--no-index", wheel], check=True, env=environment)
        installed, worked = time.perf_counter() - begun, processor() - worked

        def run(code: str) -> str:
            done = subprocess.run([f"{path}/bin/python", "-c", code], check=True, env=environment, cwd=path, capture_output=True, text=True)
            return done.stdout

        run(IMPORT)  # the first time bytecode is written
        imported = min(float(run(IMPORT)) for _ in range(3))
        run(TRIAL)
    version = subprocess.run([python, "--version"], capture_output=True, text=True).stdout.strip()
    size = os.path.getsize(wheel) / 1e6
    print(f"   {version}: {size:.1f} MB, installed in {installed:.1f} s ({worked:.1f} of work), imported in {imported:.2f} s, denoises, certifies")
    assert worked < 5 and imported <= 0.3 and size <= 9, "slower or larger than promised"


if __name__ == "__main__":
    main()
