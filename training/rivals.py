"""What `networks.py` compares with: Muon, ProxAdamW and RAMDA, written here from their papers.

    python training/rivals.py        checks what was published about each on a small case

- Muon (Jordan and others 2024): Nesterov momentum 0.95, five quintic Newton–Schulz steps in bf16, a matrix at a time; AdamW for the rest.
- ProxAdamW: AdamW's step, then the proximal point of the group lasso in AdamW's own diagonal metric.
- RAMDA (Huang and Lee 2024): regularised dual averaging with the metric ∛(Σ s g²) and the average (1−c)x + cx̂.
"""

import torch

QUINTIC = (3.4445, -4.7750, 2.0315)


def quintic(g, steps=5):
    x = g.bfloat16() if g.is_cuda else g
    x = x / (x.norm() + 1e-7)
    wide = x.shape[0] < x.shape[1]
    x = x if wide else x.mT
    a, b, c = QUINTIC
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    return (x if wide else x.mT).to(g.dtype)


class Muon(torch.optim.Optimizer):
    """Groups with `adam=True` are AdamW's."""

    def __init__(self, groups, lr=0.02, momentum=0.95):
        super().__init__(groups, {"lr": lr, "momentum": momentum, "adam": False})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                adam(p, self.state[p], group["lr"]) if group["adam"] else self.spectral(p, group)

    def spectral(self, p, group):
        state = self.state[p]
        m = state.setdefault("m", torch.zeros_like(p))
        m.lerp_(p.grad, 1 - group["momentum"])
        seen = p.grad.lerp(m, group["momentum"]).reshape(len(p), -1)
        p.add_(quintic(seen).reshape(p.shape), alpha=-group["lr"] * max(1, seen.shape[0] / seen.shape[1]) ** 0.5)


def adam(p, state, lr, decay=0.0, betas=(0.9, 0.999), eps=1e-8):
    """AdamW's step; returns its metric √v̂ + ε."""
    if not state:
        state |= {"m": torch.zeros_like(p), "v": torch.zeros_like(p), "t": 0}
    state["t"] += 1
    state["m"].lerp_(p.grad, 1 - betas[0])
    state["v"].lerp_(p.grad.square(), 1 - betas[1])
    metric = (state["v"] / (1 - betas[1] ** state["t"])).sqrt_().add_(eps)
    p.mul_(1 - lr * decay).addcdiv_(state["m"], metric, value=-lr / (1 - betas[0] ** state["t"]))
    return metric


def proximal(parts, metrics, weight, rounds=4):
    """argmin weight·‖z_i‖ + ½Σ d(z − u)² for every unit i of the tied parameters u, along their first axis.

    z = d·u·n/(d·n + weight) with n = ‖z‖ the root of Σ (du)²/(dn + weight)² = 1: Newton's method on the root's reciprocal, which
    is nearly a straight line in n; n = 0 where ‖du‖ ≤ weight.
    """
    u = torch.cat([p.reshape(len(p), -1) for p in parts], 1)
    d = torch.cat([m.reshape(len(m), -1) for m in metrics], 1)
    du2 = (d * u).square()
    n = (du2.sum(1).sqrt() - weight).clamp_min_(0) / d.amax(1)  # below the root, where the method is monotone
    zero = du2.sum(1).sqrt() <= weight
    for _ in range(rounds):
        below = torch.addcmul(torch.as_tensor(weight, dtype=u.dtype, device=u.device), d, n[:, None])
        ratio = du2 / below.square()
        total = ratio.sum(1)
        slope = (ratio * d / below).sum(1)
        n = (n + total * (total.sqrt() - 1) / slope.clamp_min(1e-30)).clamp_min_(0)
    factor = torch.where(zero[:, None], torch.zeros_like(d), d * n[:, None] / (d * n[:, None] + weight).clamp_min(1e-30))
    z, at = u * factor, 0
    for p in parts:
        size = p[0].numel()
        p.copy_(z[:, at : at + size].reshape(p.shape))
        at += size


class ProxAdamW(torch.optim.Optimizer):
    """Groups with `lam` are families: unit i is row i of all of their parameters, with the weight λ√(entries)."""

    def __init__(self, groups, lr=1e-3, decay=0.0):
        super().__init__(groups, {"lr": lr, "decay": decay, "lam": 0.0})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            metrics = [adam(p, self.state[p], group["lr"], group["decay"]) for p in group["params"]]
            if group["lam"] and group["lr"]:
                proximal(group["params"], metrics, group["lr"] * weight(group))


def weight(group):
    return group["lam"] * sum(p[0].numel() for p in group["params"]) ** 0.5


class Ramda(torch.optim.Optimizer):
    """s = lr·√t, α ← α + s, V ← V + s∇, U ← U + s∇², P = ∛U + ε, x̂ = argmin ⟨V, x⟩ + αψ(x) + ½‖x − x₀‖²_P, x ← (1−c)x + cx̂.

    `restart` begins anew at x, as its authors do when the learning rate falls.
    """

    def __init__(self, groups, lr=1e-2, c=0.1, eps=1e-6):
        super().__init__(groups, {"lr": lr, "c": c, "eps": eps, "lam": 0.0, "t": 0, "sum": 0.0})

    def restart(self):
        self.state.clear()
        for group in self.param_groups:
            group["t"], group["sum"] = 0, 0.0

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            group["t"] += 1
            s = group["lr"] * group["t"] ** 0.5
            group["sum"] += s
            found, metrics = [], []
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state |= {"start": p.clone(), "V": torch.zeros_like(p), "U": torch.zeros_like(p)}
                state["V"].add_(p.grad, alpha=s)
                state["U"].addcmul_(p.grad, p.grad, value=s)
                metric = state["U"].pow(1 / 3).add_(group["eps"])
                metrics.append(metric)
                found.append(state["start"] - state["V"] / metric)
            if group["lam"]:
                proximal(found, metrics, group["sum"] * weight(group), rounds=6)
            for p, x in zip(group["params"], found):
                p.lerp_(x, group["c"])


def check():
    """AdamW where λ = 0; the proximal point is one; RAMDA finds the groups of a lasso and stays there."""
    torch.manual_seed(0)
    a, b = (torch.nn.Parameter(torch.ones(4, 3)) for _ in range(2))
    ours, theirs = ProxAdamW([a], lr=0.1, decay=0.01), torch.optim.AdamW([b], lr=0.1, weight_decay=0.01)
    for _ in range(20):
        a.grad, b.grad = torch.cos(3 * a.detach()), torch.cos(3 * b.detach())
        ours.step(), theirs.step()
    print(f"ProxAdamW without a penalty against torch.optim.AdamW: {(a - b).abs().max():.1e}")
    assert torch.allclose(a, b, atol=1e-6)
    u, d = torch.randn(50, 7, dtype=torch.float64), torch.rand(50, 7, dtype=torch.float64) + 0.01
    z = u.clone()
    proximal([z], [d], 0.5, rounds=30)
    live = z.abs().amax(1) > 0
    residual = (d * (z - u) + 0.5 * z / z.norm(dim=1, keepdim=True).clamp_min(1e-300))[live].abs().max()
    print(f"its proximal point: residual {residual:.1e}, {int(live.sum())} of 50 groups left")
    assert residual < 1e-9 and 0 < live.sum() < 50 and ((d * u).norm(dim=1)[~live] <= 0.5).all()
    A, truth = torch.randn(400, 30), torch.zeros(10, 3)
    truth[:4] = torch.randn(4, 3) + 1
    y, supports = A @ truth.reshape(-1), []
    x = torch.nn.Parameter(torch.randn(10, 3) * 0.1)
    ramda = Ramda([{"params": [x], "lam": 0.3}], lr=0.3)
    for t in range(600):
        rows = torch.randint(400, (100,))
        x.grad = (A[rows].T @ (A[rows] @ x.detach().reshape(-1) - y[rows]) / 100).reshape(10, 3)
        ramda.step()
        if t >= 400:
            supports.append(tuple((x.detach().norm(dim=1) > 1e-6).tolist()))
    right = tuple((truth.norm(dim=1) > 0).tolist())
    share = sum(s == right for s in supports) / len(supports)
    print(f"RAMDA: the right groups in {100 * share:.0f} % of the last 200 steps")
    assert share > 0.95


if __name__ == "__main__":
    check()
