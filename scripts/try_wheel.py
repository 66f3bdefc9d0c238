"""Installs a wheel into a fresh environment without a compiler, and tries it: python scripts/try_wheel.py WHEEL [PYTHON]

`try_wheel.py WHEEL --other COMMAND…` tries it with a Python of another system (scripts/python_for). It has no pip:
this machine's fetches what is for that system. The limits are those that the project promises: at most 9 MB,
five seconds to install it beside NumPy, 0.3 seconds to import it (not judged on an emulator).
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
PIP = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--root-user-action", "ignore", "--only-binary", ":all:"]
Command = list[str]


def processor() -> float:
    """Processor seconds of the programs that were started: on a busy machine, what an idle one would take."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def own(python: Command, path: str) -> tuple[Command, Command, dict[str, str]]:
    """An environment of that Python: what runs in it, what installs into it, and its variables, where nothing else is on the path."""
    subprocess.run([*python, "-m", "venv", path], check=True)
    inside = [f"{path}/bin/python"]
    return inside, [*inside, *PIP], {"PATH": f"{path}/bin"}


def other(python: Command, path: str, wheel: str) -> tuple[Command, Command, dict[str, str]]:
    """The same for a Python of another system, into a folder."""
    version = subprocess.run([*python, "-c", "import sys; print(*sys.version_info[:2], sep='.')"], check=True, capture_output=True, text=True).stdout.strip()
    tags = wheel.removesuffix(".whl").rsplit("-", 1)[1].split(".")
    if tags[0].startswith("manylinux"):  # NumPy's are for a newer glibc than ours need
        tags.append("manylinux_2_28_aarch64" if tags[0].endswith("aarch64") else "manylinux_2_28_x86_64")
    wanted = [word for tag in tags for word in ("--platform", tag)]
    return python, [sys.executable, *PIP, "--target", path, "--upgrade", "--python-version", version, *wanted], {"PATH": "", "PYTHONPATH": path}


def main() -> None:
    wheel, *python = sys.argv[1:]
    foreign = python[:1] == ["--other"]
    python = python[1:] if foreign else python or [sys.executable]
    emulated = len(python) > 1
    with tempfile.TemporaryDirectory() as path:
        inside, pip, environment = other(python, path, wheel) if foreign else own(python, path)
        variables = {**os.environ, **environment}
        subprocess.run([*pip, "numpy"], check=True, env=variables)
        begun, worked = time.perf_counter(), processor()
        subprocess.run([*pip, "--no-index", "--no-deps", wheel], check=True, env=variables)
        installed, worked = time.perf_counter() - begun, processor() - worked

        def run(code: str) -> str:
            done = subprocess.run([*inside, "-c", code], check=True, env=variables, cwd=path, stdout=subprocess.PIPE, text=True)
            return done.stdout

        run(IMPORT)  # the first time bytecode is written
        imported = min(float(run(IMPORT)) for _ in range(3))
        run(TRIAL)
    system = subprocess.run([*python, "-c", "import platform as p; print('Python', p.python_version(), 'on', p.machine())"], capture_output=True, text=True).stdout.strip()
    size = os.path.getsize(wheel) / 1e6
    told = "" if emulated else f" imported in {imported:.2f} s,"
    print(f"   {system}: {size:.1f} MB, installed in {installed:.1f} s ({worked:.1f} of work),{told} denoises, certifies")
    assert worked < 5 and (emulated or imported <= 0.3) and size <= 9, "slower or larger than promised"


if __name__ == "__main__":
    main()
