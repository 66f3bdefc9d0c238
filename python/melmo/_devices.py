"""Arrays on a GPU: taken where they lie, and given back by those who made them."""

from __future__ import annotations

import importlib
from typing import Any

#: NVIDIA's GPUs in DLPack.
_CUDA = 2


def on_gpu(value: Any) -> bool:
    """Whether `value` is an array in the memory of an NVIDIA GPU."""
    told = getattr(value, "__dlpack_device__", None)
    return told is not None and told()[0] == _CUDA


def alike(array: Any, point: Any) -> Any:
    """`point`, which speaks DLPack, as an array of the kind of `array`: without a copy where both are on one device.

    >>> import numpy as np
    >>> alike(np.zeros(2), np.ones(2))
    array([1., 1.])
    """
    maker = type(array).__module__.partition(".")[0]
    if maker in ("jax", "jaxlib"):
        return importlib.import_module("jax.dlpack").from_dlpack(point)
    return importlib.import_module(maker).from_dlpack(point)


def moved(array: Any, point: Any) -> Any:
    """A NumPy array as one of the kind of `array`, copied to where that is."""
    maker = type(array).__module__.partition(".")[0]
    if maker == "torch":
        return importlib.import_module("torch").from_numpy(point).to(array.device)
    if maker == "cupy":
        with array.device:
            return importlib.import_module("cupy").asarray(point)
    jax = importlib.import_module("jax")
    return jax.device_put(point, array.device)
