"""Arguments for whatever is called, by their names."""

from __future__ import annotations

import inspect
from typing import Any

import melmo
import numpy as np
from terms import Terms
from values import brief


class Arguments(Terms):
    """Draws arguments."""

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
