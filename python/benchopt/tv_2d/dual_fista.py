"""FISTA on the dual problem in NumPy (Beck & Teboulle 2009)."""

import numpy as np
from benchopt import BaseSolver


class Solver(BaseSolver):
    name = "dual FISTA"
    sampling_strategy = "callback"

    def set_objective(self, y, reg, isotropy):
        self.y, self.reg, self.isotropic = y, reg, isotropy == "isotropic"

    def primal(self, p):
        u = self.y + p[0] + p[1]
        u[1:] -= p[0][:-1]
        u[:, 1:] -= p[1][:, :-1]
        return u

    def run(self, callback):
        p = q = np.zeros((2, *self.y.shape))
        t, self.u = 1.0, self.y.copy()
        while callback():
            u, step = self.primal(q), q.copy()
            step[0, :-1] += np.diff(u, axis=0) / 8
            step[1, :, :-1] += np.diff(u, axis=1) / 8
            before = p
            p = step / np.maximum(1, np.hypot(*step) / self.reg) if self.isotropic else step.clip(-self.reg, self.reg)
            t, last = (1 + np.sqrt(1 + 4 * t * t)) / 2, t
            q = p + (last - 1) / t * (p - before)
            self.u = self.primal(p)

    def get_result(self):
        return {"u": self.u}
