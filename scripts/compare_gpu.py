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


def measure(shape, dtype):
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
