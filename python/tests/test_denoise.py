"""Total variation against a primal–dual reference and scikit-image; shapes, channels, types."""

import numpy as np
import pytest

import melmo

skimage = pytest.importorskip("skimage")


def blocks(shape, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    clean = np.zeros(shape)
    clean[tuple(slice(n // 4, 3 * n // 4) for n in shape)] = 1
    clean[tuple(slice(0, n // 3) for n in shape)] = 0.5
    return clean, clean + noise * rng.normal(size=shape)


def differences(x):
    """Forward differences along every axis, 0 at the end."""
    out = np.zeros((x.ndim, *x.shape))
    for axis in range(x.ndim):
        rows = tuple(slice(None, -1) if a == axis else slice(None) for a in range(x.ndim))
        out[axis][rows] = np.diff(x, axis=axis)
    return out


def adjoint(p):
    """The adjoint of `differences`."""
    x = np.zeros(p.shape[1:])
    for axis in range(len(p)):
        head = tuple(slice(None, -1) if a == axis else slice(None) for a in range(x.ndim))
        tail = tuple(slice(1, None) if a == axis else slice(None) for a in range(x.ndim))
        x[head] -= p[axis][head]
        x[tail] += p[axis][head]
    return x


def total_variation(x, isotropic):
    d = differences(x)
    return np.sqrt((d**2).sum(axis=0)).sum() if isotropic else np.abs(d).sum()


def objective(x, y, weight, isotropic=True):
    return 0.5 * ((x - y) ** 2).sum() + weight * total_variation(x, isotropic)


def primal_dual(y, weight, isotropic, steps=3000):
    """Chambolle and Pock's accelerated method for the strongly convex ½‖x − y‖² + λ·TV(x); x and a lower bound on the minimum."""
    tau, sigma = 0.25, 1 / (0.25 * 4 * y.ndim)
    x, bar, p = y.copy(), y.copy(), np.zeros((y.ndim, *y.shape))
    for _ in range(steps):
        p += sigma * differences(bar)
        size = np.sqrt((p**2).sum(axis=0, keepdims=True)) if isotropic else np.abs(p)
        p /= np.maximum(1, size / weight)
        before = x
        x = (x - tau * adjoint(p) + tau * y) / (1 + tau)
        theta = 1 / np.sqrt(1 + 2 * tau)
        tau, sigma = tau * theta, sigma / theta
        bar = x + theta * (x - before)
    divergence = adjoint(p)
    return x, (divergence * y).sum() - 0.5 * (divergence**2).sum()


@pytest.mark.parametrize("isotropic", [True, False])
@pytest.mark.parametrize("shape", [(200,), (32, 24), (10, 12, 8)])
def test_l1_is_the_primal_dual_solution(shape, isotropic):
    _, y = blocks(shape)
    weight = 0.15
    reference, bound = primal_dual(y, weight, isotropic)
    best = objective(reference, y, weight, isotropic)
    assert best - bound < 1e-3 * best  # the reference is one
    ours = melmo.denoise_tv(y, weight, isotropic=isotropic, max_iter=1000)
    assert objective(ours, y, weight, isotropic) <= best * (1 + 1e-4)
    assert np.sqrt(np.mean((ours - reference) ** 2)) < 2e-3


@pytest.mark.parametrize("weight", [0.05, 0.2])
def test_l1_is_scikit_image_s_problem(weight):
    from skimage.restoration import denoise_tv_chambolle

    _, y = blocks((40, 40))
    theirs = denoise_tv_chambolle(y, weight, eps=1e-9, max_num_iter=4000)
    ours = melmo.denoise_tv(y, weight)
    assert objective(ours, y, weight) <= objective(theirs, y, weight) * (1 + 1e-4)
    assert np.abs(ours - theirs).max() < 0.02
    assert np.sqrt(np.mean((ours - theirs) ** 2)) < 2e-3


def test_structural_similarity_is_not_below_scikit_image_s():
    from skimage.metrics import structural_similarity
    from skimage.restoration import denoise_tv_chambolle

    clean, y = blocks((64, 64), noise=0.2)
    like = lambda x: structural_similarity(clean, x, data_range=1.0)  # noqa: E731
    theirs = max(like(denoise_tv_chambolle(y, weight)) for weight in (0.1, 0.2, 0.3))
    assert max(like(melmo.denoise_tv(y, weight)) for weight in (0.1, 0.2, 0.3)) >= theirs - 0.005
    mcp = max(like(melmo.denoise_tv(y, weight, penalty="mcp:mu=4")) for weight in (0.2, 0.3))
    assert mcp > theirs > like(y)
    assert like(melmo.denoise(y)) > like(y)


def test_channels_are_denoised_one_by_one_unless_coupled():
    _, y = blocks((20, 16))
    colour = np.stack([y, 0.5 * y, 1 - y], axis=-1)
    last = melmo.denoise_tv(colour, 0.1, channel_axis=-1)
    first = melmo.denoise_tv(np.moveaxis(colour, -1, 0), 0.1, channel_axis=0)
    assert last.shape == colour.shape and np.array_equal(np.moveaxis(first, 0, -1), last)
    for c in range(3):
        assert np.array_equal(last[..., c], melmo.denoise_tv(colour[..., c], 0.1))
    coupled = melmo.denoise_tv(colour, 0.1, channel_axis=-1, coupled=True)
    norm = lambda x: np.sqrt(sum((differences(x[..., c]) ** 2).sum(axis=0) for c in range(3))).sum()  # noqa: E731
    value = lambda x: 0.5 * ((x - colour) ** 2).sum() + 0.1 * norm(x)  # noqa: E731
    assert value(coupled) < value(last)
    volume = melmo.denoise_tv(np.stack([y, y]), 0.1)
    assert volume.shape == (2, 20, 16)
    assert melmo.denoise_tv(np.stack([np.stack([y, y])] * 2), 0.1, channel_axis=0).shape == (2, 2, 20, 16)
    assert melmo.denoise(colour, channel_axis=-1).shape == colour.shape


def test_floats_keep_their_type_and_integers_are_mapped_as_scikit_image_does():
    from skimage.util import img_as_float

    _, y = blocks((12, 12))
    assert melmo.denoise_tv(y.astype(np.float32)).dtype == np.float32
    assert melmo.denoise(y.astype(np.float32)).dtype == np.float32
    assert melmo.denoise_tv(y.astype(np.float16)).dtype == np.float32
    for dtype in (np.uint8, np.int16, np.uint16, np.bool_):
        integers = (np.clip(y, 0, 1) * (1 if dtype == np.bool_ else np.iinfo(dtype).max)).astype(dtype)
        assert np.allclose(melmo.denoise_tv(integers, 1e-9, max_iter=50), img_as_float(integers), atol=1e-6)


def test_the_image_that_is_given_is_not_changed():
    _, y = blocks((12, 12))
    before = y.copy()
    melmo.denoise_tv(y, 0.3)
    assert np.array_equal(y, before)
    turned = np.asfortranarray(y)
    assert np.array_equal(melmo.denoise_tv(turned, 0.3), melmo.denoise_tv(y, 0.3))


def test_what_makes_no_sense_is_refused():
    image = np.zeros((8, 8))
    with pytest.raises(ValueError, match="finite"):
        melmo.denoise_tv(np.where(np.eye(8) > 0, np.nan, 0))
    with pytest.raises(ValueError, match="axes"):
        melmo.denoise_tv(np.zeros((2, 2, 2, 2)))
    with pytest.raises(ValueError, match="channel_axis"):
        melmo.denoise_tv(image, channel_axis=2)
    with pytest.raises(ValueError, match="coupled"):
        melmo.denoise_tv(np.zeros((3, 4, 4)), coupled=True)
    with pytest.raises(ValueError, match="lambda"):
        melmo.denoise_tv(image, -1.0)
    with pytest.raises(ValueError, match="pixels"):
        melmo.denoise_tv(np.zeros((0, 4)))
    with pytest.raises(TypeError, match="complex"):
        melmo.denoise_tv(image.astype(complex))
    with pytest.raises(ValueError, match="strength"):
        melmo.denoise(image, strength=-1)


def test_the_learned_prior_is_the_default_and_can_be_named():
    y = np.clip(0.5 + 0.1 * np.random.default_rng(3).normal(size=(40, 36)), 0, 1)
    assert np.array_equal(melmo.denoise(y, noise=0.1), melmo.denoise(y, noise=0.1, prior="learned"))
    assert not np.array_equal(melmo.denoise(y, noise=0.1), melmo.denoise(y, noise=0.1, prior="differences"))
    with pytest.raises(ValueError, match="differences or learned"):
        melmo.denoise(y, prior="wavelets")


@pytest.mark.parametrize("channels", [1, 3])
def test_the_learned_prior_beside_a_loss(channels):
    rows, cols = 24, 20
    clean = np.tile(np.linspace(0.2, 0.8, cols), (channels * rows, 1))
    noisy = clean + 0.1 * np.random.default_rng(4).normal(size=clean.shape)
    prior = melmo.prior.Learned((rows, cols), noise=0.1, channels=channels)
    f = prior.beside(melmo.loss.Masked(noisy))
    value, gradient = f(noisy)
    assert value > 0 and gradient.shape == noisy.shape
    result = melmo.minimize(f, melmo.penalty.Box(0, 1), x0=noisy, max_iter=80)
    assert np.std(result.x - clean) < 0.5 * np.std(noisy - clean)
    # Half of the samples are missing: no convexity, and the prior fills them in.
    mask = np.random.default_rng(5).random(noisy.shape) < 0.5
    holes = prior.beside(melmo.loss.Masked(np.where(mask, clean, 0), mask))
    filled = melmo.minimize(holes, melmo.penalty.Box(0, 1), x0=np.full(noisy.shape, 0.5), max_iter=300).x
    assert np.abs(filled - clean).mean() < 0.1
    with pytest.raises(ValueError, match="channels"):
        melmo.prior.Learned((rows, cols), noise=0.1, channels=2).beside(melmo.loss.Masked(noisy))
    with pytest.raises(TypeError, match="loss"):
        prior.beside(noisy)


def test_a_volume_is_denoised_as_one():
    clean, noisy = blocks((20, 18, 16))
    error = lambda x: np.sqrt(np.mean((x - clean) ** 2))
    assert error(melmo.denoise(noisy)) < 0.5 * error(noisy)
    single = melmo.denoise(noisy.astype(np.float32), noise=0.1)
    assert single.dtype == np.float32 and error(single) < 0.5 * error(noisy)
    both = melmo.denoise(np.stack([noisy, noisy], axis=-1), noise=0.1, channel_axis=-1)
    assert np.array_equal(both[..., 0], melmo.denoise(noisy, noise=0.1)) and np.array_equal(both[..., 0], both[..., 1])
    with pytest.raises(ValueError, match="volume"):
        melmo.denoise(noisy, prior="learned")


def test_a_film_comes_back_frame_by_frame():
    clean, _ = blocks((24, 28))
    rng = np.random.default_rng(3)
    frames = [clean + 0.08 * rng.normal(size=clean.shape) for _ in range(7)]
    asked = []

    def given():
        for frame in frames:
            asked.append(len(asked))
            yield frame

    film = melmo.denoise_film(given(), prior="differences")
    first = next(film)
    assert len(asked) == 5, "four more have to come"
    rest = list(film)
    assert len(rest) == 6
    for noisy, found in zip(frames, [first, *rest]):
        assert found.shape == clean.shape
        assert np.mean((found - clean) ** 2) < 0.4 * np.mean((noisy - clean) ** 2)
    known = list(melmo.denoise_film(np.array(frames), noise=0.08, prior="differences"))
    assert np.array_equal(known[2], melmo.denoise(frames[2], noise=0.08, prior="differences"))
    colours = np.stack([frames] * 3, axis=-1)
    assert next(iter(melmo.denoise_film(colours, noise=0.08, channel_axis=-1))).shape == (24, 28, 3)
    assert list(melmo.denoise_film([])) == []
    with pytest.raises(ValueError, match="frames"):
        next(melmo.denoise_film([np.zeros(5)]))
