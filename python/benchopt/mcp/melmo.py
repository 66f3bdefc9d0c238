"""melmo's coordinate descent for benchopt's benchmark of regression with MCP."""

from benchopt import BaseSolver, safe_import_context

with safe_import_context() as import_ctx:
    import numpy as np

    from melmo import SparseRegression


class Solver(BaseSolver):
    """‖y − Xw‖²/(2n) + Σ MCP(wⱼ; λ, γ), to a tolerance that falls tenfold with every step of the benchmark."""

    name = "melmo"
    install_cmd = "conda"
    requirements = ["pip::melmo[sklearn]"]
    sampling_strategy = "tolerance"

    def set_objective(self, X, y, lmbd, gamma):
        self.X, self.y = X, np.ascontiguousarray(y, dtype=float)
        self.model = SparseRegression(f"mcp:mu={float(gamma)!r}", lam=float(lmbd), fit_intercept=False)
        self.w = np.zeros(X.shape[1])

    def run(self, tolerance):
        # The benchmark's tolerances are of the objective; the model's is of its slopes, relative to λ.
        self.model.set_params(tol=min(1e-1, max(float(tolerance), 1e-12)))
        self.w = self.model.fit(self.X, self.y).coef_

    def get_result(self):
        return {"beta": self.w}
