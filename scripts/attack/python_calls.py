#!/usr/bin/env python3
"""Calls everything public of the Python package with good and bad arguments, at random.

    python scripts/attack/python_calls.py [CALLS] [--seed N] [--seconds S] [--log FILE]

Whatever is called, only a TypeError, a ValueError or an error that is documented may come out: no other exception, no panic,
no death of the interpreter, no call that does not end. Each call is written to the log before it is made, so that the last
line of the log of a run that died is the call that killed it. Exits 0 if nothing was found, and prints how many calls were
made of what, and how many were refused.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import inspect
import os
import pickle
import random
import sys
import time
import warnings
from typing import Any

import numpy as np

import melmo

try:
    import scipy.sparse as sparse
    from melmo._lazy import ESTIMATORS

    ESTIMATOR_NAMES = [name for name in ESTIMATORS if name != "RegressionPath"]
    for estimator in ESTIMATOR_NAMES:
        getattr(melmo, estimator)
except ImportError:  # without scikit-learn everything else is called
    sparse, ESTIMATOR_NAMES = None, []

#: A call that takes longer than this hangs.
DEADLINE = 60.0
ALLOWED = (TypeError, ValueError)


class Caller:
    """Makes random calls of one kind after another."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.wild = False
        self.numpy = np.random.default_rng(seed)
        self.terms = {
            kind: [getattr(module, name) for name in module.__all__[1:]]
            for kind, module in [
                ("penalty", melmo.penalty),
                ("loss", melmo.loss),
                ("operator", melmo.operator),
                ("geometry", melmo.geometry),
            ]
        }
        self.kinds = [
            self.penalty_call,
            self.loss_call,
            self.operator_call,
            self.geometry_call,
            self.function_call,
            self.solve_call,
            self.solve_call,
            self.problem_call,
            self.task_call,
            self.data_call,
            *[self.estimator_call] * (3 if ESTIMATOR_NAMES else 0),
        ]

    def call(self) -> tuple[str, Any]:
        """A description, and what to do."""
        while True:
            self.wild = self.random.random() < 0.4  # otherwise arrays are ordinary, and terms fit together
            try:
                return self.random.choice(self.kinds)()
            except ALLOWED:  # an argument that was to be a term was refused
                continue

    # Values.

    def pick(self, *values: Any) -> Any:
        return self.random.choice(values)

    def number(self) -> Any:
        return self.pick(0.1, 0.5, 1.0, 2.0, 3, np.float32(0.7), 1e-3)

    def count(self) -> Any:
        return self.pick(1, 2, 3, 5, 9, np.int64(4), 2.0)

    def array(self, shape: Any = None) -> Any:
        if shape is None:
            shape = self.pick((4,), (3, 4), (3, 4)) if not self.wild else self.pick((), (1,), (4,), (6,), (3, 4), (4, 3), (2, 3, 2), (1, 1), (5, 1))
        made = self.numpy.standard_normal(shape)
        if not self.wild:
            return made.astype(self.pick(np.float64, np.float64, np.float32))
        made = made * self.pick(1, 1, 1, 1, 1e-3, 1e3, 1e-150, 1e150, 1e-300, 1e300)
        made = np.asarray(made, dtype=self.pick(np.float64, np.float64, np.float32, np.int64, bool, np.float16))
        if self.random.random() < 0.1 and made.dtype.kind == "f" and made.ndim:
            made.reshape(-1)[0] = self.pick(np.nan, np.inf, -np.inf, 0.0)
        if self.random.random() < 0.1:
            made = self.pick(made.tolist(), np.asfortranarray(made), made[..., ::-1] if made.ndim else made)
        return made

    def bad(self) -> Any:
        values: list[Any] = [None, True, False, 0, -1, -3, 0.5, float("nan"), float("inf"), -float("inf")]
        values += [10**30, -(10**30), 10**400, 1e308, 5e-324, "", "x", "l1", "mcp:mu=2", "1e3", b"x", "é\x00", 1j]
        values += [[], [1], [[]], [None], ["a", 1], [[1, 2], [3]], {}, {"x": None}, {1: 2}, (), (-1, 2), (0, 3)]
        values += [object(), lambda *given: None, len, int, melmo.penalty.MCP, melmo, np.array(object())]
        values += [np.array([]), np.array("a"), np.array([1j]), np.zeros((0, 3)), np.array([None, 1.0], dtype=object)]
        values += [np.datetime64("2020-01-01"), range(3), slice(2), set(), NotImplemented, Ellipsis]
        if sparse is not None:
            values += [sparse.eye(4).tocsr(), sparse.random(5, 4, 0.5).tocsc(), self.damaged()]
        return self.random.choice(values)

    def damaged(self) -> Any:
        """A sparse matrix whose arrays were written over."""
        matrix = sparse.random(5, 4, 0.5, format=self.pick("csr", "csc", "coo", "bsr"), random_state=1)
        names = ("row", "col") if matrix.format == "coo" else ("indices", "indptr")
        name = self.pick(*names)
        array = getattr(matrix, name).copy()
        if len(array):
            array[self.random.randrange(len(array))] = self.pick(-1, 10**6, 7, -(2**31), 2**31 - 1)
        setattr(matrix, name, array[: self.pick(len(array), len(array) - 1)])
        return matrix

    def matrix(self) -> Any:
        if not self.wild:
            return self.pick(self.array((5, 4)), sparse.random(5, 4, 0.5).tocsc() if sparse else np.eye(5, 4))
        if sparse is not None and self.random.random() < 0.25:
            return self.pick(sparse.eye(4).tocsr(), sparse.random(5, 4, 0.5).tocsc(), self.damaged())
        return self.array(self.pick((5, 4), (4, 4), (3, 4), (12, 12)))

    def groups(self) -> Any:
        if not self.wild:
            return self.pick([[0, 1], [2, 3]], [[0], [1, 2], [3]])
        return self.pick([[0, 1], [2, 3]], [[0], [1, 2], [3]], [[0, 0]], [[0, 99]], [[1.7]], [[]], [0, 0, 1, 1], "aabb")

    def penalty(self) -> Any:
        made = self.pick(melmo.penalty.L1, melmo.penalty.MCP, melmo.penalty.SCAD, melmo.penalty.LogSum, melmo.penalty.Ridge)
        on = self.pick("entries", "entries", "entries", "rows", "columns", "singular-values")
        return self.pick(made(self.number()), made(), made(on=on), {"x": made()}, {"dx": made()}, Own())

    def penalty_text(self) -> Any:
        text = self.pick("l1", "mcp", "scad", "mcp:mu=2", "ridge", "log-sum", "elastic-net:nu=0.1", "nonnegative", "huber")
        if not self.wild:
            return self.pick(text, melmo.penalty.MCP(0.3, 2.0))
        return self.pick(text, text, text, melmo.penalty.MCP(0.3, 2.0), "mpc", "mcp:mu", "l1:lambda=1/0", "l1:lambda=-1", ":")

    def loss(self) -> Any:
        data = self.array(self.pick((4,), (3, 4), (4, 3)))
        return self.pick(
            lambda: melmo.loss.Masked(data),
            lambda: melmo.loss.LeastSquares(self.matrix(), self.array((5,))),
            lambda: melmo.loss.Factorization(data, rank=2),
            lambda: melmo.loss.RobustPCA(data),
            lambda: melmo.loss.Logistic(self.matrix(), self.pick([0, 1, 0, 1, 1], [1, -1, 1, -1, 1])),
            lambda: own_loss,
        )()

    def operator(self) -> Any:
        made = melmo.operator
        return self.pick(
            lambda: None,
            lambda: made.Difference2D(),
            lambda: made.Identity(4),
            lambda: made.Select(self.pick("W", "x", "L")),
            self.matrix,
            lambda: made.Stack(made.Identity(4), self.matrix()),
        )()

    def by_name(self, name: str) -> Any:
        """A good value for an argument of that name, or one nearly so."""
        makers = {
            **dict.fromkeys(("u", "x", "y", "phi", "Y", "image", "b", "a", "W", "mask", "weights", "kernel"), self.array),
            **dict.fromkeys(("A", "operator", "operators", "outer", "inner", "T"), self.operator),
            **dict.fromkeys(("lam", "mu", "nu", "theta", "delta", "beta", "ridge", "tol", "noise", "strength"), self.number),
            **dict.fromkeys(("weight", "ratio", "data_range", "lower", "upper", "offset_weight", "factor"), self.number),
            **dict.fromkeys(("max_iter", "rank", "n_components", "depth", "channels", "trace_every", "steps"), self.count),
            **dict.fromkeys(("n_lambdas", "cv", "max_epochs", "random_state"), self.count),
            **dict.fromkeys(("isotropic", "coupled", "offsets", "nonnegative", "fit_intercept", "standardize"), lambda: True),
            "penalty": self.penalty_text,
            "low_rank": self.penalty_text,
            "sparse": self.penalty_text,
            "groups": self.groups,
            "shape": lambda: self.pick(4, (3, 4), (2, 3, 2), {"x": (2, 2)}, (10**10, 10**10), (0,), -2),
            "blocks": lambda: self.pick("x", ["x"], "W", ["W", "H"]),
            "on": lambda: self.pick(*[row["name"] for row in melmo.catalogue()["lifts"]]),
            "oracle": lambda: self.pick(*[row["name"] for row in melmo.catalogue()["oracles"]]),
            "boundary": lambda: self.pick("zero", "periodic", "reflect"),
            "loss": lambda: self.pick("squares", "huber", "huber:delta=1.5", "logistic", "hubert"),
            "select": lambda: self.pick("min", "1se"),
            "method": lambda: self.pick(*[row["name"] for row in melmo.catalogue()["methods"]]),
            "geometry": self.geometry,
            "channel_axis": lambda: self.pick(None, 0, -1, 2),
            "lambdas": lambda: self.pick([1.0, 0.1], [0.5], [], [0.0], [-1.0], np.array([2.0, 1.0])),
            "n_jobs": lambda: self.pick(None, 1, 2, -1),
            "x0": self.start,
            "options": lambda: self.pick({}, {"gamma": 0.5}, {"beta": 0.1}, {"kappa": 0.01}, {"rescale": 3}),
            **dict.fromkeys(("epsilon", "relative_epsilon"), lambda: self.pick(1e-3, 0.5)),
            "time_limit": lambda: 1.0,
            "exact_dual_norms": lambda: True,
            "callback": lambda: self.pick(lambda info: info.k > 3, lambda info: None),
            "progress": lambda: self.pick(False, lambda k, fun: None),
        }
        return makers.get(name, self.array)()

    def geometry(self) -> Any:
        name = self.pick(*[row["name"] for row in melmo.catalogue()["geometries"]])
        return self.pick(name, name, {"x": name}, {"W": name, "H": "l2"}, melmo.geometry.Spectral("svd"), melmo.geometry.L2())

    def start(self) -> Any:
        return self.pick(
            lambda: None,
            lambda: self.array((4,)),
            lambda: self.array((3, 4)),
            lambda: {"W": self.array((3, 2)), "H": self.array((2, 4))},
            lambda: {"L": self.array((3, 4)), "S": self.array((3, 4))},
            lambda: [np.zeros(4), np.ones(4)],
        )()

    def arguments(self, target: Any, bad: float, skip: tuple[str, ...] = ()) -> tuple[list[Any], dict[str, Any]]:
        positional, named = [], {}
        for parameter in inspect.signature(target).parameters.values():
            if parameter.name in ("self", *skip):
                continue
            value = self.bad() if self.random.random() < bad else self.by_name(parameter.name)
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                positional += [value] * self.random.randrange(3)
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                continue
            elif parameter.default is inspect.Parameter.empty and parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
                if self.random.random() < 0.98:
                    positional.append(value)
            elif self.random.random() < 0.4:
                named[parameter.name] = value
        return positional, named

    def badness(self) -> float:
        return self.pick(0.0, 0.1, 0.4) if self.wild else self.pick(0.0, 0.0, 0.1)

    def described(self, target: Any, skip: tuple[str, ...] = ()) -> tuple[str, Any]:
        positional, named = self.arguments(target, self.badness(), skip)
        shown = ", ".join([*map(brief, positional), *(f"{name}={brief(value)}" for name, value in named.items())])
        return f"{getattr(target, '__qualname__', target)}({shown})", lambda: target(*positional, **named)

    # Kinds of calls.

    def then(self, made: tuple[str, Any], methods: list[str], like: Any = None) -> tuple[str, Any]:
        """A term, and what is asked of it."""
        text, make = made
        method, bad = self.pick(*methods), 0.2 if self.wild else 0.0
        values = [self.bad() if self.random.random() < bad else self.array(like), self.number()]
        keep = self.random.randrange(3) if self.wild else 1

        def work() -> Any:
            term = make()
            pickle.loads(pickle.dumps(term)) if "damaged" not in text and self.pick(True, False, False, False) else None
            repr(term)
            found = getattr(term, method)
            return found(*values[:keep]) if callable(found) else found

        return f"{text}.{method}({', '.join(map(brief, values[:keep]))})", work

    def penalty_call(self) -> tuple[str, Any]:
        made = self.described(self.pick(*self.terms["penalty"]))
        return self.then(made, ["value", "prox", "envelope", "envelope_gradient", "subgradient", "weak_convexity", "__call__"])

    def loss_call(self) -> tuple[str, Any]:
        made = self.described(self.pick(*self.terms["loss"]))
        return self.then(made, ["__call__", "lipschitz", "value_and_gradient", "packing"], self.pick(None, (4,), (3, 4)))

    def operator_call(self) -> tuple[str, Any]:
        made = self.described(self.pick(*self.terms["operator"]))
        return self.then(made, ["matvec", "rmatvec", "adjoint", "__call__", "norm_bound", "sigma_min", "shape", "dtype"])

    def geometry_call(self) -> tuple[str, Any]:
        return self.then(self.described(self.pick(*self.terms["geometry"])), ["lmo", "dual_norm", "norm", "oracle_answer"])

    def function_call(self) -> tuple[str, Any]:
        function = self.pick(melmo.prox, melmo.envelope, melmo.lmo, melmo.dual_norm, melmo.polar, melmo.catalogue)
        positional, named = self.arguments(function, self.badness())
        if function in (melmo.prox, melmo.envelope) and positional and self.random.random() < 0.8:
            positional[0] = self.penalty()
        if function in (melmo.lmo, melmo.dual_norm) and positional and self.random.random() < 0.8:
            positional[0] = self.geometry()
        shown = ", ".join([*map(brief, positional), *(f"{name}={brief(value)}" for name, value in named.items())])
        return f"{function.__name__}({shown})", lambda: function(*positional, **named)

    def problem(self) -> tuple[str, list[Any]]:
        if self.wild:
            makers = (self.loss, self.penalty, self.operator, self.start)
            terms = [self.bad() if self.random.random() < 0.05 else make() for make in makers]
        else:
            terms = self.fitting()
        return ", ".join(map(brief, terms)), terms

    def fitting(self) -> list[Any]:
        """Terms that fit together."""
        g = self.pick(melmo.penalty.L1(0.3), melmo.penalty.MCP(0.3, 3.0), melmo.penalty.LogSum(), Own())
        rows = self.pick(g, melmo.penalty.SCAD(0.2, on="rows"), melmo.penalty.L1(0.2, on="singular-values"))
        A, Y = self.matrix(), self.array((3, 4))
        single, matrix = self.pick(None, self.array((4,))), self.pick(None, self.array((3, 4)))
        return self.pick(
            lambda: [melmo.loss.Masked(Y), rows, None, matrix],
            lambda: [melmo.loss.Masked(Y), g, melmo.operator.Difference2D(), matrix],
            lambda: [melmo.loss.LeastSquares(A, self.array((5,))), g, self.pick(None, np.eye(4)), single],
            lambda: [melmo.loss.LeastSquares(A, self.array((5,))), rows, None, self.array((2, 2))],
            lambda: [melmo.loss.Logistic(A, [0, 1, 0, 1, 1]), g, None, single],
            lambda: [melmo.loss.Huber(A, self.array((5,))), g, None, single],
            lambda: [melmo.loss.Factorization(Y, rank=2), g, melmo.operator.Select("W"), self.factors()],
            lambda: [melmo.loss.RobustPCA(Y), {"L": melmo.penalty.MCP(on="singular-values"), "S": g}, None, None],
            lambda: [own_loss, g, None, self.array((4,))],
            lambda: [own_loss, g, melmo.operator.Select("W"), self.factors()],
        )()

    def factors(self) -> Any:
        return {"W": self.array((3, 2)), "H": self.array((2, 4))}

    def settings(self, function: Any) -> dict[str, Any]:
        bad = self.badness()
        named = self.arguments(function, bad, ("f", "g", "T", "x0", "time_limit", "max_iter"))[1]
        if "max_iter" in inspect.signature(function).parameters:
            named["max_iter"] = self.bad() if self.random.random() < bad else self.pick(0, 1, 3, 20)
        return named

    def solve_call(self) -> tuple[str, Any]:
        text, (f, g, T, x0) = self.problem()
        named = self.settings(melmo.minimize)
        named.setdefault("time_limit", 2.0)

        def work() -> Any:
            result = melmo.minimize(f, g, T, x0, **named)
            repr(result), dir(result), pickle.loads(pickle.dumps(dict(result)))
            if result.success:
                parts = result.x.values() if isinstance(result.x, dict) else [result.x]
                assert all(np.isfinite(part).all() for part in parts), "a success with numbers that are none"
            if result.certificate is not None and self.random.random() < 0.3:
                repr(result.certificate.verify()), melmo.Certificate.from_json(result.certificate.to_json())
            return result

        return f"minimize({text}, {', '.join(f'{name}={brief(value)}' for name, value in named.items())})", work

    def problem_call(self) -> tuple[str, Any]:
        text, terms = self.problem()
        method = self.pick("objective", "smoothed", "prox_point", "choose", "iterate", "weak_convexity")
        values = [self.bad() if self.random.random() < 0.2 else self.start(), self.pick(0.1, 1e-9, 0.0, -1, 1e9, None, "x")]
        named = self.settings(melmo.iterate)

        def work() -> Any:
            problem = melmo.Problem(*terms)
            if method == "iterate":
                run = problem.iterate(values[0], **named)
                for _ in range(4):
                    next(run, None)
                return run.x, run.method
            found = getattr(problem, method)
            return found(*values[: len(inspect.signature(found).parameters)]) if callable(found) else found

        return f"Problem({text}).{method}({', '.join(map(brief, values))}, {named})", work

    def task_call(self) -> tuple[str, Any]:
        return self.described(self.pick(melmo.denoise, melmo.denoise_tv))

    def data_call(self) -> tuple[str, Any]:
        function = self.pick(melmo.data.bundled, melmo.data.load, melmo.data.psnr, melmo.data.ssim, melmo.data.read)
        if function in (melmo.data.load, melmo.data.read):
            name = self.pick("camera", "miserables", "lena", "", "nowhere.npy", "x.xyz", "a\x00b.npy", 3, None, b"x.npy", -1)
            return f"{function.__name__}({name!r})", lambda: function(name)
        return self.described(function)

    def estimator_call(self) -> tuple[str, Any]:
        name = self.pick(*ESTIMATOR_NAMES)
        kind = getattr(melmo, name)
        bad = self.badness()
        named = self.arguments(kind.__init__, bad)[1]
        X = self.matrix() if self.random.random() < 0.3 else self.array((12, 4))
        rows = X.shape[0] if hasattr(X, "shape") and len(np.shape(X)) == 2 else 12
        y = self.pick(self.array((rows,)), self.numpy.integers(0, 2, rows), self.numpy.integers(0, 3, rows))
        X, y = (self.bad() if self.random.random() < bad / 3 else value for value in (X, y))
        if not self.wild:
            X = self.pick(self.array((12, 4)), sparse.random(12, 4, 0.5).tocsr() if "Sparse" in name else self.array((12, 4)))
            y = self.numpy.permutation(np.arange(12) % 2) if "Logistic" in name else self.array((12,))
        if "Logistic" in name:  # classes that can be told apart make long paths
            named.setdefault("max_iter", 3)
        methods = [m for m in ("predict", "transform", "path", "predict_proba", "inverse_transform", "score") if hasattr(kind, m)]
        method, new = self.pick(*methods), self.pick(X, X, X, self.bad() if self.wild else X, self.array((3, 4)))
        more = [y] if method in ("path", "score") else []

        def work() -> Any:
            model = kind(**named).fit(X, y)
            return getattr(model, method)(new, *more)

        shown = ", ".join(f"{key}={brief(value)}" for key, value in named.items())
        return f"{name}({shown}).fit({brief(X)}, {brief(y)}).{method}({brief(new)})", work


class Own:
    """A penalty of one's own."""

    def value(self, u: Any) -> float:
        return float(np.abs(u).sum())

    def prox(self, u: Any, beta: float) -> Any:
        return np.sign(u) * np.maximum(np.abs(u) - beta, 0)


def own_loss(x: Any) -> Any:
    """A loss of one's own."""
    if isinstance(x, dict):
        return sum(float((part**2).sum()) / 2 for part in x.values()), x
    return float((x.astype(float) ** 2).sum()) / 2, x


def brief(value: Any) -> str:
    """A value that can be typed again where it is short."""
    if isinstance(value, np.ndarray):
        text = np.array_repr(value, precision=17).replace("\n", "") if value.size <= 12 else ""
        return f"np.{text}" if text else f"<{value.shape} {value.dtype}>"
    try:
        return " ".join(repr(value).split())[:200]
    except Exception as error:
        return f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"


def documented(text: str, error: BaseException) -> bool:
    """Errors that are neither of the two, and said to come out."""
    if text.startswith(("read(", "load(")):
        return isinstance(error, OSError)
    return isinstance(error, RuntimeError) and "no point has been evaluated" in str(error)


def attack(calls: int, seed: int, seconds: float, log: Any) -> int:
    """Makes the calls; how many found something."""
    caller, end, found = Caller(seed), time.monotonic() + seconds, 0
    made: collections.Counter[str] = collections.Counter()
    for at in range(calls):
        if time.monotonic() > end:
            break
        text, work = caller.call()
        log.write(f"{at}: {text}\n")
        log.flush()
        faulthandler.dump_traceback_later(DEADLINE, exit=True)
        outcome = "answered"
        try:
            work()
        except ALLOWED as error:
            outcome = "refused"
            if not str(error):
                found += 1
                print(f"FOUND a {type(error).__name__} without a word\n  {at}: {text}", flush=True)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            outcome = "documented" if documented(text, error) else "found"
            if outcome == "found":
                found += 1
                print(f"FOUND {type(error).__name__}: {str(error)[:300]}\n  {at}: {text}", flush=True)
        made[outcome] += 1
    faulthandler.cancel_dump_traceback_later()
    print(f"{sum(made.values())} calls with seed {seed}: " + ", ".join(f"{count} {what}" for what, count in made.items()))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", nargs="?", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--log", default=os.devnull)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with open(given.log, "w", encoding="utf-8") as log:
        return int(attack(given.calls, given.seed, given.seconds, log) > 0)


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())
