"""Calls of everything public, one kind after another."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import melmo
import numpy as np
from arguments import Arguments
from values import brief, sparse

try:
    from melmo._lazy import ESTIMATORS

    ESTIMATOR_NAMES = [name for name in ESTIMATORS if name != "RegressionPath"]
    for estimator in ESTIMATOR_NAMES:
        getattr(melmo, estimator)
except ImportError:  # without scikit-learn everything else is called
    ESTIMATOR_NAMES = []

#: What a call may answer with, beside a value.
ALLOWED = (TypeError, ValueError)


def pickled(term: Any) -> None:
    """There and back. A function without a name cannot be pickled, and pickle itself says so."""
    try:
        pickle.loads(pickle.dumps(term))
    except (pickle.PicklingError, AttributeError) as error:
        if "lambda" not in str(error):
            raise


class Caller(Arguments):
    """Makes random calls."""

    def __init__(self, seed: int):
        super().__init__(seed)
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

    def then(self, made: tuple[str, Any], methods: list[str], like: Any = None) -> tuple[str, Any]:
        """A term, and what is asked of it."""
        text, make = made
        method, bad = self.pick(*methods), 0.2 if self.wild else 0.0
        values = [self.bad() if self.random.random() < bad else self.array(like), self.number()]
        keep = self.random.randrange(3) if self.wild else 1

        def work() -> Any:
            term = make()
            if "damaged" not in text and self.pick(True, False, False, False):
                pickled(term)
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
