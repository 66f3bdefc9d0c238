"""Learns the prior of `melmo denoise --prior learned`: filters T, potentials ψ_c and scales s for the energy

    F(x) = ½‖x − y‖² + Σ_c Σ_i s²α_c⁻² ψ_c(α_c·(T_c x)_i/s),   s = s_ci, in units of the noise,

convex because ψ″ ≥ −1 and ‖T‖² ≤ 0.98: a weakly convex ridge regulariser (Goujon, Neumayer, Unser 2023) that follows the picture
(Neumayer, Pourya, Goujon, Unser, "Boosting weakly convex ridge regularizers with spatial adaptivity", 2023).

    python training/learned_prior.py --data ../shared/data/bsd400_u8.npy --out weights --seconds 500

- T: one bank of K×K correlations. The image is continued by reflection (edge pixels twice). Filters come in families that
  the symmetries of the square map into themselves up to sign, and a family shares one potential; so the energy of a turned
  or mirrored picture is the same, and reflection costs nothing in ‖T‖ (crates/melmo/src/operator/filter_bank has the proof).
- ψ_c′: odd, piecewise linear with fixed knots, constant past the last; a set of values for each of a few levels of noise, between which
  values and log α are interpolated in their logarithm.
- s: a first picture is the minimiser of a plain energy of the same kind, with s = 1 and its own filters. Averages of |T x| there and of
  |T y| around a pixel go through two layers, whose weights are symmetric in the same sense (`Adapt`).
- Learning: the minimiser x(θ) is found by accelerated gradient steps; its derivative is that of the fixed point: a linear
  system with the Hessian I + T*ψ″T, solved by conjugate gradients. Loss: the root of the mean square of (x − clean)/noise over a crop, of
  both pictures. On a GPU, steps are in half precision with T of differences from y alone, 4×4 pixels together, as one CUDA graph.

The last `--kept` images are looked at once, at the end. Data of four axes are colour pictures: three planes of opponent colours with potentials
of their own, whose scales see all three. The program has no use for that yet.
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
BUDGET = 0.98  # ρ‖T‖², with ρ = 1: below 1 the energy is convex, and what is left is its strong convexity
BLOCK = 4  # pixels to each side that are computed together
OPPONENT = [[3 ** -0.5] * 3, [2 ** -0.5, 0.0, -(2 ** -0.5)], [6 ** -0.5, -2 * 6 ** -0.5, 6 ** -0.5]]


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
    """Filters, and potentials for each plane, family and noise level."""

    def __init__(self, size, planes, cap, seed):
        super().__init__()
        rows = list(families(size))
        self.size, self.cap, self.planes = size, cap, planes
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
        shape = (planes, len(rows), len(NODES))
        start = torch.tensor([12.0, 4.0] + [-0.8] * 6 + [0.0, 0.0])
        self.slopes = torch.nn.Parameter(start.expand(*shape, -1).clone())
        self.scale = torch.nn.Parameter(torch.full(shape, math.log(float(size))))  # log(α·noise)
        self.project()

    def filters(self):
        """C×K×K, Σ_c|ŵ_c(ω)|² ≤ BUDGET on a fine grid of frequencies; with their symmetries."""
        bank = []
        for w, (kind, parity) in zip(self.base, self.kinds):
            w = (w + parity * w.flip(-1, -2)) / 2
            if kind == "axis":
                w = (w + w.flip(-1)) / 2
            if kind == "diagonal":
                w = (w + w.T) / 2
            w = w - w.mean()
            bank += [w, w.T] if kind == "axis" else [w, w.flip(-1)] if kind == "diagonal" else [w, w.T, w.flip(-1), w.T.flip(-1)]
        bank = torch.stack(bank)
        symbol = torch.fft.rfft2(bank, s=(128, 128)).abs().square().sum(0).amax()
        return bank * torch.sqrt(BUDGET / symbol)

    def turns(self):
        """How the symmetries of the square permute the channels: identity, transpose, flip, both."""
        out = [[], [], [], []]
        at = 0
        for kind, _ in self.kinds:
            moves = {"axis": ([0, 1], [1, 0], [0, 1], [1, 0]), "diagonal": ([0, 1], [0, 1], [1, 0], [1, 0]),
                     "generic": ([0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0])}[kind]
            for o, m in zip(out, moves):
                o += [at + i for i in m]
            at += len(moves[0])
        return out

    @torch.no_grad()
    def take_up(self, saved, prefix=""):
        """Starts from weights that were saved."""
        g = lambda k: torch.tensor(saved[prefix + k])
        first = [int((self.family == f).nonzero()[0]) for f in range(len(self.kinds))]
        filters, values, scale = g("filters")[first], g("values"), g("scale")
        self.base.copy_(filters * (self.base.std() / filters.std()))
        values = values.expand(self.planes, *values.shape[-3:])
        self.slopes.copy_(torch.diff(values, prepend=torch.zeros_like(values[..., :1])) / self.widths.cpu())
        self.scale.copy_(scale.expand(self.planes, *scale.shape[-2:]))
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
        """In units of the noise: places and weights (N·P)×C×J with α⁻¹ψ′(αr) = Σ_j a_j·clip(r, ±place_j), and the largest slope (N·P)."""
        place = torch.log(sigma).clamp(self.nodes[0], self.nodes[-1])
        right = torch.searchsorted(self.nodes, place).clamp(1, len(self.nodes) - 1)
        t = (place - self.nodes[right - 1]) / (self.nodes[right] - self.nodes[right - 1])
        mix = lambda v: (v[:, :, right - 1].movedim(2, 0) * (1 - t).view(-1, *[1] * (v.dim() - 1))
                         + v[:, :, right].movedim(2, 0) * t.view(-1, *[1] * (v.dim() - 1)))
        alpha = torch.exp(mix(self.scale))
        values = mix(self.values())
        slopes = torch.diff(values, prepend=torch.zeros_like(values[..., :1])) / self.widths
        weights = slopes - F.pad(slopes[..., 1:], (0, 1))
        places = self.knots / alpha[..., None]
        return places[:, :, self.family].flatten(0, 1), weights[:, :, self.family].flatten(0, 1), slopes.amax((2, 3)).flatten()


def gauss(radius, width):
    """Weights of an average."""
    e = torch.exp(-0.5 * (torch.arange(-radius, radius + 1) / width) ** 2)
    return e / e.sum()


class Adapt(torch.nn.Module):
    """log s for every plane, channel and pixel from the pilot picture and the data."""

    KINDS = 4

    def __init__(self, prior, planes, hidden, most, seed):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        c = len(prior.family)
        self.planes, self.c, self.hidden, self.most = planes, c, hidden, most
        inputs = self.KINDS * planes * c
        within = [torch.tensor(t) for t in prior.turns()]
        lift = lambda t, n: torch.cat([t + c * i for i in range(n)])
        regular = [[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]]
        mid = [torch.tensor([4 * i + k for i in range(hidden // 4) for k in r]) for r in regular]
        self.register_buffer("turn_in", torch.stack([lift(t, self.KINDS * planes) for t in within]))
        self.register_buffer("turn_mid", torch.stack(mid))
        self.register_buffer("turn_out", torch.stack([lift(t, planes) for t in within]))
        self.first = torch.nn.Parameter(torch.randn(hidden, inputs, generator=generator) * (2 / inputs) ** 0.5 * 2)
        self.level = torch.nn.Parameter(torch.randn(hidden // 4, generator=generator) * 0.1)
        self.bias = torch.nn.Parameter(torch.zeros(hidden // 4))
        self.second = torch.nn.Parameter(torch.zeros(planes * c, hidden))
        self.bias2 = torch.nn.Parameter(torch.zeros(planes, len(prior.kinds)))
        self.knee = torch.nn.Parameter(torch.full((self.KINDS, planes, len(prior.kinds)), math.log(0.3)))
        for name, taps in (("near", gauss(1, 0.65)), ("mid", gauss(3, 1.5)), ("far", gauss(8, 3.5))):
            self.register_buffer(name, taps)
        self.register_buffer("family", prior.family)

    def weights(self):
        """The symmetric matrices of both layers."""
        one = sum(self.first[m][:, i] for m, i in zip(self.turn_mid, self.turn_in)) / 4
        two = sum(self.second[o][:, m] for o, m in zip(self.turn_out, self.turn_mid)) / 4
        return one, self.level.repeat_interleave(4), self.bias.repeat_interleave(4), two, self.bias2[:, self.family].flatten()

    def forward(self, a, b, sigma):
        """a, b: N×(P·C)×H×W, |T x¹| and |T y| in units of the noise; s of the same shape."""
        with torch.no_grad():
            seen = torch.stack([blur(a, self.near), blur(a, self.mid), blur(a, self.far), blur(b, self.far)], 1)
        knee = torch.exp(self.knee)[:, :, self.family].flatten(1)[:, :, None, None]
        u = (seen / (seen + knee)).flatten(1, 2)
        one, level, bias, two, bias2 = self.weights()
        shift = bias + level * torch.log(sigma * 255 / 20)[:, None]
        mid = F.relu(one @ u.flatten(2) + shift[:, :, None])
        out = two @ mid + bias2[:, None]
        return torch.exp(out.clamp(-self.most, self.most)).unflatten(2, u.shape[2:])


def blur(v, taps):
    """Every plane averaged down and across, continued by reflection."""
    p = len(taps) // 2
    n, c, h, w = v.shape
    v = v[:, :, mirror(h, p, v.device)]
    v = F.conv2d(v.reshape(n * c, 1, h + 2 * p, w), taps[None, None, :, None])
    v = v[:, :, :, mirror(w, p, v.device)]
    return F.conv2d(v, taps[None, None, None, :]).reshape(n, c, h, w)


def mirror(n, p, device):
    i = torch.arange(-p, n + p, device=device).remainder(2 * n)
    return torch.where(i < n, i, 2 * n - 1 - i)


def pad(x, p, more=0):
    """M×H×W → M×(H+2p+more)×(W+2p+more); what is more is never used."""
    rows, cols = (F.pad(mirror(n, p, x.device), (0, more)) for n in x.shape[1:])
    return x[:, rows][:, :, cols]


def fold(z, p, h, w):
    """The adjoint of pad without more."""
    z = z[:, : h + 2 * p, : w + 2 * p]
    z = torch.cat([z[:, p : 2 * p] + z[:, :p].flip(1), z[:, 2 * p : -2 * p], z[:, -2 * p : -p] + z[:, -p:].flip(1)], 1)
    return torch.cat([z[..., p : 2 * p] + z[..., :p].flip(2), z[..., 2 * p : -2 * p], z[..., -2 * p : -p] + z[..., -p:].flip(2)], 2)


class Plain:
    """T and T* by convolutions, in float32."""

    def __init__(self, filters):
        self.w, self.p = filters[:, None], filters.shape[-1] // 2

    def apply(self, x, exact=False):
        """As one product over all windows where its derivative is asked for: that is faster then."""
        x, side = pad(x, self.p)[:, None], self.w.shape[-1]
        if not self.w.requires_grad:
            return F.conv2d(x, self.w)
        return (self.w.flatten(1) @ F.unfold(x, side)).unflatten(2, (x.shape[2] - side + 1, -1))

    def adjoint(self, r, h, w):
        return fold(F.conv_transpose2d(r, self.w)[:, 0], self.p, h, w)

    layout = staticmethod(lambda s: s)
    lift = staticmethod(lambda v: v)


class Blocked:
    """The same on blocks of 4×4 pixels, as convolutions of many channels in half precision."""

    def __init__(self, filters):
        size, c = filters.shape[-1], filters.shape[0]
        self.p, self.reach = size // 2, -(-(size - 1) // BLOCK)
        k = (self.reach + 1) * BLOCK
        w = torch.zeros(c, BLOCK, BLOCK, k, k, device=filters.device)
        for i in range(BLOCK):
            for j in range(BLOCK):
                w[:, i, j, i : i + size, j : j + size] = filters
        n = self.reach + 1
        w = w.reshape(c * BLOCK**2, n, BLOCK, n, BLOCK).permute(0, 2, 4, 1, 3).reshape(c * BLOCK**2, BLOCK**2, n, n)
        last = dict(memory_format=torch.channels_last)
        self.exact = w.contiguous(**last)
        self.w = w.half().contiguous(**last)
        self.back = w.half().transpose(0, 1).flip(-1, -2).contiguous(**last)

    def blocks(self, x):
        more = -(2 * self.p) % BLOCK
        return F.pixel_unshuffle(pad(x, self.p, more)[:, None], BLOCK).contiguous(memory_format=torch.channels_last)

    def apply(self, x, exact=False):
        return F.conv2d(self.blocks(x), self.exact).half() if exact else F.conv2d(self.blocks(x).half(), self.w)

    def adjoint(self, r, h, w):
        z = F.conv2d(r, self.back, padding=self.reach).float()
        return fold(F.pixel_shuffle(z, BLOCK)[:, 0], self.p, h, w)

    @staticmethod
    def layout(s):
        return F.pixel_unshuffle(s, BLOCK).half().contiguous(memory_format=torch.channels_last)

    @staticmethod
    def lift(v):
        return v.repeat_interleave(BLOCK**2, 1)


def slope(r, places, weights, s):
    """s·Σ_j a_j·clip(r/s, ±place_j)."""
    u = r.float() / s
    out = torch.zeros_like(u)
    for j in range(places.shape[-1]):
        p = places[..., j, None, None]
        out = out + weights[..., j, None, None] * torch.minimum(torch.maximum(u, -p), p)
    return (s * out).to(r.dtype)


def moved(r, base, places, weights, s):
    return slope(r + base, places, weights, s)


def curvature(r, places, weights, s):
    """Its derivative in r."""
    u = r.float().abs() / s
    out = torch.zeros_like(u)
    for j in range(places.shape[-1]):
        out = out + torch.where(u < places[..., j, None, None], weights[..., j, None, None], 0.0)
    return out.to(r.dtype)


fast_moved, fast_curvature, fast_slope = moved, curvature, slope


@torch.no_grad()
def minimise(bank, y, x, places, weights, top, s, steps):
    """Accelerated gradient steps with restarts, each picture its own; T is taken of differences from y."""
    h, w = y.shape[1:]
    base = bank.apply(y, True)
    step = (1 / (1 + BUDGET * top))[:, None, None]
    x = x - y
    z, t = x, torch.ones_like(step)
    for k in range(steps):
        g = z + bank.adjoint(fast_moved(bank.apply(z), base, places, weights, s), h, w)
        new = z - step * g
        ahead = (g * (new - x)).sum((1, 2), keepdim=True) > 0
        t = torch.where(ahead, torch.ones_like(t), t)
        u = (1 + torch.sqrt(1 + 4 * t * t)) / 2
        z = new + torch.where(ahead, torch.zeros_like(t), (t - 1) / u) * (new - x)
        x, t = new, u
    return y + x


@torch.no_grad()
def solve(bank, y, x, places, weights, top, s, g, steps):
    """(I + T*ψ″(Tx)T)v = g by conjugate gradients."""
    h, w = y.shape[1:]
    d = fast_curvature(bank.apply(y, True) + bank.apply(x - y), places, weights, s)
    dot = lambda a, b: (a * b).sum((1, 2), keepdim=True)
    v = torch.zeros_like(g)
    r, p = g, g
    rr = dot(r, r)
    for _ in range(steps):
        q = p + bank.adjoint(d * bank.apply(p), h, w)
        a = rr / dot(p, q).clamp(min=1e-20)
        v, r = v + a * p, r - a * q
        new = dot(r, r)
        p, rr = r + new / rr.clamp(min=1e-20) * p, new
    return v


class Graphed:
    """A function of tensors as one CUDA graph; plain elsewhere."""

    def __init__(self, make, steps):
        self.make, self.steps, self.graph = make, steps, None

    def __call__(self, filters, *tensors):
        if not filters.is_cuda:
            return self.make(Plain(filters), *tensors, self.steps)
        bank = Blocked(filters)
        given = [bank.exact, bank.w, bank.back, *tensors]
        if self.graph is None:
            self.static = [v.clone(memory_format=torch.preserve_format) for v in given]
            inner = Blocked(filters)
            inner.exact, inner.w, inner.back = self.static[:3]
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(3):
                    self.make(inner, *self.static[3:], self.steps)
            torch.cuda.current_stream().wait_stream(side)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.out = self.make(inner, *self.static[3:], self.steps)
        for static, v in zip(self.static, given):
            static.copy_(v)
        self.graph.replay()
        return self.out.clone()


def parts(bank, prior, sigma):
    """What `minimise` needs of a prior, detached."""
    places, weights, top = prior.at(sigma)
    return bank.lift(places.detach()), bank.lift(weights.detach()), top.detach()


def planes_of(v, p):
    """(N·P)×C×… → N×(P·C)×…"""
    return v.reshape(-1, p * v.shape[1], *v.shape[2:])


class Model(torch.nn.Module):
    def __init__(self, args, planes):
        super().__init__()
        self.pilot = Prior(args.pilot_size or args.size, planes, args.cap, args.seed)
        self.final = Prior(args.size, planes, args.cap, args.seed)
        self.adapt = Adapt(self.final, planes, args.hidden, args.most, args.seed)
        self.planes = planes

    def scales(self, x, y, sigma):
        """(N·P)×C×H×W, differentiable in the weights of `adapt` alone."""
        with torch.no_grad():
            filters = self.final.filters()
            a, b = (planes_of(Plain(filters).apply(v).abs(), self.planes) for v in (x, y))
        return self.adapt(a, b, sigma).reshape(-1, len(filters), *x.shape[1:])


@torch.no_grad()
def psnr(model, images, sigma, seed, steps=(60, 80), batch=10):
    """Of the pilot and of the adapted minimiser."""
    noise = torch.randn(images.shape, generator=torch.Generator().manual_seed(seed)).to(images.device)
    found = []
    mix = torch.tensor(OPPONENT, device=images.device)
    for part in range(0, len(images), batch):
        clean = images[part : part + batch]
        level = torch.full((len(clean),), sigma / 255, device=images.device)
        y = clean + sigma / 255 * noise[part : part + batch]
        if model.planes == 3:
            y = torch.einsum("pc,ncij->npij", mix, y)
        y = y.flatten(0, 1) if model.planes == 3 else y
        y = y / (sigma / 255)
        bank = Plain(model.pilot.filters())
        one = torch.ones((), device=y.device)
        x1 = minimise(bank, y, y, *parts(bank, model.pilot, level), one, steps[0])
        s = model.scales(x1, y, level)
        bank = Plain(model.final.filters())
        x2 = minimise(bank, y, x1, *parts(bank, model.final, level), s, steps[1])
        row = []
        for x in (x1, x2):
            x = x * (sigma / 255)
            if model.planes == 3:
                x = torch.einsum("pc,npij->ncij", mix, x.unflatten(0, (-1, 3)))
            row.append(-10 * torch.log10((x.clamp(0, 1) - clean).square().flatten(1).mean(1)))
        found.append(torch.stack(row))
    return [round(float(v), 3) for v in torch.cat(found, 1).mean(1)]


def save(model, path, facts):
    """What `export.py` reads, and the state that `--resume` goes on from."""
    arrays = dict(family=model.final.family, knots=model.final.knots, nodes=torch.tensor(NODES))
    for name, prior in (("", model.pilot), ("final_", model.final)):
        arrays |= {name + "filters": prior.filters(), name + "values": prior.values(), name + "scale": prior.scale}
    one, level, bias, two, bias2 = model.adapt.weights()
    arrays |= dict(pilot_family=model.pilot.family, near=model.adapt.near, mid=model.adapt.mid, far=model.adapt.far)
    arrays |= dict(one=one, level=level, bias=bias, two=two, bias2=bias2, knee=torch.exp(model.adapt.knee))
    arrays = {k: v.detach().cpu().numpy() for k, v in arrays.items()}
    np.savez(path + ".tmp.npz", facts=json.dumps(facts), **arrays)
    os.replace(path + ".tmp.npz", path + ".npz")
    torch.save(model.state_dict(), path + ".pt")


def crops(images, count, size):
    """count random squares."""
    device = images.device
    pick = torch.randint(len(images), (count,), device=device)
    top, left = torch.randint(images.shape[-1] - size + 1, (2, count, 1), device=device)
    rows, cols = (v + torch.arange(size, device=device) for v in (top, left))
    if images.dim() == 3:
        return images[pick[:, None, None], rows[:, :, None], cols[:, None, :]]
    return images[pick[:, None, None, None], torch.arange(3, device=device)[:, None, None], rows[:, None, :, None], cols[:, None, None, :]]


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("--data", required=True)
    ask.add_argument("--out", default="weights")
    ask.add_argument("--name", default="learned")
    ask.add_argument("--seconds", type=float, default=500)
    ask.add_argument("--size", type=int, default=7)
    ask.add_argument("--pilot-size", type=int)
    ask.add_argument("--cap", type=float, default=12)
    ask.add_argument("--batch", type=int, default=64)
    ask.add_argument("--crop", type=int, default=64)
    ask.add_argument("--rate", type=float, default=4.0)
    ask.add_argument("--hidden", type=int, default=32)
    ask.add_argument("--most", type=float, default=2.2)
    ask.add_argument("--report", type=float, default=30)
    ask.add_argument("--steps", type=int, nargs=3, default=[30, 30, 15])
    ask.add_argument("--kept", type=int, default=40)
    ask.add_argument("--seed", type=int, default=17)
    ask.add_argument("--take-up", help="weights to start from")
    ask.add_argument("--take-final", help="the same, for the adapted prior")
    ask.add_argument("--resume", help="a state to go on from")
    ask.add_argument("--compile", action="store_true")
    args = ask.parse_args()
    began = time.time()
    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    if args.compile:
        global fast_moved, fast_curvature, fast_slope
        fast_moved, fast_curvature = torch.compile(moved), torch.compile(curvature)
        fast_slope = torch.compile(slope)
    images = torch.tensor(np.load(args.data)).to(device).float() / 255
    train, kept = images[: -args.kept], images[-args.kept :]
    planes = 3 if images.dim() == 4 else 1
    mix = torch.tensor(OPPONENT, device=device)
    model = Model(args, planes)
    if args.take_up:
        with np.load(args.take_up) as saved:
            model.pilot.take_up(saved)
            if not args.take_final:
                model.final.take_up(saved, "final_" if "final_filters" in saved else "")
    if args.take_final:
        with np.load(args.take_final) as saved:
            model.final.take_up(saved, "final_")
    if args.resume:
        model.load_state_dict(torch.load(args.resume, map_location="cpu"))
    model.to(device)
    groups = [dict(params=[p], lr=r * args.rate) for prior in (model.pilot, model.final)
              for p, r in ((prior.base, 5e-3), (prior.slopes, 1e-2), (prior.scale, 3e-3))]
    groups += [dict(params=[p], lr=1e-3 * args.rate) for p in model.adapt.parameters()]
    for group in groups:
        group["full"] = group["lr"]
    adam = torch.optim.Adam(groups, betas=(0.9, 0.99))
    first, second = Graphed(minimise, args.steps[0]), Graphed(minimise, args.steps[1])
    cg = [Graphed(solve, args.steps[2]) for _ in range(2)]
    layout, lift = (Blocked.layout, Blocked.lift) if device == "cuda" else (Plain.layout, Plain.lift)
    one = layout(torch.ones(args.batch * planes, len(model.pilot.family), args.crop, args.crop, device=device))
    facts = dict(vars(args), data=os.path.basename(args.data), torch=torch.__version__, device=device)
    k, reported, means = 0, began, None
    while (elapsed := time.time() - began) < args.seconds:
        for group in adam.param_groups:
            group["lr"] = group["full"] * min(1, (k + 1) / 50) * (0.5 + 0.5 * math.cos(math.pi * min(1, elapsed / args.seconds)))
        clean = crops(train, args.batch, args.crop)
        if planes == 3:
            clean = torch.einsum("pc,ncij->npij", mix, clean).flatten(0, 1)
        sigma = (3 + 52 * torch.rand(args.batch, device=device)) / 255
        clean = clean / sigma.repeat_interleave(planes)[:, None, None]
        y = clean + torch.randn(clean.shape, device=device)
        loss, errors, x = 0.0, [], y
        for prior, run, back, adapted in ((model.pilot, first, cg[0], False), (model.final, second, cg[1], True)):
            filters = prior.filters()
            places, weights, top = prior.at(sigma)
            frozen = lift(places.detach()), lift(weights.detach()), top.detach()
            s = model.scales(x, y, sigma) if adapted else None
            fixed = layout(s.detach()) if adapted else one
            x = run(filters.detach(), y, x, *frozen, fixed)
            error = x - clean
            size = error.square().unflatten(0, (-1, planes)).mean((1, 2, 3)).sqrt()
            errors.append(size.mean())
            g = error / size.repeat_interleave(planes)[:, None, None].clamp(min=1e-3)
            v = back(filters.detach(), y, x, *frozen, fixed, g) / error.numel()
            # dx/dθ = −H⁻¹ ∂_θ∇F; ⟨v, T*ψ′(Tx)⟩ = ⟨Tv, ψ′(Tx)⟩.
            bank = Plain(filters)
            loss = loss - (bank.apply(v) * fast_slope(bank.apply(x), places, weights, s if adapted else 1.0)).sum()
        adam.zero_grad()
        loss.backward()
        norms = [torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0) for m in (model.pilot, model.final, model.adapt)]
        if k % 20 == 0 and not all(math.isfinite(float(n)) for n in norms):
            raise SystemExit(f"{args.name}, step {k}: a gradient is not finite")
        adam.step()
        model.pilot.project(), model.final.project()
        k += 1
        now = torch.stack(errors).detach()
        means = now if means is None else 0.99 * means + 0.01 * now
        if k in (3, 100) or time.time() - reported > args.report:
            reported = time.time()
            got = psnr(model, train[:40], 25.0, 2)
            spread = model.adapt.second.detach().abs().mean()
            print(args.name, f"{reported - began:6.1f} s, step {k}: {[round(float(v), 4) for v in means]},"
                  f" slope {float(top.detach().max()):.1f}, |W2| {float(spread):.4f}, {got} dB on images learned from", flush=True)
            save(model, os.path.join(args.out, args.name), dict(facts, steps=k))
    final = {s: psnr(model, kept, s, 1, (100, 150)) for s in (5.0, 10.0, 15.0, 25.0, 35.0, 50.0)}
    brief = {s: psnr(model, kept, s, 1, (15, 25)) for s in (15.0, 25.0)}
    print(args.name, f"final: {k} steps, {time.time() - began:.0f} s, {final}, 15 and 25 steps: {brief}", flush=True)
    save(model, os.path.join(args.out, args.name), dict(facts, steps=k, psnr=final))


if __name__ == "__main__":
    main()
