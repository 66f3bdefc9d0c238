"""`auto` beside every method of ours that fits, on operators of all kinds: F and seconds in one run.

    python python/benchmarks/operators.py [words that keep problems] [--methods auto,admm,...]

Printed for each problem: how far each method ended above the lowest F of all, relative to it, how long it took, and whether it settled
(·: it was stopped by its number of steps). scikit-image is needed.
"""

import argparse
import time
import warnings

import melmo
import numpy as np
import scipy.sparse as sp
from melmo import loss, operator, penalty
from scipy.signal import convolve2d
from skimage.data import camera
from skimage.transform import radon, resize

METHODS = "auto,admm,admm-graduated,primal-dual,metric,scaled,tilted"


def picture(n):
    return resize(camera() / 255.0, (n, n), anti_aliasing=True)


def differences(n, order=1):
    return np.diff(np.eye(n), order, axis=0)


def isotonic(rng):
    y = np.sort(rng.normal(size=200)) + 0.5 * rng.normal(size=200)
    return loss.Masked(y), penalty.Nonnegative(), operator.Dense(differences(200)), np.zeros(200)


def trend_filter(rng):
    y = np.cumsum(np.cumsum(rng.normal(size=500) * (rng.random(500) < 0.02))) / 5 + 0.5 * rng.normal(size=500)
    return loss.Masked(y), penalty.L1(20.0), operator.Dense(differences(500, 2)), y


def graph_fused(rng):
    n, edges = 400, 1048
    ends = rng.integers(0, n, (2, edges))
    T = sp.coo_matrix((np.repeat([1.0, -1.0], edges), (np.tile(np.arange(edges), 2), ends.ravel())), (edges, n)).tocsr()
    y = rng.normal(size=n) + 2.0 * (np.arange(n) > n // 2)
    return loss.Masked(y), penalty.L1(0.3), operator.Sparse(T), y


def long_signal(rng):
    n = 20000
    T = sp.diags([-np.ones(n - 1), np.ones(n - 1)], [0, 1], shape=(n - 1, n)).tocsr()
    y = np.repeat(rng.normal(size=200), 100) + 0.3 * rng.normal(size=n)
    return loss.Masked(y), penalty.L1(2.0), operator.Sparse(T), y


def box(rng):
    A, b, T = rng.normal(size=(60, 40)), rng.normal(size=60), rng.normal(size=(30, 40))
    return loss.LeastSquares(A, b), penalty.Box(-0.1, 0.1), operator.Dense(T), np.zeros(40)


def jumps(rng):
    y = np.repeat(rng.normal(size=10), 30) + 0.2 * rng.normal(size=300)
    return loss.Masked(y), penalty.MCP(0.5, 2.0), operator.Dense(differences(300)), y


def denoise(rng):
    y = picture(128) + 0.1 * rng.normal(size=(128, 128))
    return loss.Masked(y), penalty.L1(0.1), operator.Difference2D(), y


def deblur(rng):
    line = np.exp(-(np.arange(-3, 4) ** 2) / (2 * 1.5**2))
    kernel = np.outer(line, line) / line.sum() ** 2
    b = convolve2d(picture(128), kernel, mode="same") + 0.01 * rng.normal(size=(128, 128))
    return loss.LeastSquares(operator.Convolution(kernel, b.shape), b), penalty.L1(0.002), operator.Difference2D(), b


def tomography(rng):
    n, angles = 48, np.linspace(0, 180, 30, endpoint=False)
    units = (np.eye(1, n * n, k).reshape(n, n) for k in range(n * n))
    A = np.stack([radon(unit, angles, circle=False).ravel() for unit in units], 1)
    b = A @ picture(n).ravel() + 0.1 * rng.normal(size=len(A))
    return loss.LeastSquares(A, b), penalty.L1(0.05), operator.Difference2D(), np.zeros((n, n))


def inpaint(rng):
    mask = (rng.random((128, 128)) < 0.4).astype(float)
    y = (picture(128) + 0.02 * rng.normal(size=mask.shape)) * mask
    return loss.Masked(y, mask), penalty.MCP(0.05, 2.0), operator.Difference2D(), y


PROBLEMS = [isotonic, trend_filter, graph_fused, long_signal, box, jumps, denoise, deblur, tomography, inpaint]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--methods", default=METHODS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    methods = asked.methods.split(",")
    print("| problem | auto is | " + " | ".join(methods) + " |\n|---|---|" + "---|" * len(methods))
    for make in PROBLEMS:
        if asked.words and not any(word in make.__name__ for word in asked.words):
            continue
        f, g, T, x0 = make(np.random.default_rng(0))
        cells, chosen = [], ""
        for method in methods:
            began = time.perf_counter()
            try:
                found = melmo.minimize(f, g, T, x0, **({} if method == "auto" else {"method": method}))
            except ValueError:
                cells.append((np.inf, 0.0, ""))
                continue
            chosen = found.method if method == "auto" else chosen
            cells.append((found.fun, time.perf_counter() - began, "" if found.success else " ·"))
        lowest = min(fun for fun, _, _ in cells)
        over = (f"+{fun / lowest - 1:.0e}, {took:.2f} s{mark}" if np.isfinite(fun) else "–" for fun, took, mark in cells)
        print(f"| {make.__name__.replace('_', ' ')} | {chosen} | " + " | ".join(over) + " |", flush=True)


if __name__ == "__main__":
    main()
