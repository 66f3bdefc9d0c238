"""Where a run's points live. Without a GPU: what is said when one is asked for, and what `auto` comes to."""

import numpy as np
import pytest

import melmo


def solved(device, **options):
    y = np.random.default_rng(3).normal(size=(12, 9))
    return melmo.minimize(
        melmo.loss.Masked(y), melmo.penalty.MCP(0.3, 3.0), melmo.operator.Difference2D(), device=device, **options
    )


def test_the_processor_is_what_auto_takes_for_a_small_image():
    np.testing.assert_array_equal(solved("auto").x, solved("cpu").x)


def test_a_gpu_that_is_not_there_is_a_sentence():
    with pytest.raises(ValueError, match="device"):
        solved("cuda:4711")


def test_names_are_checked():
    with pytest.raises(ValueError, match="cpu, cuda, cuda:N or auto"):
        solved("tpu")
    with pytest.raises(TypeError, match="device"):
        solved(0)
