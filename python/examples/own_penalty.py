# %% [markdown]
# # A penalty of your own
#
# Anything with `value` and `prox` is a penalty. This one is √-shaped: λ·√(|x| + ε), stronger than ℓ1 near 0 and nearly flat far from
# it. It is ρ-weakly convex with ρ = λ/(4ε√ε), and its prox is found by Newton's method.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import melmo


class Root:
    """λ(√(|x| + ε) − √ε)."""

    def __init__(self, lam, eps):
        self.lam, self.eps = lam, eps
        self.weak_convexity = lam / (4 * eps**1.5)

    def value(self, u):
        return float(self.lam * (np.sqrt(np.abs(u) + self.eps) - np.sqrt(self.eps)).sum())

    def prox(self, u, beta):
        size = np.abs(u)
        z = size.copy()  # the minimiser of ψ(z) + (z − |u|)²/(2β) over z ≥ 0, which is convex for βρ < 1
        for _ in range(30):
            slope = z - size + beta * self.lam / (2 * np.sqrt(z + self.eps))
            bend = 1 - beta * self.lam / (4 * (z + self.eps) ** 1.5)
            z = np.maximum(z - slope / bend, 0)
        return np.sign(u) * z


# %%
rng = np.random.default_rng(0)
A = rng.normal(size=(60, 120)) / np.sqrt(60)
truth = np.zeros(120)
truth[rng.choice(120, 10, replace=False)] = 2 * rng.normal(size=10)
b = A @ truth + 0.02 * rng.normal(size=60)

own = melmo.minimize(melmo.loss.LeastSquares(A, b), Root(0.05, 0.1), x0=np.zeros(120), max_iter=3000)
lasso = melmo.minimize(melmo.loss.LeastSquares(A, b), melmo.penalty.L1(0.05), x0=np.zeros(120))
print("own penalty:", own.status, f"F = {own.fun:.4f},", f"distance to the truth {np.linalg.norm(own.z - truth):.3f}")
print("lasso:      ", lasso.status, f"F = {lasso.fun:.4f},", f"distance to the truth {np.linalg.norm(lasso.z - truth):.3f}")
print("the certificate holds when recomputed:", own.certificate.verify().passed)

# %%
figure, axis = plt.subplots(figsize=(9, 3.5))
axis.stem(truth, linefmt="lightgray", markerfmt="o", basefmt=" ", label="truth")
axis.plot(lasso.z, "x", label="lasso")
axis.plot(own.z, ".", label="own penalty")
axis.legend()
figure.tight_layout()
Path("pictures").mkdir(exist_ok=True)
figure.savefig("pictures/own_penalty.png", dpi=80)
