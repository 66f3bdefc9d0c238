"""½‖y − Xβ − c‖² + λ‖β‖₁, λ a part of the least at which β = 0: the objective of benchopt's benchmark of the Lasso."""

import numpy as np
from benchopt import BaseObjective


class Objective(BaseObjective):
    name = "Lasso"
    min_benchopt_version = "1.7"
    parameters = {"reg": [0.1, 0.05], "fit_intercept": [False]}

    def set_data(self, X, y):
        self.X, self.y = X, y
        centred = y - y.mean() if self.fit_intercept else y
        self.lmbd = self.reg * np.abs(X.T @ centred).max()

    def get_objective(self):
        return {"X": self.X, "y": self.y, "lmbd": self.lmbd, "fit_intercept": self.fit_intercept}

    def evaluate_result(self, beta):
        columns = self.X.shape[1]
        residual = self.y - self.X @ beta[:columns] - (beta[columns] if self.fit_intercept else 0)
        return {"value": 0.5 * residual @ residual + self.lmbd * np.abs(beta[:columns]).sum()}

    def get_one_result(self):
        return {"beta": np.zeros(self.X.shape[1] + bool(self.fit_intercept))}
