"""Readers, bundled data, metrics."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import melmo


def test_bundled_sets():
    shapes = {name: melmo.data.load(name).shape for name in melmo.data.bundled()}
    assert shapes["camera"] == (256, 256) and shapes["miserables"] == (77, 77) and shapes["football"] == (115, 115)


def test_files_come_back(tmp_path):
    array = np.random.default_rng(0).standard_normal((5, 3))
    np.save(tmp_path / "a.npy", array)
    assert np.array_equal(melmo.data.read(tmp_path / "a.npy"), array)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,\n")
    table, more = melmo.data.read(tmp_path / "t.csv", more=True)
    assert more["columns"] == ["a", "b"] and np.isnan(table[1, 1]) and table[1, 0] == 3.0


def test_metrics():
    image = melmo.data.load("camera")
    noisy = np.clip(image + 0.1 * np.random.default_rng(0).standard_normal(image.shape), 0, 1)
    assert melmo.data.ssim(image, image) == 1.0 and 0 < melmo.data.ssim(image, noisy) < 0.9
    assert 19 < melmo.data.psnr(image, noisy) < 22


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_that_never_speaks_can_be_left(tmp_path):
    os.mkfifo(tmp_path / "y.csv")
    # Where the tests run in the background of a shell, Ctrl-C is ignored from the start.
    hears = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{hears}; import melmo; print('reads', flush=True); melmo.data.read({str(tmp_path / 'y.csv')!r})"
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "reads\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, told = child.communicate(timeout=20)
    assert "KeyboardInterrupt" in told
