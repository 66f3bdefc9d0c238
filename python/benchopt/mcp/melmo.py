"""melmo's coordinate descent for benchopt's benchmark of regression with MCP."""

from benchopt import BaseSolver, safe_import_context
from benchopt.stopping_criterion import SufficientProgressCriterion

with safe_import_context() as import_ctx:
    import numpy as np

    from melmo import SparseRegression


class Solver(BaseSolver):
    """‖y − Xw‖²/(2n) + Σ MCP(wⱼ; λ, γ), to a tolerance that falls with every step of the benchmark."""

    name = "melmo"
    install_cmd = "conda"
    requirements = ["pip::melmo[sklearn]"]
    sampling_strategy = "tolerance"
    # The first tolerances already come within 1e-5 of the end: without patience that would be taken for it.
    stopping_criterion = SufficientProgressCriterion(patience=7, strategy="tolerance")

    def set_objective(self, X, y, lmbd, gamma):
        self.X, self.y = X, np.ascontiguousarray(y, dtype=float)
        self.model = SparseRegression(f"mcp:mu={float(gamma)!r}", lam=float(lmbd), fit_intercept=False)
        self.w = np.zeros(X.shape[1])

    def run(self, tolerance):
        # benchopt halves its tolerance, and takes what no longer changes for the end: the model's, of its slopes relative to λ, falls faster.
        self.model.set_params(tol=max(1e-12, 0.1 * min(1.0, float(tolerance)) ** 3))
        self.w = self.model.fit(self.X, self.y).coef_

    def get_result(self):
        return {"beta": self.w}
