"""Images and volumes: T = differences on a grid."""

import cvxpy
import numpy as np
import pylops
import pyproximal
import scipy.sparse as sp
from case import Case
from melmo import loss, operator, penalty
from peers import clarabel, l2, least_squares, pyproximal_split
from scipy.signal import convolve2d
from signals import differences
from skimage.data import camera
from skimage.transform import resize


def picture(n):
    return resize(camera() / 255.0, (n, n), anti_aliasing=True)


def grid(*sides):
    """Forward differences along every side, as pylops has them: 0 at the end."""
    return pylops.Gradient(sides, edge=True, kind="forward")


def total_variation(f, y, lam, T, data=None):
    norm = np.sqrt(4.0 * len(T.dims))
    return pyproximal_split(f, pyproximal.L1(sigma=lam), T, np.ravel(y).copy(), norm, data)


def denoise(rng):
    y = picture(128) + 0.1 * rng.normal(size=(128, 128))
    peers = {"pyproximal": total_variation(l2(y), y, 0.1, grid(128, 128))}
    return Case(loss.Masked(y), penalty.L1(0.1), operator.Difference2D(), y, peers=peers)


def denoise_isotropic(rng):
    y = picture(96) + 0.1 * rng.normal(size=(96, 96))
    g = pyproximal.L21(ndim=2, sigma=0.12)
    peers = {"pyproximal": pyproximal_split(l2(y), g, grid(96, 96), y.ravel().copy(), np.sqrt(8))}
    return Case(loss.Masked(y), penalty.L1(0.12, on="pixels"), operator.Difference2D(), y, peers=peers)


def kernel():
    line = np.exp(-(np.arange(-3, 4) ** 2) / (2 * 1.5**2))
    return np.outer(line, line) / line.sum() ** 2


def deblur(rng):
    b = convolve2d(picture(128), kernel(), mode="same") + 0.01 * rng.normal(size=(128, 128))
    A = pylops.signalprocessing.Convolve2D((128, 128), kernel(), offset=(3, 3))
    split = total_variation(least_squares(A, b.ravel()), b, 0.002, grid(128, 128), (A, b.ravel()))
    f = loss.LeastSquares(operator.Convolution(kernel(), b.shape), b)
    return Case(f, penalty.L1(0.002), operator.Difference2D(), b, peers={"pyproximal": split})


def projections(n, angles):
    """A pixel's mass goes to the two nearest of n·√2 bins along every angle: a sparse matrix."""
    side, bins = np.arange(n) - (n - 1) / 2, int(np.ceil(n * np.sqrt(2))) + 2
    rows, columns, values = [], [], []
    for k, angle in enumerate(angles):
        place = np.add.outer(side * np.sin(angle), side * np.cos(angle)).ravel() + (bins - 1) / 2
        low = np.floor(place).astype(int)
        for bin, share in ((low, low + 1 - place), (low + 1, place - low)):
            rows.append(k * bins + bin)
            columns.append(np.arange(n * n))
            values.append(share)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sp.coo_matrix(entries, (len(angles) * bins, n * n)).tocsr()


def tomography(rng):
    A = projections(64, np.linspace(0, np.pi, 30, endpoint=False))
    b = A @ picture(64).ravel() + 0.1 * rng.normal(size=A.shape[0])
    zero = np.zeros((64, 64))
    split = total_variation(least_squares(pylops.MatrixMult(A), b), zero, 0.05, grid(64, 64), (pylops.MatrixMult(A), b))
    D = sp.vstack([sp.kron(sp.eye(64), differences(64)), sp.kron(differences(64), sp.eye(64))])

    def program():
        x = cvxpy.Variable(64 * 64)
        return 0.5 * cvxpy.sum_squares(A @ x - b) + 0.05 * cvxpy.norm1(D @ x), x

    peers = {"pyproximal": split, "clarabel": clarabel(program)}
    return Case(loss.LeastSquares(A, b), penalty.L1(0.05), operator.Difference2D((64, 64)), zero, peers=peers)


def inpaint(rng):
    mask = (rng.random((128, 128)) < 0.4).astype(float)
    y = (picture(128) + 0.02 * rng.normal(size=mask.shape)) * mask
    return Case(loss.Masked(y, mask), penalty.MCP(0.05, 2.0), operator.Difference2D(), y, convex=False)


def ball(n):
    z, y, x = np.mgrid[:n, :n, :n] - n / 2
    return ((z**2 + y**2 + x**2 < (n / 3) ** 2) + 0.5 * (np.abs(x) < n / 8)).astype(float)


def volume(rng):
    y = ball(32) + 0.3 * rng.normal(size=(32, 32, 32))
    peers = {"pyproximal": total_variation(l2(y), y, 0.2, grid(32, 32, 32))}
    return Case(loss.Masked(y), penalty.L1(0.2), operator.Difference3D(), y, peers=peers)


def volume_mcp(rng):
    y = ball(24) + 0.3 * rng.normal(size=(24, 24, 24))
    return Case(loss.Masked(y), penalty.MCP(0.3, 2.0), operator.Difference3D(), y, convex=False)


def sparse_and_flat(rng):
    """Few jumps and few entries: a stack of differences and the identity, a penalty for each."""
    y = np.zeros((64, 64))
    y[10:30, 20:50], y[40:50, 10:20] = 1.0, -1.0
    y += 0.3 * rng.normal(size=y.shape)
    T = operator.Stack(operator.Difference2D((64, 64)), operator.Identity((64, 64)))
    D = grid(64, 64)
    stacked = pylops.VStack([0.15 * D, 0.1 * pylops.Identity(64 * 64)])
    split = pyproximal_split(l2(y), pyproximal.L1(), stacked, y.ravel().copy(), np.sqrt(8 * 0.15**2 + 0.1**2))
    weights = np.concatenate([np.full(2 * 64 * 64, 0.15), np.full(64 * 64, 0.1)])
    return Case(loss.Masked(y), penalty.L1(1.0, weights=weights), T, y, peers={"pyproximal": split})


CASES = [
    denoise,
    denoise_isotropic,
    deblur,
    tomography,
    inpaint,
    volume,
    volume_mcp,
    sparse_and_flat,
]
