"""Problems, and runs step by step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, cast, overload

import numpy as np
import numpy.typing as npt

from melmo import _melmo
from melmo._arrays import Array, Blocks, Packing, Shape, Variable, X, natural_shape, precision_of, rows_cols
from melmo._certificate import Certificate
from melmo._check import Checked, check_terms, own_terms, warn_of_terms
from melmo._checks import described, function, number, optional_whole
from melmo._devices import moved
from melmo._loss import Loss
from melmo._operator import Operator, build_operator
from melmo._pairs import Pairs, is_complex, pairs_operator
from melmo._places import in_their_places
from melmo._result import Result
from melmo._settings import checked_settings
from melmo._sum import Sum
from melmo._user import UserLoss, build_penalty
from melmo._watch import Callback, Info, Progress, attach


class Problem(Generic[X]):
    """F(x) = f(x) + g(Tx), checked once and ready to solve many times.

    Parameters
    ----------
    f : Loss or callable
        A loss of ``melmo.loss``, or ``fun(x)`` that returns the value and the gradient.
    g : Penalty, object or dict
        A penalty of ``melmo.penalty``; any object with ``value(u)`` and ``prox(u, beta)``, and ``weak_convexity`` (ρ) if
        it is not convex; a sum of them, ``L1(0.1) + MCP(0.2)``; a dict of them for the blocks of Tx; or a list of them for the
        operators of a ``Stack``.
    T : Operator, matrix or object, optional
        An operator of ``melmo.operator``, an array, a SciPy sparse matrix, or anything with ``matvec``, ``rmatvec`` and
        ``shape``; the identity unless given.
    x0 : array or dict of arrays, optional
        What x looks like: its shape, the names of its blocks, its precision, whether it is complex. Needed where f does not know.
        Without it x is complex where the data of f are; then penalties are of moduli.

    Examples
    --------
    >>> import melmo
    >>> problem = melmo.Problem(melmo.loss.Masked([3.0, 0.1, -4.0]), melmo.penalty.MCP(0.5, 2.0))
    >>> problem.objective([3.0, 0.0, -4.0])
    0.505
    >>> problem.choose()[0]
    'fista'
    """

    @overload
    def __init__(self, f: Loss[X], g: Any, T: Any = ..., x0: Any = ...) -> None: ...
    @overload
    def __init__(
        self: Problem[Array], f: Callable[[Any], Any], g: Any, T: Any = ..., x0: npt.ArrayLike | None = ...
    ) -> None: ...
    @overload
    def __init__(
        self: Problem[Blocks], f: Callable[[Any], Any], g: Any, T: Any = ..., x0: Mapping[str, Any] = ...
    ) -> None: ...
    def __init__(self, f: Any, g: Any, T: Any = None, x0: Any = None) -> None:
        self.f, self.g, self.T = in_their_places(f, g, T)
        precision = None if x0 is None else _precision_of_start(x0, f)
        if isinstance(f, Loss):
            self.packing = f.packing(precision, x0)
            loss = f._build(self.packing.precision, self.packing)
        elif callable(f):
            if x0 is None:
                raise ValueError("x0: f is a function of your own, so that a start has to say what x looks like")
            self.packing = (Pairs if is_complex(x0) else Packing).of(x0, precision)
            loss = UserLoss(f, self.packing).build()
        else:
            raise TypeError(f"f: expected a loss or a function, got {described(f)}")
        operator = self._operator()
        self.range = self._range(operator)
        parts = g._split(self.range) if isinstance(g, Sum) else [g]
        if len(parts) > 1:  # no prox of the sum is known: T once for each part
            operator = _melmo.Operator.named(self.packing.precision, "stack", [], {"operators": [operator] * len(parts)})
            self.range = self._blocks(operator)
        penalty = build_penalty(parts if len(parts) > 1 else parts[0], self.range)
        self._terms = (loss, penalty, operator)
        self._raw = _melmo.Problem(self.packing.precision, *self._terms, self.packing.layout)
        self._own = own_terms(f, g, T)

    def _operator(self) -> _melmo.Operator:
        """T, where it takes x."""
        if isinstance(self.packing, Pairs):
            built = pairs_operator(self.T, self.packing.precision, self.packing, "T")
        else:
            built = build_operator(self.T, self.packing.precision, self.packing, "T")
        takes = sum(rows * cols for _, rows, cols in built.domain)
        if takes != self.packing.size:
            makes = sum(rows * cols for _, rows, cols in built.range)
            shapes = " and ".join(str(shape) for shape in self.packing.shapes.values())
            raise ValueError(f"T: is {makes}×{takes} and takes {takes} entries; x has {self.packing.size}, its shape is {shapes}")
        return built

    def _range(self, operator: _melmo.Operator) -> Packing:
        """How Tx lies in memory."""
        if self.T is None or (isinstance(self.T, Operator) and self.T._row["name"] == "identity"):
            return self.packing
        return self._blocks(operator)

    def _blocks(self, operator: _melmo.Operator) -> Packing:
        """What an operator of x makes. A block that is as large as x has its shape, others have that which they would have alone."""
        if isinstance(self.packing, Pairs):
            return Pairs.of_range(operator.range, self.packing)
        x_shape: Shape | None = next(iter(self.packing.shapes.values())) if self.packing.single else None
        packing = Packing.of_layout(operator.range, self.packing.precision, x_shape)
        if x_shape is not None and not packing.single:
            size = self.packing.size
            for name, rows, cols in packing.layout:
                packing.shapes[name] = x_shape if rows * cols == size else natural_shape(rows, cols)
        return packing

    def objective(self, x: Any) -> float:
        """F(x)."""
        return self._raw.objective(self.packing.pack("x", x))

    def smoothed(self, x: Any, beta: float) -> tuple[float, X]:
        """F_β(x) = f(x) + g_β(Tx) and its gradient."""
        value, gradient = self._raw.smoothed(self.packing.pack("x", x), number("beta", beta))
        return value, cast(X, self.packing.unpack(gradient))

    def prox_point(self, x: Any, beta: float) -> Variable:
        """z = prox_{βg}(Tx)."""
        return self.range.unpack(self._raw.prox_point(self.packing.pack("x", x), number("beta", beta)))

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
        if self.packing.single and not isinstance(x0, Mapping):
            found, expected = np.shape(x0), next(iter(self.packing.shapes.values()))
            if len(found) > 1 and math.prod(found) == self.packing.size and rows_cols(found) != rows_cols(expected):
                raise ValueError(f"x0: the problem's x has the shape {expected}, got {found}; give it to Problem as x0")
        return self.packing.pack("x0", x0)

    def minimize(
        self,
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
        callback: Callable[[Info[X]], Any] | None = None,
        progress: bool | Callable[[int, float], Any] = False,
        threads: int | None = None,
        device: str = "cpu",
    ) -> Result[X]:
        """Solve it from `x0`, or from 0; the keywords are those of :func:`melmo.minimize`."""
        given = checked_settings(
            geometry=geometry,
            method=method,
            options=options,
            max_iter=max_iter,
            epsilon=epsilon,
            relative_epsilon=relative_epsilon,
            gap=gap,
            relative_gap=relative_gap,
            radius=radius,
            tol=tol,
            target=target,
            max_epochs=max_epochs,
            time_limit=time_limit,
            trace_every=trace_every,
            exact_dual_norms=exact_dual_norms,
            threads=threads,
            device=device,
        )
        if max_iter is None and max_epochs is None:
            given["max_iter"] = None  # as many as suit its size
        start = self._start(x0)
        shown = None if callback is None else Callback(function("callback", callback), self.packing)
        with Progress(progress, given["max_iter"]) as bar:
            raw, error = self._raw.solve(start, given, shown, bar)
        result = self._result(raw)
        if error is not None:
            attach(error, result)
            raise error
        if isinstance(self.f, Loss) and self.f._lies_on_gpu():
            return self._where_data_lie(result, raw)
        if not warn_of_terms(self, result.x, result.status):
            # What is proven from terms that are not what they say is not proven.
            result.update(success=False, gap=None, certificate=None, message="The terms are not what they say: see melmo.check.")
        return result

    def _result(self, raw: dict[str, Any]) -> Result[X]:
        stands = self.packing.unpack(raw["x"])
        certificate = None if raw["certificate"] is None else Certificate(raw["certificate"], self, stands)
        x, fun = self._wanted(stands, raw["fun"], certificate)
        found = None if certificate is None else certificate.optimality
        gap = None if found is None else max(0.0, found.gap - (found.objective - fun))
        return Result._of(raw, x=x, z=self.range.unpack(raw["z"]), fun=fun, gap=gap, certificate=certificate)

    def _where_data_lie(self, result: Result[X], raw: dict[str, Any]) -> Result[X]:
        """x as an array of the kind of Y, which lies on a GPU: what the run left there, or a copy where the end is another point."""
        left = self.f._left()
        ends = ("certified", "settled", "target", "iterations", "time", "stalled")
        if left is None or raw["status"] not in ends:
            left = moved(self.f._arguments["Y"], self.packing.unpack(raw["x"]))
        result.update(x=left, fun=raw["fun"])
        return result

    def _wanted(self, x: Variable, fun: float, certificate: Certificate | None) -> tuple[Variable, float]:
        """x with z in the entries that T picks, where F is not above F(x): it has the zeros that x has not."""
        near = None if certificate is None else certificate.stationarity
        if near is None or near.residual != 0.0:
            return x, fun
        value = self.objective(near.point)
        return (near.point, value) if value <= fun else (x, fun)

    def check(
        self, x0: Any = None, *, probes: int | None = None, seed: int = 1, tolerance: float | None = None
    ) -> Checked:
        """Whether its terms are what they say, at and around `x0`; the keywords are those of :func:`melmo.check`."""
        return check_terms(self, x0, "fTg", probes, seed, tolerance)

    def iterate(
        self,
        x0: Any = None,
        *,
        geometry: Any = None,
        method: str = "auto",
        options: Mapping[str, Any] | None = None,
        max_iter: int | None = None,
    ) -> Iteration[X]:
        """Solve it step by step; the keywords are those of :func:`melmo.iterate`."""
        return Iteration(self, x0, {"geometry": geometry, "method": method, "options": options, "max_iter": max_iter})

    def __reduce__(self) -> Any:
        return Problem, (self.f, self.g, self.T, self.packing.unpack(self._start(None)))

    def __repr__(self) -> str:
        return f"Problem(f={self.f!r}, g={self.g!r}, T={self.T!r})"


class Iteration(Iterator[Info[X]], Generic[X]):
    """The points of a run, one after another. It ends after `max_iter` steps, or where a point is not finite."""

    def __init__(self, problem: Problem[X], x0: Any, settings: dict[str, Any]):
        self.problem = problem
        self._limit = optional_whole("max_iter", settings.get("max_iter"))
        self._raw = problem._raw.run(problem._start(x0), checked_settings(**settings))
        self._seen = 0

    def __next__(self) -> Info[X]:
        if self._limit is not None and self._seen > self._limit:
            raise StopIteration
        found = self._raw.step(True)
        if found is None:
            raise StopIteration
        self._seen += 1
        info: Info[X] = Info._of(found, self.problem.packing.unpack(self._raw.x))
        return info

    @property
    def method(self) -> str:
        """The method that runs."""
        return self._raw.method[0]

    @property
    def x(self) -> X:
        """The current point, a copy."""
        return cast(X, self.problem.packing.unpack(self._raw.x))

    def certificate(self) -> Certificate:
        """What is known about the current point."""
        raw, x = self._raw.certificate()
        return Certificate(raw, self.problem, self.problem.packing.unpack(x))


def _precision_of_start(x0: Any, f: Any) -> str:
    """That of the start; where it holds whole numbers, that of the loss."""
    values = x0.values() if isinstance(x0, Mapping) else (x0,)
    floats = any(np.asarray(value).dtype.kind in "fc" for value in values)
    return f._precision() if isinstance(f, Loss) and not floats else precision_of(x0)
