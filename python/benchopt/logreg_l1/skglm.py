"""skglm's proximal Newton method, so many outer rounds."""

import warnings

import numpy as np
from benchopt import BaseSolver
from skglm import SparseLogisticRegression


class Solver(BaseSolver):
    name = "skglm"
    requirements = ["pip::skglm"]

    def set_objective(self, X, y, lmbd):
        self.X, self.y = X, y
        self.model = SparseLogisticRegression(alpha=lmbd / len(y), fit_intercept=False, tol=1e-12)
        warnings.simplefilter("ignore")
        self.run(1)  # what is compiled is compiled here

    def run(self, n_iter):
        self.beta = np.zeros(self.X.shape[1])
        if n_iter > 0:
            self.beta = self.model.set_params(max_iter=n_iter).fit(self.X, self.y).coef_.ravel()

    def get_next(self, n_iter):
        return n_iter + 1

    def get_result(self):
        return {"beta": self.beta}
