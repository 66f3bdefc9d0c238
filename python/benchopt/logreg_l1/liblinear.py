"""liblinear, as scikit-learn has it, to a tolerance that falls."""

import warnings

import numpy as np
from benchopt import BaseSolver
from sklearn.linear_model import LogisticRegression


class Solver(BaseSolver):
    name = "liblinear"
    requirements = ["scikit-learn"]
    sampling_strategy = "tolerance"

    def set_objective(self, X, y, lmbd):
        self.X, self.y = X, y
        self.model = LogisticRegression(C=1 / lmbd, penalty="l1", solver="liblinear", fit_intercept=False, max_iter=10_000)
        self.beta = np.zeros(X.shape[1])
        warnings.simplefilter("ignore")

    def run(self, tolerance):
        self.beta = self.model.set_params(tol=min(1.0, float(tolerance)) ** 2).fit(self.X, self.y).coef_.ravel()

    def get_result(self):
        return {"beta": self.beta}
