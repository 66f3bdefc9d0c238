"""Minimise f(x) + g(Tx): f smooth, g weakly convex with a proximal operator, T linear.

It smooths g with its Moreau envelope and moves along directions of a linear minimisation oracle in a norm of your choice. A
run ends with a certificate that can be checked again from the point and the problem alone.

>>> import melmo
>>> result = melmo.minimize(melmo.loss.Masked([3.0, 0.1, -0.2, -4.0]), melmo.penalty.MCP(0.5, 2.0))
>>> result.success and bool(result.certificate.verify())
True
"""

from typing import TYPE_CHECKING, Any

from melmo import data as data
from melmo import geometry as geometry
from melmo import loss as loss
from melmo import operator as operator
from melmo import penalty as penalty
from melmo import prior as prior
from melmo._catalogue import catalogue as catalogue
from melmo._certificate import BlockNorm as BlockNorm
from melmo._certificate import Certificate as Certificate
from melmo._certificate import Check as Check
from melmo._certificate import Claim as Claim
from melmo._certificate import Optimality as Optimality
from melmo._certificate import Stationarity as Stationarity
from melmo._certificate import Verification as Verification
from melmo._check import Checked as Checked
from melmo._check import Finding as Finding
from melmo._check import check as check
from melmo._functions import dual_norm as dual_norm
from melmo._functions import envelope as envelope
from melmo._functions import lmo as lmo
from melmo._functions import prox as prox
from melmo._geometry import Answer as Answer
from melmo._geometry import polar as polar
from melmo._melmo import __version__ as __version__
from melmo._problem import Iteration as Iteration
from melmo._problem import Problem as Problem
from melmo._ranks import Share as Share
from melmo._ranks import share as share
from melmo._result import Result as Result
from melmo._result import Trace as Trace
from melmo._solve import iterate as iterate
from melmo._solve import minimize as minimize
from melmo._threads import get_threads as get_threads
from melmo._threads import set_threads as set_threads
from melmo._watch import Info as Info

# Tasks and estimators: their names follow. Estimators need scikit-learn and are imported when they are asked for.
from melmo.denoising import denoise as denoise
from melmo.denoising import denoise_film as denoise_film
from melmo.denoising import denoise_tv as denoise_tv
from melmo.restoration import Restored as Restored
from melmo.restoration import deblur as deblur
from melmo.restoration import inpaint as inpaint
from melmo.restoration import upscale as upscale
from melmo._lazy import estimator as _estimator
from melmo._lazy import estimators as _estimators
from melmo._lazy import extras as _extras

if TYPE_CHECKING:
    from melmo._linear import RegressionPath as RegressionPath
    from melmo.completion import MatrixCompletion as MatrixCompletion
    from melmo.factorization import SparseFactorization as SparseFactorization
    from melmo.logistic import SparseLogistic as SparseLogistic
    from melmo.logistic import SparseLogisticCV as SparseLogisticCV
    from melmo.regression import SparseRegression as SparseRegression
    from melmo.regression import SparseRegressionCV as SparseRegressionCV
    from melmo.robust_pca import RobustPCA as RobustPCA


if not TYPE_CHECKING:  # so that a name that is not there is an error there too

    def __getattr__(name: str) -> Any:
        return _estimator(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


__all__ = [
    *_estimators(),
    *_extras(),
    "Answer",
    "BlockNorm",
    "Certificate",
    "Check",
    "Checked",
    "Claim",
    "Finding",
    "Info",
    "Iteration",
    "Optimality",
    "Problem",
    "Restored",
    "Result",
    "Share",
    "Stationarity",
    "Trace",
    "Verification",
    "catalogue",
    "check",
    "data",
    "deblur",
    "denoise",
    "denoise_film",
    "denoise_tv",
    "dual_norm",
    "envelope",
    "geometry",
    "get_threads",
    "inpaint",
    "iterate",
    "lmo",
    "loss",
    "minimize",
    "operator",
    "penalty",
    "polar",
    "prior",
    "prox",
    "set_threads",
    "share",
    "upscale",
    "__version__",
]
