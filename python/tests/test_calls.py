"""Fifteen seconds of random calls of everything public; `scripts/attack/python_calls` makes as many as one likes."""

import subprocess
import sys
from pathlib import Path

import pytest

ATTACK = Path(__file__).parents[2] / "scripts" / "attack" / "python_calls"


@pytest.mark.skipif(not ATTACK.exists(), reason="the script is in the repository, not in the package")
def test_only_type_errors_and_value_errors_come_out(tmp_path):
    log = tmp_path / "calls"
    command = [sys.executable, str(ATTACK), "100000", "--seconds", "15", "--seed", "16", "--log", str(log)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    last = log.read_text(encoding="utf-8").splitlines()[-1:]
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}\nthe last call: {last}"
    assert int(done.stdout.split()[0]) > 100
