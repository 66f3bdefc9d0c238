"""Estimators need scikit-learn, which is an extra: they are imported when they are asked for."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

#: Where each one is documented.
ESTIMATORS = {
    "MatrixCompletion": "completion",
    "RegressionPath": "regression",
    "RobustPCA": "robust_pca",
    "SparseFactorization": "factorization",
    "SparseLogistic": "logistic",
    "SparseLogisticCV": "logistic",
    "SparseRegression": "regression",
    "SparseRegressionCV": "regression",
}


#: Modules that need an extra, and are imported when they are asked for.
EXTRAS = {"optax": "optax", "torch": "torch"}


def extras() -> list[str]:
    """The names of those whose extra is there."""
    return [name for name, needs in EXTRAS.items() if importlib.util.find_spec(needs)]


def estimators() -> list[str]:
    """Their names, where scikit-learn is there."""
    return list(ESTIMATORS) if importlib.util.find_spec("sklearn") else []


def estimator(name: str) -> Any:
    """The estimator or module of that name; without scikit-learn, an error that says how to get it."""
    if name in EXTRAS:
        return importlib.import_module(f"melmo.{name}")
    if name not in ESTIMATORS:
        raise AttributeError(f"module 'melmo' has no attribute {name!r}", name=name, obj=sys.modules["melmo"])
    try:
        module = importlib.import_module(f"melmo.{ESTIMATORS[name]}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("sklearn", "scipy"):
            raise
        raise ImportError(f"melmo.{name} needs scikit-learn: pip install 'melmo[sklearn]'") from error
    return getattr(module, name)
