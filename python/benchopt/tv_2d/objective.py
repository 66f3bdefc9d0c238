"""½‖Au − y‖² + reg·TV(u): the objective of benchopt's benchmark tv_2d, of which A = I is asked for here."""

import numpy as np
from benchopt import BaseObjective


class Objective(BaseObjective):
    name = "Total variation"
    min_benchopt_version = "1.7"
    parameters = {"reg": [0.5], "isotropy": ["anisotropic", "isotropic"]}

    def set_data(self, y):
        self.y = y

    def get_objective(self):
        return {"y": self.y, "reg": self.reg, "isotropy": self.isotropy}

    def evaluate_result(self, u):
        down = np.diff(u, axis=0, append=u[-1:])
        right = np.diff(u, axis=1, append=u[:, -1:])
        variation = np.hypot(down, right) if self.isotropy == "isotropic" else np.abs(down) + np.abs(right)
        return {"value": 0.5 * ((u - self.y) ** 2).sum() + self.reg * variation.sum()}

    def get_one_result(self):
        return {"u": self.y}
