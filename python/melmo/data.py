"""Readers for arrays, tables, sparse matrices, graphs and images; bundled data; image metrics."""

from __future__ import annotations

import os
from typing import Any, Literal, overload

from melmo import _melmo
from melmo._arrays import Array, real_array
from melmo._checks import number, word

__all__ = ["bundled", "load", "psnr", "read", "ssim"]


def bundled() -> dict[str, str]:
    """The data sets that come with melmo, each with one line about it.

    Examples
    --------
    >>> import melmo
    >>> sorted(melmo.data.bundled())
    ['camera', 'football', 'miserables', 'miserables-weighted']
    """
    return dict(_melmo.sets())


def load(name: str) -> Array:
    """A bundled data set.

    Parameters
    ----------
    name : str
        One of :func:`bundled`.

    Returns
    -------
    array

    Examples
    --------
    >>> import melmo
    >>> melmo.data.load("miserables").shape
    (77, 77)
    """
    found = _melmo.bundled_set(word("name", name))
    if found is None:
        raise ValueError(f"no bundled set is called `{name}`; known: {', '.join(bundled())}")
    return found


@overload
def read(path: str | os.PathLike[str], *, more: Literal[False] = ...) -> Array: ...
@overload
def read(path: str | os.PathLike[str], *, more: Literal[True]) -> tuple[Array, dict[str, Any]]: ...
def read(path: str | os.PathLike[str], *, more: bool = False) -> Any:
    """Read a file by its extension: .npy, .csv, .tsv, .txt, .mtx, .npz of SciPy, .svm, .gml, .png, .jpg, .tif, .pgm, .ppm.

    Parameters
    ----------
    path : str or path
        The file.
    more : bool, default False
        Also return what else the file has.

    Returns
    -------
    array
        Its numbers: a table's cells (blank ones NaN), a graph's adjacency, an image's samples from 0 to 1.
    dict
        With `more`: the ``columns`` of a table and, where its first column has no name, that column as ``index``; the ``labels`` of a graph's nodes and whether it is ``directed``.
    """
    array, rest = _melmo.read(os.fspath(path))
    return (array, rest) if more else array


def ssim(a: Any, b: Any, data_range: float = 1.0) -> float:
    """The structural similarity of two grey images: Gaussian weights, as in the paper that proposed it."""
    first, second = _pair(a, b)
    if first.ndim != 2:
        raise ValueError(f"a: expected a grey image of two axes, got the shape {first.shape}")
    return _melmo.ssim(first, second, number("data_range", data_range))


def psnr(a: Any, b: Any, data_range: float = 1.0) -> float:
    """The peak signal-to-noise ratio of two images, in decibels."""
    first, second = _pair(a, b)
    return _melmo.psnr(first, second, number("data_range", data_range))


def _pair(a: Any, b: Any) -> tuple[Array, Array]:
    """Two images of one shape."""
    first, second = real_array("a", a, "f64"), real_array("b", b, "f64")
    if first.shape != second.shape:
        raise ValueError(f"b: expected the shape of a, {first.shape}, got {second.shape}")
    return first, second
