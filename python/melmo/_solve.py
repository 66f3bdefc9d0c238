"""The general solver."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Union, overload

import numpy as np
import numpy.typing as npt

from melmo._arrays import Array, Blocks, X
from melmo._loss import Loss
from melmo._problem import Iteration, Problem
from melmo._ranks import Split, minimize_on_ranks
from melmo._result import Result
from melmo._settings import Settings
from melmo._threads import jobs_at_a_time
from melmo._watch import Info

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: A loss of the user's own.
Fun = Callable[[Any], Any]
#: A start of several blocks, or several starts.
BlockStarts = Union[Mapping[str, Any], Sequence[Mapping[str, Any]]]


@overload
def minimize(f: Loss[X], g: Any, T: Any = ..., x0: Any = ..., **settings: Unpack[Settings]) -> Result[X]: ...
@overload
def minimize(
    f: Fun, g: Any, T: Any = ..., x0: npt.ArrayLike | None = ..., **settings: Unpack[Settings]
) -> Result[Array]: ...
@overload
def minimize(f: Fun, g: Any, T: Any = ..., x0: BlockStarts = ..., **settings: Unpack[Settings]) -> Result[Blocks]: ...
def minimize(
    f: Any,
    g: Any,
    T: Any = None,
    x0: Any = None,
    *,
    geometry: Any = None,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    max_iter: int | None = None,
    epsilon: float | None = None,
    relative_epsilon: float | None = None,
    gap: float | None = None,
    relative_gap: float | None = None,
    radius: float | None = None,
    tol: float | None = None,
    target: float | None = None,
    max_epochs: int | None = None,
    time_limit: float | None = None,
    trace_every: int | None = None,
    exact_dual_norms: bool = False,
    callback: Callable[[Info[Any]], Any] | None = None,
    progress: bool | Callable[[int, float], Any] = False,
    n_jobs: int | None = None,
    threads: int | None = None,
    device: str = "cpu",
    comm: Any = None,
    split: Split = None,
) -> Result[Any]:
    """Minimise f(x) + g(Tx): f smooth, g weakly convex with a proximal operator, T linear.

    Parameters
    ----------
    f : Loss or callable
        A loss of ``melmo.loss``, or ``fun(x)`` that returns the value and the gradient (in the shape of x; a dict of
        arrays where x is one). A Lipschitz constant of the gradient, where you know one, belongs in the function's
        attribute ``lipschitz``: some methods need one.
    g : Penalty, object or dict
        A penalty of ``melmo.penalty``; any object with ``value(u)`` and ``prox(u, beta)``, and ``weak_convexity`` (ρ) if
        it is not convex; a sum of them, ``L1(0.1) + MCP(0.2)``; a dict of them for the blocks of Tx; or a list of them for the
        operators of a ``Stack``.
    T : Operator, matrix or object, optional
        An operator of ``melmo.operator``, an array, a SciPy sparse matrix, or anything with ``matvec``, ``rmatvec`` and
        ``shape``; the identity unless given.
    x0 : array, dict of arrays, or a list of starts, optional
        Where to start; 0 unless given. Its dtype is the precision of the run: ``float32`` stays ``float32``. From
        several starts the result of least F is returned, with all of them in ``runs``.
    geometry : Geometry, str or dict, optional
        The norm of the steps, or one for each block: ``"spectral"``, ``{"W": melmo.geometry.Spectral("svd")}``.
    method : str, default 'auto'
        A method of ``melmo.catalogue()["methods"]``; ``auto`` chooses by the structure of the problem.
    options : dict, optional
        Parameters of the method, such as ``{"gamma": 0.5, "restart": "best"}``.
    max_iter : int, optional
        Steps at most: 5000; where ``auto`` takes ``admm`` or ``primal-dual``, as many as go with 5·10⁸ entries of x and Tx, up to
        50 000. Where methods race, those of all together.
    epsilon, relative_epsilon : float, optional
        Stop at a certificate: dual norm and proximal gap both at most ε, or ε times their values at the start.
    gap, relative_gap : float, optional
        Stop where F(x) − F* is proven to be at most this, or this times |F(x)|. Refused with the reason where no bound
        exists.
    radius : float, optional
        A radius that every minimiser lies in, where the proof of a gap needs one.
    tol : float, default 1e-6 (1e-4 in single precision)
        Without the stops above: settle where ‖∇f(x) + T*w‖ ≤ tol·(‖∇f(x)‖ + ‖T*w‖) and ‖Tx − z‖ ≤ tol·‖Tx‖ for some w ∈ ∂g(z),
        or F(x) − F* ≤ tol·|F(x)|. 0 for never.
    target : float, optional
        Stop where F(x) is at most this.
    max_epochs : int, optional
        Epochs at most, for the epoch methods: n epochs are 2ⁿ − 1 steps.
    time_limit : float, optional
        Seconds at most.
    trace_every : int, optional
        Record every so many points, 0 for none; about a hundred of ``max_iter`` unless given.
    exact_dual_norms : bool, default False
        Recorded dual norms are exact, not upper bounds: a decomposition for spectral norms.
    callback : callable, optional
        Called with an :class:`Info` at every point. Returning something true, or raising ``StopIteration``, ends the run.
        Any other exception ends it too and is raised again, with the result so far as its attribute ``result``.
    progress : bool or callable, default False
        Show a bar (needs tqdm), or call ``progress(k, F)`` now and then.
    n_jobs : int, optional
        How many of several starts run at a time: −1 for as many as there are cores.
    threads : int, optional
        Threads that share the work of one start, where it is large: those of :func:`melmo.set_threads` unless given, one each
        where several starts run at a time. The result does not depend on it.
    device : str, default 'cpu'
        Where the run's points live: ``"cpu"``, ``"cuda"`` or ``"cuda:1"`` for an NVIDIA GPU, ``"auto"`` for a GPU where there is one
        and it pays. What has no kernels there is refused with the reason.
    comm : mpi4py communicator, optional
        Solve it together with the other ranks of, say, ``MPI.COMM_WORLD``: f, g, T and x0 are of the rows that this rank holds, F is the
        sum of all, and every rank returns its rows of x, with the certificate of the whole. Penalties whose groups lie on several
        ranks, and operators that reach further than to the next row, are refused. `callback`, `progress` and several starts do
        not go with it. The terms of blocks that every rank has count once each rank: give a ridge on them to rank 0 alone.
    split : Share or dict of Share, optional
        With `comm`: which rows of x, or of its blocks, lie here (:func:`melmo.share`). Blocks that are not named are on every rank, such
        as the coefficients of a regression whose rows of data are shared.

    Returns
    -------
    Result
        ``x``, ``z``, ``fun``, ``status``, ``message``, ``nit``, ``certificate``, ``trace`` and more.

    Notes
    -----
    Where g is not convex and the problem is not large, ``auto`` tries other methods after the first, each for up to a thousand steps, and the lowest
    goes on: ``reason`` says who raced. `callback` sees the points of all; ``trace`` has the rows of the first.

    The interpreter lock is released while Rust works. Ctrl-C ends the run and returns the best point so far, with the
    status ``interrupted``.

    Examples
    --------
    >>> import melmo
    >>> result = melmo.minimize(melmo.loss.Masked([3.0, 0.1, -0.2, -4.0]), melmo.penalty.MCP(0.5, 2.0))
    >>> result.x.round(6) + 0.0
    array([ 3.,  0.,  0., -4.])
    >>> result.certificate.passed(1e-6), result.gap < 1e-9
    (True, True)

    A loss and a penalty of your own:

    >>> import numpy as np
    >>> class Positive:
    ...     def value(self, u):
    ...         return 0.0 if (u >= 0).all() else np.inf
    ...     def prox(self, u, beta):
    ...         return np.maximum(u, 0)
    >>> def fun(x):
    ...     return 0.5 * ((x - [1.0, -2.0]) ** 2).sum(), x - [1.0, -2.0]
    >>> melmo.minimize(fun, Positive(), x0=np.zeros(2)).z.round(3)
    array([1., 0.])
    """
    settings: dict[str, Any] = {
        "geometry": geometry,
        "method": method,
        "options": options,
        "max_iter": max_iter,
        "epsilon": epsilon,
        "relative_epsilon": relative_epsilon,
        "gap": gap,
        "relative_gap": relative_gap,
        "radius": radius,
        "tol": tol,
        "target": target,
        "max_epochs": max_epochs,
        "time_limit": time_limit,
        "trace_every": trace_every,
        "exact_dual_norms": exact_dual_norms,
        "threads": threads,
        "device": device,
    }
    if comm is not None:
        refused = callback is not None or bool(progress) or n_jobs is not None
        return minimize_on_ranks((f, g, T), x0, comm, split, settings, refused)
    if split is not None:
        raise ValueError("split: says what lies on ranks, and needs comm")
    if isinstance(x0, (list, tuple)) and len(x0) > 0 and all(isinstance(start, (np.ndarray, Mapping)) for start in x0):
        return _from_several(f, g, T, x0, n_jobs, {**settings, "callback": callback})
    problem: Problem[Any] = Problem(f, g, T, x0)
    return problem.minimize(x0, **settings, callback=callback, progress=progress)


@overload
def iterate(
    f: Loss[X],
    g: Any,
    T: Any = ...,
    x0: Any = ...,
    *,
    geometry: Any = ...,
    method: str = ...,
    options: Mapping[str, Any] | None = ...,
    max_iter: int | None = ...,
) -> Iteration[X]: ...
@overload
def iterate(
    f: Fun,
    g: Any,
    T: Any = ...,
    x0: npt.ArrayLike | None = ...,
    *,
    geometry: Any = ...,
    method: str = ...,
    options: Mapping[str, Any] | None = ...,
    max_iter: int | None = ...,
) -> Iteration[Array]: ...
@overload
def iterate(
    f: Fun,
    g: Any,
    T: Any = ...,
    x0: Mapping[str, Any] = ...,
    *,
    geometry: Any = ...,
    method: str = ...,
    options: Mapping[str, Any] | None = ...,
    max_iter: int | None = ...,
) -> Iteration[Blocks]: ...
def iterate(
    f: Any,
    g: Any,
    T: Any = None,
    x0: Any = None,
    *,
    geometry: Any = None,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    max_iter: int | None = None,
) -> Iteration[Any]:
    """The points of a run, one after another, for loops of your own.

    Parameters
    ----------
    f, g, T, x0, geometry, method, options
        As in :func:`minimize`.
    max_iter : int, optional
        Steps at most; without it the sequence has no end of its own.

    Returns
    -------
    Iteration
        An iterator over :class:`Info`; it also has the current point ``x`` and ``certificate()``.

    Examples
    --------
    >>> import melmo
    >>> for info in melmo.iterate(melmo.loss.Masked([3.0, 0.1]), melmo.penalty.L1(0.5), method="melmo"):
    ...     if info.dual_norm[1] < 0.5 or info.k == 200:
    ...         break
    >>> bool(abs(info.x[0] - 2.5) < 0.5)
    True
    """
    problem: Problem[Any] = Problem(f, g, T, x0)
    return problem.iterate(x0, geometry=geometry, method=method, options=options, max_iter=max_iter)


def _from_several(
    f: Any, g: Any, T: Any, starts: Sequence[Any], n_jobs: int | None, settings: dict[str, Any]
) -> Result[Any]:
    """From every start; the result of least F, with all of them."""
    jobs = jobs_at_a_time(n_jobs)
    if jobs > 1 and settings["threads"] is None:
        settings = {**settings, "threads": 1}

    def solve(start: Any, **more: Any) -> Result[Any]:
        problem: Problem[Any] = Problem(f, g, T, start)
        return problem.minimize(start, **settings, **more)

    runs, interrupted = _one_by_one(solve, starts) if jobs == 1 else _in_threads(solve, starts, jobs)
    best = min(runs, key=lambda run: run.fun if run.fun == run.fun else np.inf)
    result: Result[Any] = Result(**best, runs=runs)
    if interrupted:
        result.update(status="interrupted", success=False, message="Interrupted; this is the best of all runs so far.")
    return result


def _one_by_one(solve: Callable[..., Result[Any]], starts: Sequence[Any]) -> tuple[list[Result[Any]], bool]:
    """The runs, as far as Ctrl-C lets them, and whether it was heard."""
    runs = []
    for start in starts:
        runs.append(solve(start))
        if runs[-1].status == "interrupted":
            return runs, True
    return runs, False


def _in_threads(solve: Callable[..., Result[Any]], starts: Sequence[Any], jobs: int) -> tuple[list[Result[Any]], bool]:
    """The same in threads. They hear no signals: this one does, and tells them at their next heartbeat."""
    left = threading.Event()

    def heartbeat(k: int, fun: float) -> None:
        if left.is_set():
            raise KeyboardInterrupt

    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(solve, start, progress=heartbeat) for start in starts]
        try:
            return [run.result() for run in waiting], False
        except KeyboardInterrupt:
            left.set()
            begun = [run for run in waiting if not run.cancel()]
            if not begun:
                raise
            return [run.result() for run in begun], True
        except BaseException:
            left.set()
            for run in waiting:
                run.cancel()
            raise
