"""Numbers at the ends of what can be written down: scaled, solved, or refused with a sentence; never NaN with a good word."""

import numpy as np
import pytest

import melmo


@pytest.mark.parametrize("scale", [1e160, 1e200, 1e-200])
def test_images_without_squares_are_refused(scale):
    image = scale * np.random.default_rng(0).normal(size=(24, 20))
    for work in (melmo.denoise, melmo.denoise_tv):
        with pytest.raises(ValueError, match="an image: .*other units"):
            work(image)
    single = np.random.default_rng(0).normal(size=(24, 20)).astype(np.float32)
    single[3, 4] = 1e37
    for work in (melmo.denoise, melmo.denoise_tv):
        with pytest.raises(ValueError, match="in f32"):
            work(single)


def test_one_entry_far_away():
    image = np.random.default_rng(0).normal(size=(24, 20))
    image[3, 4] = 1e200
    with pytest.raises(ValueError, match="an image"):
        melmo.denoise(image)
    for far in (1e20, 1e100):
        image[3, 4] = far
        assert np.isfinite(melmo.denoise(image)).all() and np.isfinite(melmo.denoise_tv(image)).all()


@pytest.mark.parametrize("size", [1e20, 1e37])  # differences of 1e38 are infinite, and F says so
@pytest.mark.parametrize("T", [None, melmo.operator.Difference2D()])
@pytest.mark.parametrize("method", ["melmo", "scaled", "metric", "tilted", "fista", "auto"])
def test_a_logarithm_of_large_single_numbers(size, T, method):
    """z was NaN, with a status that did not say so."""
    start = (size * np.random.default_rng(0).normal(size=(7, 6)).clip(-3, 3)).astype(np.float32)
    try:
        result = melmo.minimize(
            melmo.loss.Masked(np.ones((7, 6), np.float32)), melmo.penalty.LogSum(), T, start, method=method, max_iter=9
        )
    except ValueError:
        assert method == "fista" and T is not None
        return
    parts = result.z.values() if isinstance(result.z, dict) else [result.z]
    assert np.isfinite(result.x).all() and all(np.isfinite(part).all() for part in parts)
