"""‖y − Xβ‖²/(2n) + Σ MCP(βⱼ; λ, γ), λ a part of the least at which β = 0 is stationary: the objective of benchopt's benchmark of MCP."""

import numpy as np
from benchopt import BaseObjective


class Objective(BaseObjective):
    name = "Regression with MCP"
    min_benchopt_version = "1.7"
    parameters = {"reg": [0.1, 0.05], "gamma": [3.0]}

    def set_data(self, X, y):
        self.X, self.y = X, y
        self.lmbd = self.reg * np.abs(X.T @ y).max() / len(y)

    def get_objective(self):
        return {"X": self.X, "y": self.y, "lmbd": self.lmbd, "gamma": self.gamma}

    def evaluate_result(self, beta):
        residual, size = self.y - self.X @ beta, np.abs(beta)
        small = np.minimum(size, self.gamma * self.lmbd)
        return {"value": residual @ residual / (2 * len(self.y)) + (self.lmbd * small - small**2 / (2 * self.gamma)).sum()}

    def get_one_result(self):
        return {"beta": np.zeros(self.X.shape[1])}
