"""Chambolle and Pock's method in NumPy, with the larger and larger dual steps that a strongly convex loss allows (2011, algorithm 2)."""

import numpy as np
from benchopt import BaseSolver


class Solver(BaseSolver):
    name = "Chambolle-Pock"
    sampling_strategy = "callback"

    def set_objective(self, y, reg, isotropy):
        self.y, self.reg, self.isotropic = y, reg, isotropy == "isotropic"

    def run(self, callback):
        y, (tau, sigma) = self.y, (0.35, 0.35)
        self.u = bar = y.copy()
        down, right = np.zeros_like(y), np.zeros_like(y)
        while callback():
            down[:-1] += sigma * np.diff(bar, axis=0)
            right[:, :-1] += sigma * np.diff(bar, axis=1)
            if self.isotropic:
                over = np.maximum(1, np.hypot(down, right) / self.reg)
                down, right = down / over, right / over
            else:
                down, right = down.clip(-self.reg, self.reg), right.clip(-self.reg, self.reg)
            adjoint = -down - right
            adjoint[1:] += down[:-1]
            adjoint[:, 1:] += right[:, :-1]
            before, self.u = self.u, (self.u + tau * (y - adjoint)) / (1 + tau)
            theta = 1 / np.sqrt(1 + 2 * tau)
            tau, sigma = tau * theta, sigma / theta
            bar = self.u + theta * (self.u - before)

    def get_result(self):
        return {"u": self.u}
