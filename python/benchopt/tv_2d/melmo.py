"""melmo's denoising for benchopt's benchmark of total variation in two dimensions."""

from benchopt import BaseSolver, safe_import_context

with safe_import_context() as import_ctx:
    import melmo
    import numpy as np


class Solver(BaseSolver):
    """½‖x − y‖² + reg·TV(x), with the least number of steps that reaches what is asked for."""

    name = "melmo"
    install_cmd = "conda"
    requirements = ["pip::melmo"]
    parameters = {"method": ["admm", "tilted"]}

    def skip(self, A=None, reg=0.0, delta=0.0, data_fit="quad", y=None, isotropy="anisotropic"):
        if data_fit != "quad":
            return True, "only squares"
        if A is not None and not _is_identity(A, y):
            return True, "denoising only: A is not the identity"
        return False, None

    def set_objective(self, A=None, reg=0.0, delta=0.0, data_fit="quad", y=None, isotropy="anisotropic"):
        self.y, self.reg = np.ascontiguousarray(y, dtype=float), float(reg)
        self.isotropic = isotropy == "isotropic"

    def run(self, n_iter):
        if n_iter == 0:
            self.x = self.y.copy()
            return
        self.x = melmo.denoise_tv(
            self.y, self.reg, isotropic=self.isotropic, method=self.method, max_iter=int(n_iter)
        )

    def get_result(self):
        return {"u": self.x}


def _is_identity(A, y):
    """Whether A leaves the image as it is, by one random vector."""
    try:
        probe = np.random.default_rng(0).normal(size=np.size(y))
        return np.allclose(A @ probe, probe)
    except (TypeError, ValueError):
        return False
