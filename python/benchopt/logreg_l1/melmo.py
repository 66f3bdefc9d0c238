"""melmo's coordinate descent for benchopt's benchmark of sparse logistic regression."""

from benchopt import BaseSolver, safe_import_context
from benchopt.stopping_criterion import SufficientProgressCriterion

with safe_import_context() as import_ctx:
    import numpy as np

    from melmo import SparseLogistic


class Solver(BaseSolver):
    """Σ log(1 + exp(−yᵢxᵢᵀβ)) + λ‖β‖₁, to a tolerance that falls with every step of the benchmark."""

    name = "melmo"
    install_cmd = "conda"
    requirements = ["pip::melmo[sklearn]"]
    sampling_strategy = "tolerance"
    # The first tolerances already come within 1e-5 of the end: without patience that would be taken for it.
    stopping_criterion = SufficientProgressCriterion(patience=7, strategy="tolerance")

    def set_objective(self, X, y, lmbd, fit_intercept=False):
        self.X, self.y = X, np.asarray(y)
        # The model's loss is a mean.
        self.model = SparseLogistic("l1", lam=float(lmbd) / X.shape[0], fit_intercept=bool(fit_intercept))
        self.beta = np.zeros(X.shape[1])

    def run(self, tolerance):
        # benchopt halves its tolerance, and takes what no longer changes for the end: the model's, of its slopes relative to λ, falls faster.
        self.model.set_params(tol=max(1e-12, 0.1 * min(1.0, float(tolerance)) ** 3))
        self.beta = self.model.fit(self.X, self.y).coef_.ravel()

    def get_result(self):
        return {"beta": self.beta}
