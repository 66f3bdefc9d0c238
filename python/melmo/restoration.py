"""Pictures from what is left of them: blurred, with holes, too small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from melmo import _melmo
from melmo._checks import optional_number, whole
from melmo._estimator import Floats
from melmo.denoising import _as_float, _as_given, _planes

if TYPE_CHECKING:
    from melmo._certificate import Certificate


@dataclass(frozen=True)
class Restored:
    """How a picture was restored: what was chosen, and what is certain."""

    #: The noise that was reckoned with; none where known pixels were kept.
    noise: float | None
    #: λ, how much the prior counted; none where known pixels were kept.
    weight: float | None
    #: How λ was found.
    how: str
    #: ‖Ax − y‖²/noise² over the number of data: 1 for the true picture.
    misfit: float | None
    #: F at the end.
    fun: float
    #: Steps.
    nit: int
    #: Why it ended.
    message: str
    #: What is certain about the end: how far from stationary it is. The energy is not convex, so there is no bound on F − F*.
    certificate: Certificate | None


def deblur(
    image: Any,
    psf: Any,
    *,
    noise: float | None = None,
    weight: float | None = None,
    channel_axis: int | None = None,
    max_iter: int = 200,
    time_limit: float | None = None,
    return_info: bool = False,
) -> Any:
    """A sharp picture from a blurred one and the kernel that blurred it.

    Minimises ½‖k∗X − Y‖²/noise² + λR(X), R a prior of filters and potentials learned from photographs. What lies around the picture is
    estimated too, and cut off at the end.

    Parameters
    ----------
    image : array
        Two axes, and one more for channels; numbers as for :func:`denoise_tv`.
    psf : array or str
        The kernel, whose middle is its centre, divided by its sum; or ``"gaussian:1.6"``, ``"disk:4"``, ``"motion:15,30"``.
    noise : float, optional
        The standard deviation of the noise, in the image's units; estimated unless given.
    weight : float, optional
        λ. Unless given it is as large as the data allow: ‖k∗X − Y‖² = 0.9n·noise² (the discrepancy principle).
    channel_axis : int, optional
        The axis of channels; none unless given.
    max_iter : int, default 200
        Steps, at most.
    time_limit : float, optional
        Seconds, at most, for the choice of λ and the steps together.
    return_info : bool, default False
        Return a :class:`Restored` as well.

    Returns
    -------
    array, or array and Restored
        The picture, in the shape of `image`.

    Examples
    --------
    >>> import numpy as np
    >>> import melmo
    >>> clean = np.zeros((40, 40))
    >>> clean[12:28, 12:28] = 1
    >>> line = np.array([1, 2, 4, 2, 1]) / 10
    >>> blurred = np.apply_along_axis(np.convolve, 0, np.apply_along_axis(np.convolve, 1, clean, line, "same"), line, "same")
    >>> sharp = melmo.deblur(blurred, np.outer(line, line), noise=0.003)
    >>> bool(np.std(sharp - clean) < 0.5 * np.std(blurred - clean))
    True
    """
    if isinstance(psf, str):
        kernel = _melmo.kernel(psf)
    else:
        array = np.asarray(psf, dtype=np.float64)
        if array.ndim != 2:
            raise ValueError(f"psf: expected two axes, got the shape {array.shape}")
        kernel = (array.ravel().tolist(), *array.shape)
    planes = _planes(image, channel_axis)
    return _restored(planes, "deblur", kernel, noise, weight, channel_axis, max_iter, time_limit, return_info)


def inpaint(
    image: Any,
    mask: Any = None,
    *,
    noise: float = 0.0,
    weight: float | None = None,
    channel_axis: int | None = None,
    max_iter: int = 200,
    time_limit: float | None = None,
    return_info: bool = False,
) -> Any:
    """Missing pixels, from those that are there.

    Minimises R(X) over the missing pixels, R a prior of filters and potentials learned from photographs; the others are kept. With
    noise they are data like any others: ½‖M⊙(X − Y)‖²/noise² + λR(X) is minimised over all pixels.

    Parameters
    ----------
    image : array
        Two axes, and one more for channels; numbers as for :func:`denoise_tv`.
    mask : array, optional
        As in scikit-image's ``inpaint_biharmonic``: not 0 where a pixel is missing, over the two axes of the image. NaN in the image
        are missing too.
    noise : float, default 0
        The standard deviation of the noise in what is known, in the image's units; 0 keeps it as it is.
    weight : float, optional
        λ, where there is noise; unless given as large as the data allow (the discrepancy principle).
    channel_axis, max_iter, time_limit, return_info
        As for :func:`deblur`.

    Returns
    -------
    array, or array and Restored
        The picture, in the shape of `image`.

    Examples
    --------
    >>> import numpy as np
    >>> import melmo
    >>> image = np.add.outer(np.linspace(0, 1, 32), np.linspace(0, 1, 32)) / 2
    >>> missing = np.random.default_rng(0).random(image.shape) < 0.5
    >>> bool(np.abs(melmo.inpaint(np.where(missing, np.nan, image)) - image).max() < 0.05)
    True
    """
    array = _as_float(image)
    gone = ~np.isfinite(array)
    planes = _planes(np.where(gone, array.dtype.type(0), array), channel_axis)
    missing = np.moveaxis(gone, channel_axis, 0).any(axis=0) if channel_axis is not None else gone
    if mask is not None:
        given = np.asarray(mask)
        if given.shape != missing.shape:
            raise ValueError(f"mask: expected the shape {missing.shape}, got {given.shape}")
        missing = missing | (given != 0)
    if planes.ndim == 3 and planes.size and not missing.any():
        return (_as_given(planes, channel_axis), _NOTHING) if return_info else _as_given(planes, channel_axis)
    if missing.all():
        raise ValueError("mask: no pixel is known")
    # Any number would do where nothing is known; one like the others keeps their range.
    known = planes[:, ~missing].mean(axis=1) if planes.ndim == 3 else np.zeros(len(planes))
    if planes.ndim == 3:
        planes = np.where(missing, known[:, None, None].astype(planes.dtype), planes)
    lost = missing.ravel().tolist()
    return _restored(planes, "inpaint", lost, noise, weight, channel_axis, max_iter, time_limit, return_info)


def upscale(
    image: Any,
    factor: int = 2,
    *,
    noise: float | None = None,
    weight: float | None = None,
    channel_axis: int | None = None,
    max_iter: int = 200,
    time_limit: float | None = None,
    return_info: bool = False,
) -> Any:
    """A picture two to four times as large, of which every pixel that is given is the mean of factor×factor.

    Minimises ½‖DX − Y‖²/noise² + λR(X), R a prior of filters and potentials learned from photographs.

    Parameters
    ----------
    image : array
        Two axes, and one more for channels; numbers as for :func:`denoise_tv`.
    factor : int, default 2
        How many times as high and wide: 2, 3 or 4.
    noise, weight, channel_axis, max_iter, time_limit, return_info
        As for :func:`deblur`.

    Returns
    -------
    array, or array and Restored
        The larger picture.

    Examples
    --------
    >>> import numpy as np
    >>> import melmo
    >>> melmo.upscale(np.add.outer(np.arange(16.0), np.arange(16.0)) / 32, 2).shape
    (32, 32)
    """
    planes = _planes(image, channel_axis)
    times = whole("factor", factor)
    return _restored(planes, "upscale", times, noise, weight, channel_axis, max_iter, time_limit, return_info)


#: Where no pixel is missing nothing was done.
_NOTHING = Restored(None, None, "no pixel is missing", None, 0.0, 0, "no pixel is missing", None)


def _restored(
    planes: Floats,
    name: str,
    what: Any,
    noise: float | None,
    weight: float | None,
    channel_axis: int | None,
    max_iter: int,
    time_limit: float | None,
    return_info: bool,
) -> Any:
    if planes.ndim != 3:
        raise ValueError(f"image: expected two axes and one for channels, got {planes.ndim - 1} axes")
    if planes.size == 0:
        raise ValueError("image: no pixels")
    settings = {"max_iter": whole("max_iter", max_iter), "time_limit": optional_number("time_limit", time_limit)}
    level, lam = optional_number("noise", noise), optional_number("weight", weight)
    raw = _melmo.restore(np.ascontiguousarray(planes), list(planes.shape), name, what, level, lam, settings)
    picture = _as_given(raw["picture"].reshape(len(planes), *raw["shape"]), channel_axis)
    if not return_info:
        return picture
    return picture, Restored(
        noise=raw["noise"],
        weight=raw["weight"],
        how=raw["how"],
        misfit=raw["misfit"],
        fun=raw["fun"],
        nit=raw["nit"],
        message=raw["message"],
        certificate=_certificate(raw["certificate"]),
    )


def _certificate(raw: Any) -> Certificate | None:
    if raw is None:
        return None
    from melmo._certificate import Certificate

    return Certificate(raw)
