"""Learns the prior of `melmo denoise --prior learned`: a bank of filters T and potentials ψ_c for the energy

    F(x) = ½‖x − y‖² + Σ_c Σ_i α_c(σ)⁻² ψ_{c,σ}(α_c(σ)·(T_c x)_i),

convex because ψ″ ≥ −1 and ‖T‖² ≤ 0.97: a weakly convex ridge regulariser (Goujon, Neumayer, Unser 2023).

    python training/learned_prior.py --data ../shared/data/bsd400_u8.npy --out weights --seconds 500

- T: one bank of K×K correlations. The image is continued by reflection (edge pixels twice). Filters come in families that
  the symmetries of the square map into themselves up to sign, and a family shares one potential; so the energy of a turned
  or mirrored picture is the same, and reflection costs nothing in ‖T‖ (crates/melmo/src/operator/filter_bank.rs has the proof).
- ψ_c′: odd, piecewise linear with fixed knots, constant past the last; a set of values for each of a few σ, between which
  values and log α·σ are interpolated in log σ.
- Learning: the minimiser x(θ) is found by accelerated gradient steps; its derivative is that of the fixed point: a linear
  system with the Hessian I + T*ψ″T, solved by conjugate gradients. Loss: mean |x − clean|/σ.

The first 360 images are learned from, and tell when steps were too bold; the last 40 are looked at once, at the end.
"""

import argparse
import json
import math
import os
import time

import numpy as np
import torch
import torch.nn.functional as F

NODES = [2.5, 5.0, 10.0, 15.0, 25.0, 35.0, 55.0]  # of 255
KNOTS = [0.1, 0.2, 0.4, 0.7, 1.1, 1.6, 2.3, 3.2, 4.5, 6.5]
BUDGET = 0.97  # ρ‖T‖², with ρ = 1: below 1 the energy is convex, and what is left is its strong convexity


def families(size):
    """(kind, parity, first guess) for each family: the real Fourier modes of a size×size square, an orthogonal basis."""
    half = size // 2
    r = torch.arange(size) - half
    for a in range(1, half + 1):
        for b in range(0, a + 1):
            for name, parity in ((torch.cos, 1), (torch.sin, -1)):
                mode = name(2 * math.pi * (a * r[:, None] + b * r[None, :]) / size)
                kind = "axis" if b == 0 else "diagonal" if a == b else "generic"
                yield kind, parity, mode


class Prior(torch.nn.Module):
    def __init__(self, size, cap, seed):
        super().__init__()
        rows = list(families(size))
        self.size, self.cap = size, cap
        self.kinds = [(kind, parity) for kind, parity, _ in rows]
        generator = torch.Generator().manual_seed(seed)
        base = torch.stack([mode for _, _, mode in rows])
        self.base = torch.nn.Parameter(base + 0.05 * torch.randn(base.shape, generator=generator))
        family = [f for f, (kind, _) in enumerate(self.kinds) for _ in range(4 if kind == "generic" else 2)]
        self.register_buffer("family", torch.tensor(family))
        knots = torch.tensor(KNOTS)
        self.register_buffer("knots", knots)
        self.register_buffer("widths", torch.diff(knots, prepend=torch.zeros(1)))
        self.register_buffer("nodes", torch.log(torch.tensor(NODES) / 255))
        shape = (len(rows), len(NODES))
        start = torch.tensor([12.0, 4.0] + [-0.8] * 6 + [0.0, 0.0])
        self.slopes = torch.nn.Parameter(start.expand(*shape, -1).clone())  # of ψ′, from knot to knot
        self.scale = torch.nn.Parameter(torch.full(shape, math.log(float(size))))  # log(α σ)
        self.project()

    def symmetric(self):
        """The base filters with their symmetries: point (anti)symmetric; on an axis or a diagonal mirror symmetric too."""
        out = []
        for w, (kind, parity) in zip(self.base, self.kinds):
            w = (w + parity * w.flip(-1, -2)) / 2
            if kind == "axis":  # modes along the rows: even across the columns
                w = (w + w.flip(-1)) / 2
            if kind == "diagonal":
                w = (w + w.T) / 2
            out.append(w - w.mean())
        return out

    def filters(self):
        """C×K×K, Σ_c|ŵ_c(ω)|² ≤ BUDGET on a fine grid of frequencies."""
        bank = []
        for w, (kind, _) in zip(self.symmetric(), self.kinds):
            bank += [w, w.T] if kind == "axis" else [w, w.flip(-1)] if kind == "diagonal" else [w, w.T, w.flip(-1), w.T.flip(-1)]
        bank = torch.stack(bank)
        symbol = torch.fft.rfft2(bank, s=(64, 64)).abs().square().sum(0).amax()
        return bank * torch.sqrt(BUDGET / symbol)

    def take_up(self, path):
        """Starts from weights that were saved."""
        with np.load(path) as saved, torch.no_grad():
            first = [int(np.argmax(saved["family"] == f)) for f in range(len(self.kinds))]
            filters, values = torch.tensor(saved["filters"][first]), torch.tensor(saved["values"])
            self.base.copy_(filters * (self.base.std() / filters.std()))
            self.slopes.copy_(torch.diff(values, prepend=torch.zeros_like(values[..., :1])) / self.widths)
            self.scale.copy_(torch.tensor(saved["scale"]))
        self.project()

    def project(self):
        """Slopes in [−1, cap]. A box: projecting values instead, under their differences, only ever pushes them up."""
        with torch.no_grad():
            self.slopes.clamp_(-1, self.cap)

    def values(self):
        """ψ′ at the knots, nowhere negative right of 0."""
        values = [torch.zeros_like(self.slopes[..., 0])]
        for j, width in enumerate(self.widths):
            values.append((values[-1] + width * self.slopes[..., j]).clamp(min=0))
        return torch.stack(values[1:], -1)

    def at(self, sigma):
        """For noise levels (N): the places N×C×J of knots in units of the picture, and the weights a with
        α⁻¹ψ′(αr) = Σ_j a_j·clip(r, ±place_j)."""
        place = torch.log(sigma).clamp(self.nodes[0], self.nodes[-1])
        right = torch.searchsorted(self.nodes, place).clamp(1, len(self.nodes) - 1)
        t = ((place - self.nodes[right - 1]) / (self.nodes[right] - self.nodes[right - 1]))[:, None]
        mix = lambda v, t: v[:, right - 1].transpose(0, 1) * (1 - t) + v[:, right].transpose(0, 1) * t
        alpha = torch.exp(mix(self.scale, t)) / sigma[:, None]
        values = mix(self.values(), t[..., None])
        slopes = torch.diff(values, prepend=torch.zeros_like(values[..., :1])) / self.widths
        weights = slopes - F.pad(slopes[..., 1:], (0, 1))
        places = self.knots / alpha[..., None]
        return places[:, self.family], weights[:, self.family], slopes.amax((1, 2))


def mirror(n, p, device):
    i = torch.arange(-p, n + p, device=device)
    i = i.remainder(2 * n)
    return torch.where(i < n, i, 2 * n - 1 - i)


class Bank:
    """T and T* for pictures of one size: reflection, then correlations."""

    def __init__(self, filters, shape):
        self.w = filters[:, None]
        self.p = filters.shape[-1] // 2
        self.rows, self.cols = (mirror(n, self.p, filters.device) for n in shape)

    by_product = False  # as one matrix product over all windows: faster on some devices

    def apply(self, x):
        x = x[:, self.rows][:, :, self.cols][:, None]
        if not Bank.by_product:
            return F.conv2d(x, self.w)
        side = self.w.shape[-1]
        return (self.w.flatten(1) @ F.unfold(x, side)).unflatten(2, (x.shape[2] - side + 1, -1))

    def adjoint(self, r):
        if Bank.by_product:
            whole = (r.shape[2] + 2 * self.p, r.shape[3] + 2 * self.p)
            z = F.fold(self.w.flatten(1).T @ r.flatten(2), whole, self.w.shape[-1])[:, 0]
        else:
            z = F.conv_transpose2d(r, self.w)[:, 0]
        p = self.p
        z = torch.cat([z[:, p : 2 * p] + z[:, :p].flip(1), z[:, 2 * p : -2 * p], z[:, -2 * p : -p] + z[:, -p:].flip(1)], 1)
        return torch.cat([z[..., p : 2 * p] + z[..., :p].flip(2), z[..., 2 * p : -2 * p], z[..., -2 * p : -p] + z[..., -p:].flip(2)], 2)


@torch.no_grad()
def choose_product(model, like):
    """Times both ways of applying the bank, and takes the faster."""
    bank, times = Bank(model.filters(), like.shape[1:]), []
    for Bank.by_product in (False, True):
        for repeat in (3, 20):
            if like.is_cuda:
                torch.cuda.synchronize()
            start = time.time()
            for _ in range(repeat if like.is_cuda else 1):
                bank.adjoint(bank.apply(like))
            if like.is_cuda:
                torch.cuda.synchronize()
        times.append((time.time() - start) / repeat)
    Bank.by_product = times[1] < times[0]
    print(f"bank: {1e3 * times[0]:.2f} ms by convolution, {1e3 * times[1]:.2f} ms by product", flush=True)


def slope(r, places, weights):
    """Σ_j a_j·clip(r, ±place_j), for r: N×C×H×W."""
    out = torch.zeros_like(r)
    for j in range(places.shape[-1]):
        p = places[..., j, None, None]
        out = out + weights[..., j, None, None] * torch.minimum(torch.maximum(r, -p), p)
    return out


def curvature(r, places, weights):
    out = torch.zeros_like(r)
    r = r.abs()
    for j in range(places.shape[-1]):
        out = out + torch.where(r < places[..., j, None, None], weights[..., j, None, None], 0.0)
    return out


fast_slope, fast_curvature = slope, curvature


@torch.no_grad()
def minimise(bank, y, places, weights, top, tol, limit):
    """Accelerated gradient steps with restarts (each picture its own), until the mean step is below tol·σ-free units."""
    step = (1 / (1 + BUDGET * top))[:, None, None]
    x, z, t = y, y, torch.ones_like(step)
    for k in range(limit):
        g = z - y + bank.adjoint(fast_slope(bank.apply(z), places, weights))
        new = z - step * g
        ahead = (g * (new - x)).sum((1, 2), keepdim=True) > 0
        t = torch.where(ahead, torch.ones_like(t), t)
        u = (1 + torch.sqrt(1 + 4 * t * t)) / 2
        z = new + torch.where(ahead, torch.zeros_like(t), (t - 1) / u) * (new - x)
        x, t = new, u
        if k % 10 == 9 and float(g.square().mean()) < tol * tol:
            break
    return x, k + 1


@torch.no_grad()
def solve(bank, d, g, limit):
    """(I + T*dT)v = g by conjugate gradients."""
    dot = lambda a, b: (a * b).sum((1, 2), keepdim=True)
    v = torch.zeros_like(g)
    r, p = g, g
    rr = dot(r, r)
    for _ in range(limit):
        q = p + bank.adjoint(d * bank.apply(p))
        a = rr / dot(p, q).clamp(min=1e-30)
        v, r = v + a * p, r - a * q
        new = dot(r, r)
        p, rr = r + new / rr.clamp(min=1e-30) * p, new
    return v


@torch.no_grad()
def psnr(model, images, sigma, seed, limit=200, tol=2e-5, batch=10):
    device = images.device
    noise = torch.randn(images.shape, generator=torch.Generator().manual_seed(seed)).to(device)
    bank, out = Bank(model.filters(), images.shape[1:]), []
    for part in range(0, len(images), batch):
        clean = images[part : part + batch]
        y = clean + sigma / 255 * noise[part : part + batch]
        places, weights, top = model.at(torch.full((len(y),), sigma / 255, device=device))
        x, steps = minimise(bank, y, places, weights, top, tol, limit)
        out.append(-10 * torch.log10((x.clamp(0, 1) - clean).square().mean((1, 2))))
    return float(torch.cat(out).mean()), steps


def save(model, path, facts):
    arrays = {k: v.detach().cpu().numpy() for k, v in dict(
        filters=model.filters(), family=model.family, values=model.values(), scale=model.scale).items()}
    np.savez(path + ".tmp.npz", knots=np.array(KNOTS), nodes=np.array(NODES), facts=json.dumps(facts), **arrays)
    os.replace(path + ".tmp.npz", path + ".npz")


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("--data", required=True)
    ask.add_argument("--out", default="weights")
    ask.add_argument("--name", default="learned")
    ask.add_argument("--seconds", type=float, default=500)
    ask.add_argument("--size", type=int, default=7)
    ask.add_argument("--cap", type=float, default=20)
    ask.add_argument("--batch", type=int, default=64)
    ask.add_argument("--crop", type=int, default=60)
    ask.add_argument("--rate", type=float, default=4.0)
    ask.add_argument("--report", type=float, default=60)
    ask.add_argument("--limit", type=int, default=80)
    ask.add_argument("--validate", type=int, default=40)
    ask.add_argument("--seed", type=int, default=17)
    ask.add_argument("--take-up", help="weights to start from")
    ask.add_argument("--compile", action="store_true")
    args = ask.parse_args()
    began = time.time()
    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    if args.compile:
        global fast_slope, fast_curvature
        fast_slope, fast_curvature = torch.compile(slope, dynamic=True), torch.compile(curvature, dynamic=True)
    images = torch.tensor(np.load(args.data)).to(device).float() / 255
    train, kept = images[:-40], images[-40:][: args.validate]
    model = Prior(args.size, args.cap, args.seed).to(device)
    if args.take_up:
        model.take_up(args.take_up)
    choose_product(model, train[: args.batch, : args.crop, : args.crop])
    rates = [(model.base, 5e-3), (model.slopes, 1e-2), (model.scale, 3e-3)]
    adam = torch.optim.Adam([dict(params=[p], lr=r * args.rate, full=r * args.rate) for p, r in rates], betas=(0.9, 0.99))
    k, reported, mean, best, kept_state = 0, began, 0.0, 0.0, None
    facts = dict(vars(args), data=os.path.basename(args.data), torch=torch.__version__, device=device)
    while (elapsed := time.time() - began) < args.seconds:
        for group in adam.param_groups:
            done = elapsed / args.seconds
            group["lr"] = group["full"] * min(1, (k + 1) / 30) * (0.5 + 0.5 * math.cos(math.pi * done))
        pick = torch.randint(len(train), (args.batch,)).tolist()
        at = torch.randint(train.shape[-1] - args.crop + 1, (args.batch, 2)).tolist()
        clean = torch.stack([train[i, a : a + args.crop, b : b + args.crop] for i, (a, b) in zip(pick, at)])
        sigma = ((3 + 52 * torch.rand(args.batch)) / 255).to(device)
        y = clean + sigma[:, None, None] * torch.randn(clean.shape, device=device)
        filters = model.filters()
        places, weights, top = model.at(sigma)
        fixed = Bank(filters.detach(), clean.shape[1:])
        frozen = places.detach(), weights.detach()
        x, steps = minimise(fixed, y, *frozen, top.detach(), 1e-4, args.limit)
        error = (x - clean) / sigma[:, None, None]
        g = error.sign() / sigma[:, None, None] / error.numel()
        v = solve(fixed, fast_curvature(fixed.apply(x), *frozen), g, 25)
        bank = Bank(filters, clean.shape[1:])
        # dx/dθ = −H⁻¹ ∂_θ∇F; ⟨v, T*ψ′(Tx)⟩ = ⟨Tv, ψ′(Tx)⟩.
        adam.zero_grad()
        (-(bank.apply(v) * slope(bank.apply(x), places, weights)).sum()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        model.project()
        k += 1
        mean = 0.98 * mean + 0.02 * float(error.abs().mean()) if k > 1 else float(error.abs().mean())
        if k in (3, 100) or time.time() - reported > args.report:
            reported = time.time()
            got = psnr(model, train[: args.validate], 25.0, 2)[0]
            worse = got < best - 0.02
            print(args.name, f"{reported - began:6.1f} s, step {k}: loss {mean:.4f}, {steps} its, slope {float(top.detach().max()):.1f},"
                  f" {got:.3f} dB on images learned from{', back to the best' if worse else ''}", flush=True)
            if worse:
                model.load_state_dict(kept_state)
                adam.state.clear()
                for group in adam.param_groups:
                    group["full"] *= 0.5
            elif got > best:
                best, kept_state = got, {name: v.clone() for name, v in model.state_dict().items()}
                save(model, os.path.join(args.out, args.name), dict(facts, steps=k))
    if kept_state is not None and psnr(model, train[: args.validate], 25.0, 2)[0] < best:
        model.load_state_dict(kept_state)
    final = {s: round(psnr(model, kept, s, 1, 400, 1e-5)[0], 3) for s in (5.0, 10.0, 15.0, 25.0, 35.0, 50.0)}
    print(args.name, f"final: {k} steps, {time.time() - began:.0f} s, {final}, channels {len(model.family)}", flush=True)
    save(model, os.path.join(args.out, args.name), dict(facts, steps=k, psnr=final))


if __name__ == "__main__":
    main()
