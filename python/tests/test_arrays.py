"""Arrays: no copies where memory order allows, f32 stays f32, every layout of memory gives the same answer."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import melmo
from melmo._arrays import Packing, real_array


def test_contiguous_arrays_are_not_copied():
    for dtype in (np.float32, np.float64):
        x = np.ones((5, 4), dtype)
        packing = Packing.of(x)
        flat = packing.pack("x", x)
        assert np.shares_memory(flat, x)
        assert np.shares_memory(packing.unpack(flat), x)
    assert not np.shares_memory(real_array("x", np.asfortranarray(x), "f64"), x)


def test_results_own_their_memory_and_blocks_are_views_of_one_buffer():
    f = melmo.loss.RobustPCA(np.ones((5, 4)))
    result = melmo.minimize(f, {"L": melmo.penalty.L1(0.1)}, max_iter=3)
    L, S = result.x["L"], result.x["S"]
    assert L.base is not None and L.flags.writeable and not np.shares_memory(L, S)
    assert S.__array_interface__["data"][0] == L.__array_interface__["data"][0] + L.nbytes


def test_prox_in_place():
    u = np.array([3.0, 0.1, -2.0])
    out = melmo.penalty.L1(0.5).prox(u, 1.0, out=u)
    assert out is u and np.array_equal(u, [2.5, 0.0, -1.5])
    with pytest.raises(ValueError, match="C order"):
        melmo.penalty.L1(0.5).prox(u, 1.0, out=np.zeros(6)[::2])
    with pytest.raises(ValueError, match="expected 3"):
        melmo.penalty.L1(0.5).prox(u, 1.0, out=np.zeros(2))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_a_large_prox():
    """A prox of 400 MB into an array that exists already asks for no further memory."""
    code = """
        import numpy as np, melmo
        def peak():
            lines = open("/proc/self/status").read().splitlines()
            return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
        u, out = np.ones(25_000_000), np.zeros(25_000_000)
        out += 1
        before = peak()
        melmo.penalty.L1(0.5).prox(u, 0.5, out=out)
        melmo.penalty.L1(0.5).value(u)
        assert peak() - before < 20, peak() - before
        assert out[0] == 0.75
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


@pytest.mark.parametrize("method", ["auto", "melmo"])
def test_single_precision_stays(method):
    y = np.random.default_rng(0).standard_normal((8, 6)).astype(np.float32)
    result = melmo.minimize(
        melmo.loss.Masked(y), melmo.penalty.MCP(0.2, 3.0), melmo.operator.Difference2D(), method=method, max_iter=50
    )
    assert result.x.dtype == np.float32 == result.z["dx"].dtype and result.certificate.precision == "f32"
    assert result.certificate.verify()
    double = melmo.minimize(
        melmo.loss.Masked(y),
        melmo.penalty.MCP(0.2, 3.0),
        melmo.operator.Difference2D(),
        np.zeros((8, 6)),
        method=method,
        max_iter=50,
    )
    assert double.x.dtype == np.float64
    if method == "melmo":
        assert np.allclose(double.x, result.x, atol=1e-4)
    seen = []

    def fun(x):
        seen.append(x.dtype)
        return float(0.5 * ((x - y) ** 2).sum()), x - y

    own = melmo.minimize(fun, melmo.penalty.L1(0.1), x0=np.zeros_like(y), max_iter=3)
    assert set(seen) == {np.dtype(np.float32)} and own.x.dtype == np.float32
    assert melmo.penalty.L1(0.1).prox(y).dtype == np.float32 and melmo.lmo("spectral", y).dtype == np.float32


def test_any_memory_order_and_kind_of_number():
    y = np.random.default_rng(0).standard_normal((8, 6))
    job = dict(g=melmo.penalty.MCP(0.2, 3.0), T=melmo.operator.Difference2D(), method="melmo", max_iter=20)
    want = melmo.minimize(melmo.loss.Masked(y), x0=y, **job).x
    wide = np.repeat(y, 2, axis=1)[:, ::2]
    for same in (np.asfortranarray(y), wide, y[::-1][::-1], y.tolist(), y.astype(">f8")):
        assert np.array_equal(melmo.minimize(melmo.loss.Masked(same), x0=np.asarray(same), **job).x, want)
    whole = (10 * y).astype(int)
    assert melmo.minimize(melmo.loss.Masked(whole), x0=whole, **job).x.dtype == np.float64
    frozen = y.copy()
    frozen.flags.writeable = False
    assert np.array_equal(melmo.minimize(melmo.loss.Masked(frozen), x0=frozen, **job).x, want)
