"""Milliseconds a step of MELMO in the spectral norm, written in PyTorch and compiled: what `cargo bench -p melmo-cuda -- 4096²-spectral factors-32768²` is compared with.

Medians of 20 after a warm-up, by CUDA events. `python scripts/compare_gpu_matrices.py`
"""

import torch
from compare_gpu import slope

# a, b and c of the paper's six steps of Newton-Schulz, times 1024.
TRIPLES = [(3955, -8306, 5008), (3735, -6681, 3463), (3799, -6499, 3211), (4019, -6385, 2906), (2677, -3029, 1162), (2172, -1833, 682)]


def polar(phi, dtype):
    """The polar factor of a matrix, nearly; on its short side."""
    x = phi / phi.norm()
    wide = x.shape[0] < x.shape[1]
    x = (x.T if wide else x).to(dtype)
    for a, b, c in TRIPLES:
        g = x.T @ x
        x = (a / 1024) * x + x @ ((b / 1024) * g + (c / 1024) * (g @ g))
    return (x.T if wide else x).to(phi.dtype)


def step_of_tv(x, y, phi, gamma, beta, dtype):
    """x + γ·lmo(φ), and the gradient of ½‖x − y‖² with MCP on differences there."""
    x = x - gamma * polar(phi, dtype)
    phi = x - y
    for axis in range(2):
        p = slope(x.diff(dim=axis), beta)
        pad = (0, 0, 1, 0), (0, 0, 0, 1)
        if axis == 1:
            pad = (1, 0), (0, 1)
        phi = phi + torch.nn.functional.pad(p, pad[0]) - torch.nn.functional.pad(p, pad[1])
    return x, phi


def step_of_factors(w, h, y, of_w, of_h, gamma, beta, dtype):
    """The same for ‖Y − WH‖² with MCP on W, through the residual."""
    w, h = w - gamma * polar(of_w, dtype), h - gamma * polar(of_h, dtype)
    r = w @ h - y
    return w, h, 2 * r @ h.T + slope(w, beta), 2 * w.T @ r


def step_by_products(w, h, y, of_w, of_h, gamma, beta, dtype):
    """The same by two products with Y."""
    w, h = w - gamma * polar(of_w, dtype), h - gamma * polar(of_h, dtype)
    of_w = 2 * (w @ (h @ h.T) - y @ h.T) + slope(w, beta)
    return w, h, of_w, 2 * ((w.T @ w) @ h - w.T @ y)


def median(work, steps):
    """Milliseconds of a step."""
    work(), work()
    times = []
    for _ in range(24):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(steps):
            work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / steps)
    return sorted(times[4:])[10]


def tv(n, precision, dtype):
    torch.set_float32_matmul_precision(precision)
    torch._dynamo.reset()
    y = torch.randn((n, n), device="cuda")
    compiled = torch.compile(step_of_tv)
    state = [y, y.clone()]
    gamma, beta = (torch.tensor(v, device="cuda") for v in (1e-3, 0.5))

    def work():
        state[0], state[1] = compiled(state[0], y, state[1], gamma, beta, dtype)

    return median(work, 5)


def factors(n, rank, step, precision):
    torch.set_float32_matmul_precision(precision)
    torch._dynamo.reset()
    y = torch.randn((n, n), device="cuda")
    compiled = torch.compile(step)
    state = [torch.randn(shape, device="cuda") for shape in ((n, rank), (rank, n), (n, rank), (rank, n))]
    gamma, beta = (torch.tensor(v, device="cuda") for v in (1e-3, 0.5))

    def work():
        state[:] = compiled(state[0], state[1], y, state[2], state[3], gamma, beta, torch.float32)

    return median(work, 3)


if __name__ == "__main__":
    print(torch.__version__, torch.cuda.get_device_name())
    print(f"4096² spectral, tf32           {tv(4096, 'high', torch.float32):.4f} ms a step", flush=True)
    print(f"4096² spectral, bf16 oracle    {tv(4096, 'high', torch.bfloat16):.4f} ms a step", flush=True)
    print(f"32768², r = 128, f32           {factors(32768, 128, step_of_factors, 'highest'):.4f} ms a step", flush=True)
    print(f"  by two products, f32         {factors(32768, 128, step_by_products, 'highest'):.4f} ms a step", flush=True)
    print(f"  by two products, tf32        {factors(32768, 128, step_by_products, 'high'):.4f} ms a step", flush=True)
