"""Runs the snippets of a page of the documentation, in their order, in a folder of their own.

    python scripts/run_page.py docs/guide/regress.md --pictures

Fenced blocks `python` share their names, blocks `sh` are shell lines in which `melmo` is the program at MELMO_PROGRAM (otherwise the one of
target/release). A block `text` after one of them is what it prints, give or take numbers: lines may be left out, none may be invented. With
`--pictures`, pictures that the page shows and its snippets write are copied to where the page has them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(os.environ.get("MELMO_PROGRAM", ROOT / "target" / "release" / "melmo"))
NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+−]?\d+)?")
UNIT = re.compile(r"# (?:µs|ms|s|min)\b")


def blocks(text: str) -> list[tuple[str, str]]:
    """The fenced blocks of a page: their language and what is in them."""
    return re.findall(r"^```(python|sh|text)\n(.*?)^```", text, re.S | re.M)


def run(page: Path, folder: Path) -> dict[str, Any]:
    """Runs a page in a folder; the names that its Python snippets leave."""
    space: dict[str, Any] = {}
    printed = ""
    before = Path.cwd()
    os.chdir(folder)
    try:
        for kind, block in blocks(page.read_text(encoding="utf-8")):
            if kind == "text":
                compare(page, block, printed)
            else:
                printed = shell(page, block) if kind == "sh" else python(page, block, space)
    finally:
        os.chdir(before)
    return space


def python(page: Path, block: str, space: dict[str, Any]) -> str:
    """Runs a block of Python; what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block, str(page), "exec"), space)
    return out.getvalue()


def shell(page: Path, block: str) -> str:
    """Runs a block of shell lines; what they print."""
    with tempfile.TemporaryDirectory() as path:
        (Path(path) / "melmo").symlink_to(PROGRAM.resolve())
        environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
    assert done.returncode == 0, f"{page}: {block}{done.stdout}"
    return done.stdout


def plain(line: str) -> str:
    """A line without its numbers, units of time and spaces."""
    return " ".join(UNIT.sub("# time", NUMBER.sub("#", line)).split())


def compare(page: Path, shown: str, printed: str) -> None:
    """Every line that is shown is printed, in that order."""
    lines = iter([plain(line) for line in printed.splitlines()])
    for line in shown.splitlines():
        assert plain(line) in lines, f"{page} shows a line that is not printed (here):\n{line}\n\n{printed}"


def main() -> None:
    page = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as path:
        run(page, Path(path))
        if "--pictures" in sys.argv:
            for target in re.findall(r"!\[[^]]*\]\(([^)]*)\)", page.read_text(encoding="utf-8")):
                made = Path(path) / Path(target).name
                if made.exists():
                    (page.parent / target).parent.mkdir(exist_ok=True)
                    shutil.copy(made, page.parent / target)
                    print(target, made.stat().st_size)
    print(f"{page.name}: everything runs")


if __name__ == "__main__":
    main()
