"""Milliseconds a step of MELMO in l2 on total variation with MCP, written in PyTorch and compiled: what `cargo bench -p melmo-cuda` is compared with.

Medians of 20 after a warm-up, by CUDA events. `python scripts/compare_gpu.py`
"""

import torch
import torch.nn.functional as nn


def slope(d, beta, lam=0.4, mu=3.0):
    """The slope of the Moreau envelope of MCP."""
    s = d.abs()
    return torch.minimum(s / beta, (mu * lam - s) / (mu - beta)).clamp(min=0).copysign(d)


def step(x, y, phi, norm, gamma, beta):
    """x + γ·lmo(φ), the gradient there, and its norm."""
    x = x - gamma / norm * phi
    phi = x - y
    for axis in range(x.ndim):
        p = slope(x.diff(dim=axis), beta)
        before, after = [0, 0] * x.ndim, [0, 0] * x.ndim
        place = 2 * (x.ndim - 1 - axis)
        before[place], after[place + 1] = 1, 1
        phi = phi + nn.pad(p, before) - nn.pad(p, after)
    return x, phi, phi.double().square().sum().sqrt()


def log_sum_factors(d, beta, lam, theta):
    """The slope of the envelope of log-sum at each pixel's norm, over that norm."""
    norm = d.square().sum(dim=0).sqrt()
    over = (norm - beta * lam / theta).clamp(min=0)
    root = torch.minimum(((norm - theta).square() + 4 * theta * over).sqrt(), norm + theta)
    return torch.minimum(norm / beta, 2 * lam / (norm + theta + root)) / norm.clamp(min=1e-30)


def bends(x):
    """Second differences of each channel: along columns, along rows, and of both."""
    across = nn.pad(x.diff(n=2, dim=2), (1, 1))
    down = nn.pad(x.diff(n=2, dim=1), (0, 0, 1, 1))
    return 0.5 * across, 0.5 * down, 0.5 * 2**0.5 * nn.pad(x.diff(dim=1).diff(dim=2), (0, 1, 0, 1))


def colour_step(x, y, phi, norm, gamma, beta):
    """The same of a picture in colour: log-sum of the norms of a pixel's first and of its second differences."""
    x = x - gamma / norm * phi
    dx, dy = nn.pad(x.diff(dim=2), (0, 1)), nn.pad(x.diff(dim=1), (0, 0, 0, 1))
    across, down, both = bends(x)
    first = log_sum_factors(torch.cat([dx, dy]), beta, 0.96, 2.0)
    second = log_sum_factors(torch.cat([across, down, both]), beta, 2.56, 4.0)
    dx, dy, across, down, both = first * dx, first * dy, 0.5 * second * across, 0.5 * second * down, 0.5 * 2**0.5 * second * both
    phi = x - y + nn.pad(dx, (1, 0))[..., :-1] - dx + nn.pad(dy, (0, 0, 1, 0))[:, :-1] - dy
    phi = phi + nn.pad(across, (1, 0))[..., :-1] - 2 * across + nn.pad(across, (0, 1))[..., 1:]
    phi = phi + nn.pad(down, (0, 0, 1, 0))[:, :-1] - 2 * down + nn.pad(down, (0, 0, 0, 1))[:, 1:]
    left = nn.pad(both, (1, 0))[..., :-1] - both
    phi = phi + nn.pad(left, (0, 0, 1, 0))[:, :-1] - left
    return x, phi, phi.double().square().sum().sqrt()


def measure(shape, dtype, step=step):
    y = torch.randn(shape, device="cuda", dtype=dtype)
    torch._dynamo.reset()
    compiled = torch.compile(step)
    gamma, beta = torch.tensor(0.01, device="cuda", dtype=dtype), torch.tensor(0.5, device="cuda", dtype=dtype)
    x, phi, norm = compiled(y, y, y, torch.ones((), device="cuda", dtype=torch.float64), gamma, beta)
    times = []
    for _ in range(25):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(10):
            x, phi, norm = compiled(x, y, phi, norm, gamma, beta)
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 10)
    return sorted(times[5:])[10]


if __name__ == "__main__":
    print(torch.__version__, torch.cuda.get_device_name())
    for shape, dtype in [((256,) * 2, torch.float32), ((1024,) * 2, torch.float32), ((4096,) * 2, torch.float32),
                         ((4096,) * 2, torch.float64), ((16384,) * 2, torch.float32), ((512,) * 3, torch.float32)]:
        print(f"{'×'.join(map(str, shape)):<14} {dtype}  {measure(shape, dtype):.4f} ms a step", flush=True)
        torch.cuda.empty_cache()
    print(f"4096×4096 colour  {measure((3, 4096, 4096), torch.float32, colour_step):.4f} ms a step")
