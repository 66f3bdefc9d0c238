"""The numbers that full passes over the data give, whatever library made the passes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Certificate:
    """Numbers of (x, β), found by full passes; φ = ∇f(x) + ∇g_β(x), z = prox_{βg}(x)."""

    #: f(x): the mean loss.
    loss: float
    #: g(x).
    penalty: float
    #: f(x) + g_β(x).
    smoothed: float
    #: ‖φ‖_* = Σ r_b‖φ_b‖_* over the parameters, r_b the radius.
    dual_norm: float
    #: ‖x − z‖₂.
    prox_gap: float
    #: ‖∇f(z) + ∇g_β(x)‖₂ ≥ dist(−∇f(z), ∂g(z)): how far z, which has the exact zeros, is from stationary.
    stationarity: float
    #: max ⟨φ, x − v⟩ over the balls of the groups that have one; None where none has.
    frank_wolfe_gap: float | None
    #: How many samples the pass saw.
    samples: int

    @property
    def objective(self) -> float:
        """F(x) = f(x) + g(x)."""
        return self.loss + self.penalty

    def holds(self, epsilon: float) -> bool:
        """Whether ‖φ‖_* ≤ ε and ‖x − z‖₂ ≤ ε."""
        return self.dual_norm <= epsilon and self.prox_gap <= epsilon
