"""Σ log(1 + exp(−yᵢxᵢᵀβ)) + λ‖β‖₁, λ a part of the least at which β = 0: the objective of benchopt's benchmark logreg_l1."""

import numpy as np
from benchopt import BaseObjective


class Objective(BaseObjective):
    name = "Sparse logistic regression"
    min_benchopt_version = "1.7"
    parameters = {"reg": [0.1, 0.05]}

    def set_data(self, X, y):
        self.X, self.y = X, y
        self.lmbd = self.reg * np.abs(X.T @ y).max() / 2

    def get_objective(self):
        return {"X": self.X, "y": self.y, "lmbd": self.lmbd}

    def evaluate_result(self, beta):
        return {"value": np.logaddexp(0, -self.y * (self.X @ beta)).sum() + self.lmbd * np.abs(beta).sum()}

    def get_one_result(self):
        return {"beta": np.zeros(self.X.shape[1])}
