"""Other people's programs, each at several settings of its own; the best one counts."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import cvxpy
import numpy as np
import pyproximal
from clock import Once, Run, Watch
from pyproximal.optimization import primal, primaldual


def clarabel(make: Callable[[], tuple[Any, Any]]) -> Callable[[], Once]:
    """An interior point method. Its own seconds: what cvxpy takes to translate the problem does not count."""

    def attempts() -> Iterator[tuple[float, np.ndarray]]:
        objective, x = make()
        terms, constraints = objective if isinstance(objective, tuple) else (objective, [])
        for tol in (1e-4, 1e-6, 1e-8, 1e-10):
            problem = cvxpy.Problem(cvxpy.Minimize(terms), constraints)
            loose = {"tol_gap_abs": 1e-14, "tol_gap_rel": tol, "tol_feas": tol}
            try:
                problem.solve(solver=cvxpy.CLARABEL, max_threads=1, time_limit=60.0, **loose)
            except cvxpy.error.SolverError:
                continue
            if x.value is not None:
                yield problem.solver_stats.solve_time, np.array(x.value)

    return lambda: Once(attempts)


def _stepwise(algorithm: Callable[..., Any], many: int) -> Run:
    def start(limit: int | None, watch: Watch | None) -> np.ndarray:
        found = algorithm(niter=many if limit is None else limit, callback=watch)
        return found[0] if isinstance(found, tuple) else found

    return Run(start)


def pyproximal_identity(f: Any, g: Any, size: int, lipschitz: float, many: int = 5000) -> Callable[[], list[Run]]:
    """T = I: accelerated proximal gradient."""
    start = partial(primal.ProximalGradient, f, g, np.zeros(size), tau=1 / lipschitz, acceleration="fista")
    return lambda: [_stepwise(start, many)]


def pyproximal_split(
    f: Any, g: Any, T: Any, x0: np.ndarray, norm: float, data: tuple[Any, np.ndarray] | None = None, many: int = 5000
) -> Callable[[], list[Run]]:
    """T any: primal–dual steps at three ratios of their lengths, adaptive ones, and ADMM with inner least squares."""

    def runs() -> list[Run]:
        found = []
        for ratio in (0.1, 1.0, 10.0):
            lengths = {"tau": ratio * 0.99 / norm, "mu": 0.99 / norm / ratio}
            found.append(_stepwise(partial(primaldual.PrimalDual, f, g, T, x0, **lengths), many))
        lengths = {"tau": 0.99 / norm, "mu": 0.99 / norm, "tol": 0.0}
        found.append(_stepwise(partial(primaldual.AdaptivePrimalDual, f, g, T, x0, **lengths), many))
        if data is not None:
            for tau in (0.1, 1.0, 10.0):
                admm = partial(primal.ADMML2, g, *data, T, x0=x0, tau=tau, iter_lim=10)
                found.append(_stepwise(lambda niter, callback, admm=admm: admm(niter=niter, callback=callback), many))
        return found

    return runs


def l2(y: np.ndarray) -> Any:
    """½‖x − y‖²."""
    return pyproximal.L2(b=np.ravel(y))


def least_squares(A: Any, b: np.ndarray) -> Any:
    """½‖Ax − b‖², its prox by a few steps of LSQR."""
    return pyproximal.L2(Op=A, b=b, niter=20, warm=True)


def skglm(solve: Callable[[float], np.ndarray]) -> Callable[[], Once]:
    """`solve(tol)`, compiled by a run before."""

    def attempts() -> Iterator[tuple[float, np.ndarray]]:
        solve(1e-2)
        for tol in (1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10):
            began = time.process_time()
            x = solve(tol)
            yield time.process_time() - began, x

    return lambda: Once(attempts)
