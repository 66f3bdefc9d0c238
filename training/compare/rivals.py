"""What `networks.py` compares with: Muon, ProxAdamW and RAMDA, written here from their papers.

    python -m compare.rivals        (in training/) checks what was published about each on a small case

- Muon (Jordan and others 2024): Nesterov momentum 0.95, five quintic Newton–Schulz steps in bf16, stacks of
  equal shapes, products that add as in torch.optim.Muon; AdamW for the rest.
- ProxAdamW: AdamW's step, then the proximal point of the group lasso in AdamW's own diagonal metric.
- RAMDA (Huang and Lee 2024): regularised dual averaging with the metric ∛(Σ s g²) and the average (1−c)x + cx̂.
"""

import torch

from compare.units import filters

QUINTIC = (3.4445, -4.7750, 2.0315)


def quintic(x, steps=5):
    """UVᵀ, roughly, of a stack of matrices that are no taller than wide."""
    x = x.bfloat16() if x.is_cuda else x
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    a, b, c = QUINTIC
    for _ in range(steps):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x


class Muon(torch.optim.Optimizer):
    """For matrices; those of one shape together. A filter is a row."""

    def __init__(self, params, lr, momentum=0.95, decay=0.0):
        super().__init__(params, {"lr": lr, "momentum": momentum, "decay": decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            grads, ms = [p.grad for p in params], [state_of(self.state[p], "m", p) for p in params]
            torch._foreach_lerp_(ms, grads, 1 - group["momentum"])
            seen = torch._foreach_lerp(grads, ms, group["momentum"])
            if group["decay"]:
                torch._foreach_mul_(params, 1 - group["lr"] * group["decay"])
            stacks = {}
            for p, m in zip(params, seen):
                flat = m.reshape(len(m), -1)
                tall = flat.shape[0] > flat.shape[1]
                stacks.setdefault(tuple(sorted(flat.shape)), []).append((p, flat.mT if tall else flat, tall))
            for stack in stacks.values():
                for (p, m, tall), d in zip(stack, quintic(torch.stack([m for _, m, _ in stack])).unbind()):
                    d, rows, columns = (d.mT, m.shape[1], m.shape[0]) if tall else (d, *m.shape)
                    p.sub_(d.reshape(p.shape).to(p.dtype) * (group["lr"] * max(1, rows / columns) ** 0.5))


def state_of(state, name, like):
    if name not in state:
        state[name] = torch.zeros_like(like)
    return state[name]


class Counted(torch.optim.Optimizer):
    """Numbers that change are on the device, so that a step can be captured. Groups with `family` have its units and a λ."""

    def __init__(self, groups, device, **defaults):
        super().__init__(groups, {**defaults, "family": None, "lam": torch.zeros((), device=device)})
        self.t = torch.zeros((), device=device)

    def states(self, name):
        return [state_of(self.state[p], name, p) for g in self.param_groups for p in g["params"]]

    def params(self):
        return [p for g in self.param_groups for p in g["params"]]

    def proximal(self, points, metrics, weight, rounds):
        """The proximal point of every family, with the weight λ√(entries) times `weight`."""
        points, metrics = (dict(zip(self.params(), some)) for some in (points, metrics))
        for group in self.param_groups:
            if (family := group["family"]) is not None:
                into = [points[p] for p in group["params"]]
                u, d = family.rows(into), family.rows([metrics[p] for p in group["params"]])
                family.write(proximal(u, d, weight * group["lam"] * u.shape[1] ** 0.5, rounds), into)


class ProxAdamW(Counted):
    """AdamW's step, and the proximal point in its metric √v̂ + ε."""

    def __init__(self, groups, lr, decay=0.0, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(groups, lr.device)
        self.lr, self.decay, self.betas, self.eps = lr, decay, betas, eps

    @torch.no_grad()
    def step(self):
        params, (first, second) = self.params(), self.betas
        grads, ms, vs = [p.grad for p in params], self.states("m"), self.states("v")
        self.t.add_(1.0)
        torch._foreach_lerp_(ms, grads, 1 - first)
        torch._foreach_mul_(vs, second)
        torch._foreach_addcmul_(vs, grads, grads, value=1 - second)
        metrics = torch._foreach_mul(vs, 1 / (1 - second**self.t))
        torch._foreach_sqrt_(metrics)
        torch._foreach_add_(metrics, self.eps)
        if self.decay:
            torch._foreach_mul_(params, 1 - self.lr * self.decay)
        moves = torch._foreach_div(ms, metrics)
        torch._foreach_mul_(moves, self.lr / (1 - first**self.t))
        torch._foreach_sub_(params, moves)
        self.proximal(params, metrics, self.lr, rounds=4)


class Ramda(Counted):
    """s = lr·√t, α ← α + s, V ← V + s∇, U ← U + s∇², P = ∛U + ε, x̂ = argmin ⟨V, x⟩ + αψ(x) + ½‖x − x₀‖²_P, x ← (1−c)x + cx̂.

    `restart` begins anew at x, as its authors do when the learning rate falls.
    """

    def __init__(self, groups, lr, c=0.1, eps=1e-6):
        super().__init__(groups, lr.device)
        self.lr, self.c, self.eps, self.sum = lr, c, eps, torch.zeros_like(lr)
        self.restart()

    @torch.no_grad()
    def restart(self):
        torch._foreach_copy_(self.states("start"), self.params())
        for tensor in (self.t, self.sum, *self.states("V"), *self.states("U")):
            tensor.zero_()

    @torch.no_grad()
    def step(self):
        params = self.params()
        grads, vs, us = [p.grad for p in params], self.states("V"), self.states("U")
        self.t.add_(1.0)
        s = self.lr * self.t.sqrt()
        self.sum.add_(s)
        scaled = torch._foreach_mul(grads, s)
        torch._foreach_add_(vs, scaled)
        torch._foreach_addcmul_(us, scaled, grads)
        metrics = torch._foreach_pow(us, 1 / 3)
        torch._foreach_add_(metrics, self.eps)
        found = torch._foreach_sub(self.states("start"), torch._foreach_div(vs, metrics))
        self.proximal(found, metrics, self.sum, rounds=6)
        torch._foreach_lerp_(params, found, self.c)


def proximal(u, d, weight, rounds=4):
    """argmin weight·‖z_i‖ + ½Σ d(z − u)² for every row u_i.

    z = d·u·n/(d·n + weight) with n = ‖z‖ the root of Σ (du)²/(dn + weight)² = 1: Newton's method on the root's reciprocal, which
    is nearly a straight line in n; n = 0 where ‖du‖ ≤ weight.
    """
    weight = torch.as_tensor(weight, dtype=u.dtype, device=u.device)
    du2 = (d * u).square()
    length = du2.sum(1).sqrt()
    n = (length - weight).clamp_min(0) / d.amax(1)  # below the root, where the method is monotone
    for _ in range(rounds):
        below = torch.addcmul(weight, d, n[:, None]).clamp_min(1e-30)
        ratio = du2 / below.square()
        total = ratio.sum(1)
        slope = (ratio * d / below).sum(1)
        n = (n + total * (total.sqrt() - 1) / slope.clamp_min(1e-30)).clamp_min(0)
    live = (length > weight)[:, None]
    factor = torch.where(live, d * n[:, None] / (d * n[:, None] + weight).clamp_min(1e-30), 0.0)
    return u * torch.where(weight > 0, factor, 1.0)


def check():
    """AdamW where λ = 0; the proximal point is one; RAMDA finds the groups of a lasso and stays there."""
    torch.manual_seed(0)
    a, b = (torch.nn.Parameter(torch.ones(4, 3)) for _ in range(2))
    ours, theirs = ProxAdamW([a], torch.tensor(0.1), decay=0.01), torch.optim.AdamW([b], lr=0.1, weight_decay=0.01)
    for _ in range(20):
        a.grad, b.grad = torch.cos(3 * a.detach()), torch.cos(3 * b.detach())
        ours.step(), theirs.step()
    print(f"ProxAdamW without a penalty against torch.optim.AdamW: {(a - b).abs().max():.1e}")
    assert torch.allclose(a, b, atol=1e-6)
    u, d = torch.randn(50, 7, dtype=torch.float64), torch.rand(50, 7, dtype=torch.float64) + 0.01
    z = proximal(u, d, 0.5, rounds=30)
    live = z.abs().amax(1) > 0
    residual = (d * (z - u) + 0.5 * z / z.norm(dim=1, keepdim=True).clamp_min(1e-300))[live].abs().max()
    print(f"its proximal point: residual {residual:.1e}, {int(live.sum())} of 50 groups left")
    assert residual < 1e-9 and 0 < live.sum() < 50 and ((d * u).norm(dim=1)[~live] <= 0.5).all()
    A, truth = torch.randn(400, 30), torch.zeros(10, 3)
    truth[:4] = torch.randn(4, 3) + 1
    y, supports = A @ truth.reshape(-1), []
    x = torch.nn.Parameter(torch.randn(10, 3) * 0.1)
    ramda = Ramda([{"params": [x], "family": filters([x]), "lam": torch.tensor(0.3)}], torch.tensor(0.3))
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
