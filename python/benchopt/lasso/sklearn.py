"""scikit-learn's Lasso, so many rounds."""

import warnings

import numpy as np
from benchopt import BaseSolver
from sklearn.linear_model import Lasso


class Solver(BaseSolver):
    name = "scikit-learn"
    requirements = ["scikit-learn"]

    def set_objective(self, X, y, lmbd, fit_intercept):
        self.X, self.y, self.intercept = X, y, fit_intercept
        self.model = Lasso(alpha=lmbd / len(y), fit_intercept=fit_intercept, tol=0)
        warnings.simplefilter("ignore")

    def run(self, n_iter):
        self.beta = np.zeros(self.X.shape[1] + bool(self.intercept))
        if n_iter > 0:
            self.model.set_params(max_iter=n_iter).fit(self.X, self.y)
            self.beta = np.append(self.model.coef_, self.model.intercept_) if self.intercept else self.model.coef_

    def get_result(self):
        return {"beta": self.beta}
