"""Images, signals and volumes without their noise."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np

from melmo import _melmo
from melmo._arrays import expect_real
from melmo._checks import brief, number, optional_number, whole, word
from melmo._estimator import Floats, penalty_text
from melmo._penalty import Penalty


def denoise_tv(
    image: Any,
    weight: float = 0.1,
    *,
    penalty: str | Penalty = "l1",
    isotropic: bool = True,
    channel_axis: int | None = None,
    coupled: bool = False,
    method: str = "auto",
    max_iter: int = 300,
    epsilon: float | None = None,
) -> Floats:
    """Total variation denoising, convex or not, of signals, images and volumes.

    Minimises ½‖X − Y‖² + Σₚ ψ(‖∇X‖ₚ) over the pixels p, with forward differences ∇. With the penalty ``"l1"`` it is the problem of
    scikit-image's ``denoise_tv_chambolle`` with the same `weight`, solved further. Penalties that level off, such as ``"mcp"``,
    leave edges as high as they were.

    Parameters
    ----------
    image : array
        One, two or three axes, and one more for channels. Floats are taken as they are and come back in the same precision; integers
        are mapped to floats as scikit-image does (0 to 1, or −1 to 1 for signed ones).
    weight : float, default 0.1
        λ: larger smooths more.
    penalty : str or melmo.penalty, default "l1"
        ψ: ``"l1"``, ``"mcp"``, ``"scad"``, ``"log-sum:theta=0.1"``, ``"huber:delta=0.01"``, …; its λ is `weight`.
    isotropic : bool, default True
        ψ of the norm of a pixel's differences, instead of ψ of each of them.
    channel_axis : int, optional
        The axis of channels; none unless given. As in scikit-image, each channel is denoised by itself.
    coupled : bool, default False
        Take the norm of a pixel's differences over all channels instead: edges then lie in the same place in all of them. For images.
    method : str, default "auto"
        A method of the catalogue.
    max_iter : int, default 300
        Steps, at most: enough for four digits of the objective.
    epsilon : float, optional
        Stop before that when both certificate numbers are at most this.

    Returns
    -------
    array
        The denoised image, in the shape of `image`.

    Examples
    --------
    >>> import numpy as np
    >>> import melmo
    >>> clean = np.zeros((32, 32))
    >>> clean[:, 16:] = 1
    >>> noisy = clean + 0.1 * np.random.default_rng(0).normal(size=clean.shape)
    >>> denoised = melmo.denoise_tv(noisy, weight=0.2, penalty="mcp:mu=4")
    >>> bool(np.abs(denoised - clean).mean() < 0.02)
    True
    """
    data = _planes(image, channel_axis)
    text = penalty_text(penalty, weight)
    steps, epsilon = whole("max_iter", max_iter), optional_number("epsilon", epsilon)
    settings = {"method": word("method", method), "max_iter": steps, "epsilon": epsilon}
    sides = list(data.shape[1:])
    if not 1 <= len(sides) <= 3:
        raise ValueError(f"image: expected one to three axes and one for channels, got the shape {np.shape(image)}")
    if data.size == 0:
        raise ValueError(f"image: no pixels in the shape {np.shape(image)}")
    if coupled and len(sides) != 2:
        raise ValueError("coupled: channels can only be taken together for images of two axes")
    if coupled:
        raw = _melmo.denoise_tv(data, list(data.shape), True, text, bool(isotropic), settings)
        found = raw["x"].reshape(data.shape)
    else:
        grid = [1, *sides] if len(sides) == 1 else sides
        found = np.empty_like(data)
        for plane, out in zip(data, found):
            out[...] = _melmo.denoise_tv(plane, grid, False, text, bool(isotropic), settings)["x"].reshape(sides)
    return _as_given(found, channel_axis)


def denoise(
    image: Any,
    strength: float = 1.0,
    *,
    noise: float | None = None,
    prior: str | None = None,
    channel_axis: int | None = None,
) -> Floats:
    """An image or a volume without its noise, from itself alone: what the program's ``melmo denoise`` does.

    The noise is looked at first: how strong it is, whether it grows with brightness, whether neighbouring pixels share it, and which
    samples are outliers (salt and pepper). Then the prior is weighed against the data. Works on all cores.

    Parameters
    ----------
    image : array
        Two axes, or three of a volume, and one more for channels; numbers as for :func:`denoise_tv`. Channels of a volume are denoised one
        by one, with few differences along its three axes.
    strength : float, default 1.0
        What the penalty is multiplied by; 0 leaves the image as it is.
    noise : float, optional
        The standard deviation of the noise, in the image's units; estimated unless given.
    prior : str, optional
        ``"learned"``: filters and potentials learned from photographs, for one channel or three (red, green, blue);
        ``"differences"``: few first and second differences, faster. Learned up to 4 megapixels (2²² pixels) unless given.
    channel_axis : int, optional
        The axis of channels; none unless given.

    Returns
    -------
    array
        The denoised image, in the shape of `image`.

    Examples
    --------
    >>> import numpy as np
    >>> import melmo
    >>> clean = np.add.outer(np.linspace(0, 1, 64), np.linspace(0, 1, 64))
    >>> noisy = clean + 0.1 * np.random.default_rng(0).normal(size=clean.shape)
    >>> bool(np.std(melmo.denoise(noisy) - clean) < 0.03)
    True
    """
    data = _planes(image, channel_axis)
    if data.ndim not in (3, 4):
        raise ValueError(f"image: expected two axes, or three of a volume, and one for channels, got the shape {np.shape(image)}")
    shape = list(data.shape)
    level = optional_number("noise", noise)
    kind = None if prior is None else word("prior", prior)
    if data.ndim == 4:
        volumes = [_melmo.denoise_volume(volume, shape[1:], number("strength", strength), level, kind) for volume in data]
        return _as_given(np.stack(volumes).reshape(shape), channel_axis)
    # Whole numbers have a range of their own; that of floats is measured.
    whole_range = 1.0 if np.asarray(image).dtype.kind in "ui" else None
    found, _, _ = _melmo.denoise(data, shape, number("strength", strength), level, kind, whole_range)
    return _as_given(found.reshape(shape), channel_axis)


def denoise_film(
    frames: Iterable[Any],
    strength: float = 1.0,
    *,
    noise: float | None = None,
    prior: str | None = None,
    channel_axis: int | None = None,
) -> Iterator[Floats]:
    """The frames of a film without their noise, one after another: what ``melmo denoise`` does with a film.

    Every frame is a picture of its own, as for :func:`denoise`; how strong its noise is comes from the four frames before and after it, so
    that the film does not flicker. A frame is given once four more have come.

    Parameters
    ----------
    frames : iterable of arrays
        Pictures, as :func:`denoise` takes them: an array of frames, or anything that gives one after another.
    strength, noise, prior, channel_axis
        As for :func:`denoise`, of each frame.

    Yields
    ------
    array
        The next frame, denoised.

    Examples
    --------
    >>> import numpy as np
    >>> import melmo
    >>> film = 0.5 + 0.1 * np.random.default_rng(0).normal(size=(6, 32, 32))
    >>> clean = np.array(list(melmo.denoise_film(film)))
    >>> clean.shape, bool(clean.std() < 0.03)
    ((6, 32, 32), True)
    """
    sigma, strength = optional_number("noise", noise), number("strength", strength)
    kind = None if prior is None else word("prior", prior)
    film, shapes = None, deque[tuple[int, ...]]()
    for frame in frames:
        data = _planes(frame, channel_axis)
        if data.ndim != 3:
            raise ValueError(f"frames: expected two axes each and one for channels, got the shape {np.shape(frame)}")
        if film is None:
            precision = data.dtype
            whole_range = 1.0 if np.asarray(frame).dtype.kind in "ui" else None
            film = _melmo.Film(precision == np.float32, strength, sigma, kind, whole_range)
        film.push(np.ascontiguousarray(data, precision), list(data.shape))
        shapes.append(data.shape)
        while (found := film.next(False)) is not None:
            yield _as_given(found.reshape(shapes.popleft()), channel_axis)
    while film is not None and (found := film.next(True)) is not None:
        yield _as_given(found.reshape(shapes.popleft()), channel_axis)


def _as_float(image: Any) -> Floats:
    """Floats as they are (half precision as single), integers mapped as scikit-image maps them."""
    array = np.asarray(image)
    if array.dtype == np.float32 or array.dtype == np.float64:
        return cast(Floats, array)
    if array.dtype == np.float16:
        return array.astype(np.float32)
    if array.dtype.kind == "b":
        return array.astype(np.float64)
    if array.dtype.kind == "u":
        return array / np.float64(np.iinfo(array.dtype).max)
    if array.dtype.kind == "i":
        return np.maximum(array / np.float64(np.iinfo(array.dtype).max), -1.0)
    expect_real("image", array.dtype, image)
    raise TypeError(f"image: expected real numbers, got an array of {array.dtype}")


def _planes(image: Any, channel_axis: int | None) -> Floats:
    """One plane of numbers after another, in C order."""
    array = _as_float(image)
    if not np.isfinite(array).all():
        raise ValueError("image: expected finite numbers; fill in or mask what is missing")
    if channel_axis is None:
        planes = array[np.newaxis]
    else:
        if not isinstance(channel_axis, (int, np.integer)):
            raise TypeError(f"channel_axis: expected the number of an axis, got {brief(channel_axis)}")
        if not -array.ndim <= channel_axis < array.ndim:
            raise ValueError(f"channel_axis: there is no axis {channel_axis} in the shape {array.shape}")
        planes = np.moveaxis(array, channel_axis, 0)
    return np.ascontiguousarray(planes)


def _as_given(planes: Floats, channel_axis: int | None) -> Floats:
    """The planes in the shape that the image had."""
    if channel_axis is None:
        return cast(Floats, planes[0])
    return np.ascontiguousarray(np.moveaxis(planes, 0, channel_axis))
