"""melmo's coordinate descent for benchopt's benchmark of the Lasso."""

from benchopt import BaseSolver, safe_import_context
from benchopt.stopping_criterion import SufficientProgressCriterion

with safe_import_context() as import_ctx:
    import numpy as np

    from melmo import SparseRegression


class Solver(BaseSolver):
    """½‖y − Xβ − c‖² + λ‖β‖₁, to a tolerance that falls with every step of the benchmark."""

    name = "melmo"
    install_cmd = "conda"
    requirements = ["pip::melmo[sklearn]"]
    sampling_strategy = "tolerance"
    # The first tolerances already come within 1e-5 of the end: without patience that would be taken for it.
    stopping_criterion = SufficientProgressCriterion(patience=7, strategy="tolerance")

    def set_objective(self, X, y, lmbd, fit_intercept):
        self.X, self.y = X, np.ascontiguousarray(y, dtype=float)
        # The model's loss is a mean.
        self.model = SparseRegression("l1", lam=float(lmbd) / X.shape[0], fit_intercept=bool(fit_intercept))
        self.beta = np.zeros(X.shape[1] + bool(fit_intercept))

    def run(self, tolerance):
        # benchopt halves its tolerance, and takes what no longer changes for the end: the model's, of its slopes relative to λ, falls faster.
        self.model.set_params(tol=max(1e-12, 0.1 * min(1.0, float(tolerance)) ** 3))
        self.model.fit(self.X, self.y)
        self.beta = self.model.coef_
        if self.model.fit_intercept:
            self.beta = np.append(self.beta, self.model.intercept_)

    def get_result(self):
        return {"beta": self.beta}
