"""Arrays of others where they lie: the protocol with NumPy's arrays, and solutions on a GPU where there is one."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

import melmo
from melmo import _melmo


def test_an_array_is_taken_and_given_without_a_copy():
    array = np.arange(12.0).reshape(3, 4)
    before = sys.getrefcount(array)
    lent = _melmo.Lent(array)
    assert (lent.shape, lent.precision, lent.address) == ([3, 4], "f64", array.ctypes.data)
    assert lent.__dlpack_device__() == (1, 0)
    back = np.from_dlpack(lent)
    assert np.shares_memory(back, array) and back.shape == (3, 4) and (back == array).all()
    del lent
    assert back[2, 3] == 11.0  # the capsule keeps it
    unused = _melmo.Lent(array).__dlpack__()
    del back, unused
    assert sys.getrefcount(array) == before


def test_what_cannot_be_read_is_refused():
    with pytest.raises(ValueError, match="C order"):
        _melmo.Lent(np.zeros((4, 4))[:, :2])
    with pytest.raises(TypeError, match="float32 or float64"):
        _melmo.Lent(np.arange(3))
    with pytest.raises(ValueError, match="on a GPU"):
        _melmo.Lent(np.zeros((2, 2))).loss(2, 2)


def _arrays_on_gpu():
    """How to make an array on GPU 0, and read it, by library."""
    try:
        torch = importlib.import_module("torch")
        if torch.cuda.is_available():
            yield "torch", lambda a: torch.from_numpy(a).cuda(), lambda x: x.cpu().numpy()
    except ImportError:
        pass
    for name in ("cupy", "jax"):
        try:
            module = importlib.import_module(name)
            if name == "cupy" and module.cuda.runtime.getDeviceCount() > 0:
                yield name, module.asarray, module.asnumpy
            if name == "jax" and module.default_backend() == "gpu":
                yield name, module.numpy.asarray, np.asarray
        except Exception:  # no driver: said below
            continue


def test_solutions_stay_on_the_gpu():
    found = list(_arrays_on_gpu())
    if not found:
        pytest.skip("no GPU with PyTorch, CuPy or JAX here")
    y = np.random.default_rng(1).normal(size=(64, 48)).astype(np.float32)
    T = melmo.operator.Difference2D(64, 48)
    here = melmo.minimize(melmo.loss.Masked(y), melmo.penalty.MCP(0.4, 3.0), T, method="scaled", max_iter=300)
    for name, make, read in found:
        there = make(y)
        result = melmo.minimize(
            melmo.loss.Masked(there), melmo.penalty.MCP(0.4, 3.0), T, method="scaled", max_iter=300, device="cuda"
        )
        assert type(result.x) is type(there) and result.x.__dlpack_device__()[0] == 2, name
        assert np.abs(read(result.x) - here.x).max() < 1e-2, name
        assert result.certificate is not None and result.certificate.verify().passed, name
