"""How fast melmo is from Python: ratios from one run, one thread each.

    python python/benchmarks/speed.py [iterations] [call] [denoise] [regression]
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import sys
import time

import numpy as np
from scipy.sparse.linalg import svds

import melmo


def best(run, times=5, clock=time.perf_counter):
    """The least of several times, in seconds, and the last answer."""
    least, answer = np.inf, None
    for _ in range(times):
        start = clock()
        answer = run()
        least = min(least, clock() - start)
    return least, answer


def by_prox(out, u, beta, lam, mu, spare):
    """out ← ∇g_β(u) = (u − prox_{βg}(u))/β of MCP, in place, from its prox; returns the proximal gap ‖u − prox‖."""
    np.abs(u, out=spare)
    np.subtract(spare, beta * lam, out=out)
    out /= 1 - beta / mu
    np.maximum(out, 0, out=out)
    np.copyto(out, spare, where=spare > mu * lam)
    np.copysign(out, u, out=out)
    np.subtract(u, out, out=out)
    gap = np.sqrt(np.vdot(out, out))
    out /= beta
    return gap


def by_formula(out, u, beta, lam, mu, spare):
    """The same without the prox and the gap: min(|u|/β, (λ − |u|/μ)/(1 − β/μ)), at least 0, with the sign of u."""
    np.abs(u, out=spare)
    np.multiply(spare, -1 / (mu * (1 - beta / mu)), out=out)
    out += lam / (1 - beta / mu)
    spare /= beta
    np.minimum(out, spare, out=out)
    np.maximum(out, 0, out=out)
    np.copysign(out, u, out=out)


def schedule(k, beta, p=7 / 12, q=1 / 3):
    """γ_k and β_k of the paper's Algorithm 1."""
    return k**-p, beta * k**-q


def by_svd(grad):
    """The polar factor UVᵀ."""
    left, _, right = np.linalg.svd(grad, full_matrices=False)
    return left @ right


NEWTON_SCHULZ = np.array(
    [(3955, -8306, 5008), (3735, -6681, 3463), (3799, -6499, 3211), (4019, -6385, 2906), (2677, -3029, 1162), (2172, -1833, 682)]
) / 1024  # fmt: skip


def by_newton_schulz(grad):
    """The same to half a percent, by the paper's six steps: faster where the matrix is square."""
    if grad.shape[0] != grad.shape[1]:
        return by_svd(grad)
    x, diagonal = grad / np.sqrt(np.vdot(grad, grad)), np.arange(len(grad))
    y, g, h = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    for a, b, c in NEWTON_SCHULZ:
        np.matmul(x.T, x, out=g)
        np.matmul(g, g, out=h)
        h *= c
        g *= b
        h += g
        h[diagonal, diagonal] += a
        np.matmul(x, h, out=y)
        x, y = y, x
    return x


# ∇g_β and the polar factor as one would write them, and as fast as we could get them.
PLAIN, TUNED = (by_prox, by_svd), (by_formula, by_newton_schulz)


def advance(x, grad, gamma, norm, polar):
    """x ← x + γ·lmo(grad), in place: along −grad/‖grad‖₂, minus the polar factor, or minus the first singular pair."""
    if norm == "l2":
        grad *= -gamma / np.sqrt(np.vdot(grad, grad))
        x += grad
    elif norm == "nuclear":
        left, _, right = svds(grad, k=1)
        x -= (gamma * left) * right
    else:
        x -= gamma * polar(grad)


def numpy_recovery(way, norm, y, mask, lam, mu, steps):
    """½‖M⊙(X − Y)‖² + Σ MCP(Xᵢⱼ)."""
    slope_of, polar = way
    x, grad, slope, spare = (np.zeros_like(y) for _ in range(4))
    for k in range(1, steps + 1):
        gamma, beta = schedule(k, min(1, mu / 2))
        np.subtract(x, y, out=grad)
        grad *= mask
        slope_of(slope, x, beta, lam, mu, spare)
        grad += slope
        advance(x, grad, gamma, norm, polar)
    return x


def numpy_tv(way, norm, y, lam, mu, steps):
    """½‖X − Y‖² + Σ MCP of each difference."""
    slope_of, polar = way
    x, grad = y.copy(), np.zeros_like(y)
    across, down = np.zeros((y.shape[0], y.shape[1] - 1)), np.zeros((y.shape[0] - 1, y.shape[1]))
    slopes, spares = [across.copy(), down.copy()], [across.copy(), down.copy()]
    for k in range(1, steps + 1):
        gamma, beta = schedule(k, min(1, mu / 2))
        np.subtract(x[:, 1:], x[:, :-1], out=across)
        np.subtract(x[1:], x[:-1], out=down)
        slope_of(slopes[0], across, beta, lam, mu, spares[0])
        slope_of(slopes[1], down, beta, lam, mu, spares[1])
        np.subtract(x, y, out=grad)
        grad[:, 1:] += slopes[0]
        grad[:, :-1] -= slopes[0]
        grad[1:] += slopes[1]
        grad[:-1] -= slopes[1]
        advance(x, grad, gamma, norm, polar)
    return x


def numpy_factors(way, norm, y, w, h, lam, mu, steps):
    """‖Y − WH‖² + Σ MCP(Wᵢⱼ)."""
    slope_of, polar = way
    w, h = w.copy(), h.copy()
    rest, slope, spare = np.empty_like(y), np.empty_like(w), np.empty_like(w)
    grad_w, grad_h = np.empty_like(w), np.empty_like(h)
    for k in range(1, steps + 1):
        gamma, beta = schedule(k, min(1, mu / 2))
        np.matmul(w, h, out=rest)
        rest -= y
        rest *= 2
        np.matmul(rest, h.T, out=grad_w)
        np.matmul(w.T, rest, out=grad_h)
        slope_of(slope, w, beta, lam, mu, spare)
        grad_w += slope
        advance(w, grad_w, gamma, norm, polar)
        advance(h, grad_h, gamma, norm, polar)
    return np.concatenate([w.ravel(), h.ravel()])


def paper_problems():
    """The paper's problems on the bundled data: what, in which norm, steps, NumPy's run and melmo's."""
    rng = np.random.default_rng(0)

    def data(name):
        found = np.ascontiguousarray(melmo.data.load(name), dtype=np.float64)
        return found / found.max()

    def run(norm, n, *terms, **more):
        return melmo.minimize(*terms, geometry=norm, max_iter=n, method="melmo", trace_every=0, **more).x

    def recovery(name, norm, steps):
        y = data(name)
        mask = (rng.random(y.shape) < 0.7).astype(np.float64)
        f, g = melmo.loss.Masked(y, mask), melmo.penalty.MCP(0.05, 3.0)
        numpy = lambda n, how: numpy_recovery(how, norm, y, mask, 0.05, 3.0, n)  # noqa: E731
        return f"recovery, {name}", y.shape, norm, steps, numpy, lambda n: run(norm, n, f, g, x0=0 * y)

    def tv(norm, steps):
        y = data("camera")
        f, g, T = melmo.loss.Masked(y), melmo.penalty.MCP(0.05, 2.0), melmo.operator.Difference2D()
        numpy = lambda n, how: numpy_tv(how, norm, y, 0.05, 2.0, n)  # noqa: E731
        return "TV, camera", y.shape, norm, steps, numpy, lambda n: run(norm, n, f, g, T, x0=y)

    def factors(name, steps):
        y = data(name)
        w, h = rng.normal(size=(y.shape[0], 10)), rng.normal(size=(10, y.shape[1]))
        f, g, T = melmo.loss.Factorization(y, rank=10), melmo.penalty.MCP(1.0, 3.0), melmo.operator.Select("W")
        numpy = lambda n, how: numpy_factors(how, "spectral", y, w, h, 1.0, 3.0, n)  # noqa: E731
        own = lambda n: run("spectral", n, f, g, T, x0={"W": w, "H": h})  # noqa: E731
        return f"rank-10 factors, {name}", y.shape, "spectral", steps, numpy, own

    # The paper takes thousands of steps; so many that starting costs nothing will do.
    yield recovery("miserables", "l2", 2000)
    yield recovery("miserables", "spectral", 500)
    yield recovery("football", "l2", 5000)
    yield recovery("football", "spectral", 200)
    yield tv("l2", 500)
    yield tv("spectral", 50)
    yield tv("nuclear", 100)
    yield factors("football", 2000)
    yield factors("camera", 1000)


def iterations():
    """The same iterations in NumPy (vectorised, in place; plainly written, and tuned) and in melmo."""
    print("Processor time of a step in µs; ratios are NumPy over melmo.\n")
    print("| problem | norm | NumPy | tuned NumPy | melmo | ratio | ratio to tuned | largest difference of x |")
    print("|---|---|---|---|---|---|---|---|")
    ratios = []
    for name, shape, norm, steps, theirs, ours in paper_problems():
        runs = [lambda: theirs(steps, PLAIN), lambda: theirs(steps, TUNED), lambda: ours(steps)]
        # By turns, and in time of the processor: others may be at work on this machine.
        rounds = [[best(run, 1, time.process_time) for run in runs] for _ in range(5)]
        (plain, x), (tuned, _), (own, x_own) = (min(column, key=lambda pair: pair[0]) for column in zip(*rounds))
        if isinstance(x_own, dict):
            x_own = np.concatenate([part.ravel() for part in x_own.values()])
        ratios.append([plain / own, tuned / own])
        gap = np.abs(np.ravel(x) - np.ravel(x_own)).max()
        micro = " | ".join(f"{1e6 * t / steps:.0f}" for t in (plain, tuned, own))
        sides = f"{shape[0]}×{shape[1]}"
        print(f"| {name}, {sides} | {norm} | {micro} | {ratios[-1][0]:.1f} | {ratios[-1][1]:.1f} | {gap:.0e} |", flush=True)
    means = np.exp(np.mean(np.log(ratios), axis=0))
    print(f"| geometric mean | | | | | {means[0]:.1f} | {means[1]:.1f} | |\n")


def call():
    """What a call from Python costs beyond the run itself."""
    y = np.array([3.0, 0.1, -0.2, -4.0])
    problem = melmo.Problem(melmo.loss.Masked(y), melmo.penalty.MCP(0.5, 2.0), x0=y)
    print("| call | median µs beyond the run |\n|---|---|")
    for name, run in [
        ("Problem.minimize", lambda: problem.minimize(y, method="melmo", max_iter=1, trace_every=0)),
        (
            "melmo.minimize, terms built in the call",
            lambda: melmo.minimize(
                melmo.loss.Masked(y), melmo.penalty.MCP(0.5, 2.0), x0=y, method="melmo", max_iter=1, trace_every=0
            ),
        ),
    ]:
        costs = []
        for _ in range(2000):
            start = time.perf_counter()
            result = run()
            costs.append(time.perf_counter() - start - result["seconds"])
        print(f"| {name} | {1e6 * np.median(costs):.0f} |")
    print()


def tv_objective(x, y, weight):
    down, across = np.zeros_like(x), np.zeros_like(x)
    down[:-1], across[:, :-1] = np.diff(x, axis=0), np.diff(x, axis=1)
    return 0.5 * ((x - y) ** 2).sum() + weight * np.sqrt(down**2 + across**2).sum()


def denoise():
    """denoise_tv and scikit-image's denoise_tv_chambolle at equal objective."""
    from skimage.restoration import denoise_tv_chambolle

    camera = np.ascontiguousarray(melmo.data.load("camera"), dtype=np.float64)
    camera = camera / camera.max()
    y = camera + 0.1 * np.random.default_rng(0).normal(size=camera.shape)
    weight = 0.1
    print(f"TV of {y.shape[0]}×{y.shape[1]} pixels, weight {weight}; melmo with the fewest steps that reach as low.\n")
    print("| chambolle | objective | seconds | melmo steps | objective | seconds | ratio |\n|---|---|---|---|---|---|---|")
    for label, options in [("as it is", {}), ("200 steps", {"eps": 0, "max_num_iter": 200}), ("1000 steps", {"eps": 0, "max_num_iter": 1000})]:
        t_theirs, theirs = best(lambda: denoise_tv_chambolle(y, weight, **options), 2)
        reached = tv_objective(theirs, y, weight)
        for steps in (2, 3, 5, 8, 12, 20, 30, 45, 70, 100, 150, 250):
            if tv_objective(melmo.denoise_tv(y, weight, method="admm", max_iter=steps), y, weight) <= reached:
                break
        t_ours, ours = best(lambda: melmo.denoise_tv(y, weight, method="admm", max_iter=steps), 2)
        print(
            f"| {label} | {reached:.2f} | {t_theirs:.2f} | {steps} | {tv_objective(ours, y, weight):.2f} | {t_ours:.2f} |"
            f" {t_theirs / t_ours:.1f} |"
        )
    print()


def regression():
    """SparseRegression and skglm at equal accuracy, the first call of each included."""
    import skglm

    from melmo import SparseRegression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2000))
    truth = np.zeros(2000)
    truth[:20] = rng.normal(size=20) * 3
    y = X @ truth + rng.normal(size=500)
    X = (X - X.mean(0)) / X.std(0)
    y -= y.mean()
    lam = np.abs(X.T @ y).max() / len(y) / 20

    def mcp(s):
        return np.where(s <= 3 * lam, lam * s - s**2 / 6, 1.5 * lam**2)

    def value(coef, psi):
        return 0.5 * np.mean((y - X @ coef) ** 2) + psi(np.abs(coef)).sum()

    print("| penalty | skglm, first call | again | melmo, first call | again | ratios | objectives |\n|---|---|---|---|---|---|---|")
    for name, penalty, psi in [("ℓ1", "l1", lambda s: lam * s), ("MCP", "mcp:mu=3", mcp)]:
        def theirs():
            own = skglm.penalties.L1(lam) if penalty == "l1" else skglm.penalties.MCPenalty(lam, 3.0)
            solver = skglm.solvers.AndersonCD(tol=1e-6, fit_intercept=False)
            return skglm.GeneralizedLinearEstimator(skglm.datafits.Quadratic(), own, solver).fit(X, y).coef_.ravel()

        def ours():
            return SparseRegression(penalty, lam=lam, fit_intercept=False, tol=1e-6).fit(X, y).coef_

        first_theirs, a = best(theirs, 1)
        again_theirs, _ = best(theirs, 5)
        first_ours, b = best(ours, 1)
        again_ours, _ = best(ours, 5)
        print(
            f"| {name} | {first_theirs:.2f} s | {1e3 * again_theirs:.0f} ms | {1e3 * first_ours:.0f} ms | {1e3 * again_ours:.0f} ms |"
            f" {first_theirs / first_ours:.0f} and {again_theirs / again_ours:.1f} | {value(a, psi):.8f} and {value(b, psi):.8f} |"
        )
    print()


if __name__ == "__main__":
    asked = sys.argv[1:] or ["iterations", "call", "denoise", "regression"]
    for part in asked:
        {"iterations": iterations, "call": call, "denoise": denoise, "regression": regression}[part]()
