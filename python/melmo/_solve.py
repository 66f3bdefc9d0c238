"""The general solver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from melmo import _melmo
from melmo._arrays import Array, Packing, Shape, Variable, precision_of
from melmo._certificate import Certificate
from melmo._geometry import spelled
from melmo._loss import Loss
from melmo._operator import Operator, build_operator
from melmo._result import Result, Trace
from melmo._user import UserLoss, build_penalty


#: The fields of an Info but the point, as Rust gives them.
Fields = tuple[int, Union[int, None], float, tuple[float, float], float, float, float, float, float]


@dataclass(frozen=True)
class Info:
    """The scalars at a point of a run, and the point."""

    #: Which point: x_k, k = 1 for the start.
    k: int
    #: The epoch that evaluated it, for methods that run in epochs.
    epoch: int | None
    #: F(x).
    fun: float
    #: Bounds on ‖∇F_β(x)‖_*.
    dual_norm: tuple[float, float]
    #: ‖Tx − z‖₂.
    prox_gap: float
    #: The smoothing; 0 for a method without.
    beta: float
    #: The length of the step.
    gamma: float
    #: ⟨φ, d⟩ ≤ −(1 − η)‖φ‖_* for the oracle's direction d.
    eta: float
    #: ν with ‖d‖ ≤ 1 + ν.
    excess: float
    #: The point, a copy.
    x: Variable

    @classmethod
    def _of(cls, fields: Fields, x: Variable) -> Info:
        return cls(*fields, x)


class Problem:
    """F(x) = f(x) + g(Tx), checked once and ready to solve many times.

    Parameters
    ----------
    f : Loss or callable
        A loss of ``melmo.loss``, or ``fun(x)`` that returns the value and the gradient.
    g : Penalty, object or dict
        A penalty of ``melmo.penalty``; any object with ``value(u)`` and ``prox(u, beta)``, and ``weak_convexity`` (ρ) if
        it is not convex; or a dict of them for the blocks of Tx.
    T : Operator, matrix or object, optional
        An operator of ``melmo.operator``, an array, a SciPy sparse matrix, or anything with ``matvec``, ``rmatvec`` and
        ``shape``; the identity unless given.
    x0 : array or dict of arrays, optional
        What x looks like: its shape, the names of its blocks, its precision. Needed where f does not know.

    Examples
    --------
    >>> import melmo
    >>> problem = melmo.Problem(melmo.loss.Masked([3.0, 0.1, -4.0]), melmo.penalty.MCP(0.5, 2.0))
    >>> problem.objective([3.0, 0.0, -4.0])
    0.505
    >>> problem.choose()[0]
    'fista'
    """

    def __init__(self, f: Any, g: Any, T: Any = None, x0: Any = None):
        self.f, self.g, self.T = f, g, T
        precision = None if x0 is None else _precision_of_start(x0, f)
        if isinstance(f, Loss):
            self.packing = f.packing(precision)
            if x0 is not None and self.packing.single and not isinstance(x0, Mapping):
                self.packing = Packing.of_layout(self.packing.layout, self.packing.precision, np.shape(x0))
            loss = f._build(self.packing.precision)
        elif callable(f):
            if x0 is None:
                raise ValueError("x0: f is a function of your own, so that a start has to say what x looks like")
            self.packing = Packing.of(x0, precision)
            loss = UserLoss(f, self.packing).build()
        else:
            raise TypeError(f"f: expected a loss or a function, got {type(f).__name__}")
        operator = build_operator(T, self.packing.precision, self.packing)
        self.range = self._range(operator)
        penalty = build_penalty(g, self.range)
        self._raw = _melmo.Problem(self.packing.precision, loss, penalty, operator)

    def _range(self, operator: _melmo.Operator) -> Packing:
        """How Tx lies in memory. A block that is as large as x has its shape."""
        x_shape: Shape | None = next(iter(self.packing.shapes.values())) if self.packing.single else None
        if self.T is None or (isinstance(self.T, Operator) and self.T._row["name"] == "identity"):
            return self.packing
        packing = Packing.of_layout(operator.range, self.packing.precision, x_shape)
        if x_shape is not None and not packing.single:
            size = self.packing.size
            for name, rows, cols in packing.layout:
                if rows * cols == size:
                    packing.shapes[name] = x_shape
        return packing

    def objective(self, x: Any) -> float:
        """F(x)."""
        return self._raw.objective(self.packing.pack("x", x))

    def smoothed(self, x: Any, beta: float) -> tuple[float, Variable]:
        """F_β(x) = f(x) + g_β(Tx) and its gradient."""
        value, gradient = self._raw.smoothed(self.packing.pack("x", x), beta)
        return value, self.packing.unpack(gradient)

    def prox_point(self, x: Any, beta: float) -> Variable:
        """z = prox_{βg}(Tx)."""
        return self.range.unpack(self._raw.prox_point(self.packing.pack("x", x), beta))

    def choose(self) -> tuple[str, str]:
        """The method that ``auto`` runs, and why."""
        return self._raw.choose()

    @property
    def weak_convexity(self) -> float:
        """ρ of g."""
        return self._raw.facts[0]

    def _start(self, x0: Any) -> Array:
        if x0 is None:
            return np.zeros(self.packing.size, dtype=np.float32 if self.packing.precision == "f32" else np.float64)
        return self.packing.pack("x0", x0)

    def minimize(self, x0: Any = None, **settings: Any) -> Result:
        """Solve it from `x0`, or from 0; the keywords are those of :func:`melmo.minimize`."""
        callback, progress = settings.pop("callback", None), settings.pop("progress", False)
        given = _settings(**settings)
        start = self._start(x0)
        shown = None if callback is None else _Callback(callback, self.packing)
        with _Progress(progress, given["max_iter"]) as bar:
            raw, error = self._raw.solve(start, given, shown, bar)
        result = self._result(raw)
        if error is not None:
            _attach(error, result)
            raise error
        return result

    def _result(self, raw: dict[str, Any]) -> Result:
        x = self.packing.unpack(raw["x"])
        certificate = raw["certificate"]
        return Result(
            x=x,
            z=self.range.unpack(raw["z"]),
            fun=raw["fun"],
            status=raw["status"],
            success=raw["status"] in ("certified", "settled"),
            message=raw["message"],
            nit=raw["nit"],
            method=raw["method"],
            reason=raw["reason"],
            seconds=raw["seconds"],
            certificate=None if certificate is None else Certificate(certificate, self, x),
            trace=Trace._of(raw["trace"]),
        )

    def iterate(self, x0: Any = None, **settings: Any) -> Iteration:
        """Solve it step by step; the keywords are those of :func:`melmo.iterate`."""
        return Iteration(self, x0, settings)

    def __reduce__(self) -> Any:
        return Problem, (self.f, self.g, self.T, self.packing.unpack(self._start(None)))

    def __repr__(self) -> str:
        return f"Problem(f={self.f!r}, g={self.g!r}, T={self.T!r})"


class Iteration(Iterator[Info]):
    """The points of a run, one after another. It ends after `max_iter` steps, or where a point is not finite."""

    def __init__(self, problem: Problem, x0: Any, settings: dict[str, Any]):
        limit = settings.get("max_iter")
        self.problem = problem
        self._limit = limit
        self._raw = problem._raw.run(problem._start(x0), _settings(**settings))
        self._seen = 0

    def __next__(self) -> Info:
        if self._limit is not None and self._seen > self._limit:
            raise StopIteration
        found = self._raw.step(True)
        if found is None:
            raise StopIteration
        self._seen += 1
        return Info._of(found, self.problem.packing.unpack(self._raw.x))

    @property
    def method(self) -> str:
        """The method that runs."""
        return self._raw.method[0]

    @property
    def x(self) -> Variable:
        """The current point, a copy."""
        return self.problem.packing.unpack(self._raw.x)

    def certificate(self) -> Certificate:
        """What is known about the current point."""
        raw, x = self._raw.certificate()
        return Certificate(raw, self.problem, self.problem.packing.unpack(x))


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
    max_epochs: int | None = None,
    time_limit: float | None = None,
    trace_every: int | None = None,
    exact_dual_norms: bool = False,
    callback: Callable[[Info], Any] | None = None,
    progress: bool | Callable[[int, float], Any] = False,
    n_jobs: int | None = None,
) -> Result:
    """Minimise f(x) + g(Tx): f smooth, g weakly convex with a proximal operator, T linear.

    Parameters
    ----------
    f : Loss or callable
        A loss of ``melmo.loss``, or ``fun(x)`` that returns the value and the gradient (in the shape of x; a dict of
        arrays where x is one). A Lipschitz constant of the gradient, where you know one, belongs in the function's
        attribute ``lipschitz``: some methods need one.
    g : Penalty, object or dict
        A penalty of ``melmo.penalty``; any object with ``value(u)`` and ``prox(u, beta)``, and ``weak_convexity`` (ρ) if
        it is not convex; or a dict of them for the blocks of Tx.
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
    max_iter : int, default 5000
        Steps at most.
    epsilon, relative_epsilon : float, optional
        Stop at a certificate: dual norm and proximal gap both at most ε, or ε times their values at the start.
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
        Threads for several starts: −1 for all cores.

    Returns
    -------
    Result
        ``x``, ``z``, ``fun``, ``status``, ``message``, ``nit``, ``certificate``, ``trace`` and more.

    Notes
    -----
    The interpreter lock is released while Rust works. Ctrl-C ends the run and returns the best point so far, with the
    status ``interrupted``.

    Examples
    --------
    >>> import melmo
    >>> result = melmo.minimize(melmo.loss.Masked([3.0, 0.1, -0.2, -4.0]), melmo.penalty.MCP(0.5, 2.0))
    >>> result.z.round(6) + 0.0
    array([ 3.,  0.,  0., -4.])
    >>> result.certificate.verify().passed
    True

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
        "max_epochs": max_epochs,
        "time_limit": time_limit,
        "trace_every": trace_every,
        "exact_dual_norms": exact_dual_norms,
    }
    if isinstance(x0, (list, tuple)) and len(x0) > 0 and all(isinstance(start, (np.ndarray, Mapping)) for start in x0):
        return _from_several(f, g, T, x0, n_jobs, {**settings, "callback": callback})
    problem = Problem(f, g, T, x0)
    return problem.minimize(x0, **settings, callback=callback, progress=progress)


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
) -> Iteration:
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
    settings = {"geometry": geometry, "method": method, "options": options, "max_iter": max_iter}
    return Problem(f, g, T, x0).iterate(x0, **settings)


def _settings(
    *,
    geometry: Any = None,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    max_iter: int | None = None,
    epsilon: float | None = None,
    relative_epsilon: float | None = None,
    max_epochs: int | None = None,
    time_limit: float | None = None,
    trace_every: int | None = None,
    exact_dual_norms: bool = False,
) -> dict[str, Any]:
    """The settings as Rust takes them."""
    if epsilon is not None and relative_epsilon is not None:
        raise ValueError("epsilon and relative_epsilon: give one of them")
    counts = {"max_iter": max_iter, "max_epochs": max_epochs, "trace_every": trace_every}
    for name, value in counts.items():
        if value is not None and (isinstance(value, bool) or int(value) != value or value < 0):
            raise ValueError(f"{name} = {value!r}: must be a whole number, at least 0")
    steps = max_iter
    if steps is None:
        steps = 5000 if max_epochs is None else 2 ** min(int(max_epochs), 62) - 1
    return {
        **spelled(geometry),
        "method": method,
        "options": None if options is None else dict(options),
        "max_iter": int(steps),
        "epsilon": epsilon,
        "relative_epsilon": relative_epsilon,
        "max_epochs": max_epochs,
        "time_limit": time_limit,
        "trace_every": max(1, steps // 100) if trace_every is None else int(trace_every),
        "exact_dual_norms": bool(exact_dual_norms),
    }


def _precision_of_start(x0: Any, f: Any) -> str:
    """That of the start; where it holds whole numbers, that of the loss."""
    values = x0.values() if isinstance(x0, Mapping) else (x0,)
    floats = any(np.asarray(value).dtype.kind == "f" for value in values)
    return f._precision() if isinstance(f, Loss) and not floats else precision_of(x0)


class _Callback:
    """Shows a point to the user in its shape."""

    def __init__(self, callback: Callable[[Info], Any], packing: Packing):
        self.callback = callback
        self.packing = packing

    def __call__(self, fields: Fields, x: Array) -> Any:
        return self.callback(Info._of(fields, self.packing.unpack(x)))


class _Progress:
    """A bar of tqdm, the user's own function, or nothing."""

    def __init__(self, progress: bool | Callable[[int, float], Any], total: int):
        self.call = progress if callable(progress) else None
        self.bar: Any = None
        if progress is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                raise ImportError("progress=True needs tqdm: pip install tqdm") from None
            self.bar = tqdm(total=total, unit="step")
            self.call = self.update

    def update(self, k: int, fun: float) -> None:
        """Moves the bar to k."""
        self.bar.set_postfix(F=f"{fun:.6g}", refresh=False)
        self.bar.update(k - 1 - self.bar.n)

    def __enter__(self) -> Callable[[int, float], Any] | None:
        return self.call

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.close()


def _attach(error: BaseException, result: Result) -> None:
    """The result so far, for whoever catches the exception."""
    try:
        error.result = result  # type: ignore[attr-defined]
    except AttributeError:
        pass
    if hasattr(error, "add_note"):
        error.add_note(f"melmo: the run ended after {result.nit} steps; the point so far is in this exception's `result`")


def _from_several(
    f: Any, g: Any, T: Any, starts: Sequence[Any], n_jobs: int | None, settings: dict[str, Any]
) -> Result:
    """From every start; the result of least F, with all of them."""
    import os

    jobs = 1 if n_jobs is None else (os.cpu_count() or 1) if n_jobs < 0 else max(1, n_jobs)

    def solve(start: Any) -> Result:
        return Problem(f, g, T, start).minimize(start, **settings)

    if jobs == 1:
        runs = [solve(start) for start in starts]
    else:
        with ThreadPoolExecutor(jobs) as pool:
            runs = list(pool.map(solve, starts))
    best = min(runs, key=lambda run: run.fun if run.fun == run.fun else np.inf)
    return Result(**best, runs=runs)
