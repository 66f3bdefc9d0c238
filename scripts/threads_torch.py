"""The steps of `cargo bench -p melmo --bench threads` in PyTorch on CPU, in double precision: milliseconds on 1 thread and more.

    python scripts/threads_torch.py [--counts 1,16] [--seconds 2] [words that keep rows]
"""

import argparse
import os
import time

import torch

torch.set_grad_enabled(False)
torch.set_default_dtype(torch.float64)
# Six steps of Newton–Schulz, with the paper's coefficients.
QUINTIC = (3.4445, -4.7750, 2.0315)


def slope(u, beta, lam, mu):
    """∇g_β of the minimax concave penalty, for β < μ."""
    s = u.abs()
    return torch.minimum(s / beta, (mu * lam - s) / (mu - beta)).clamp_(min=0.0).copysign_(u)


def polar(phi):
    """UVᵀ of φ = UΣVᵀ, nearly."""
    a, b, c = QUINTIC
    x = phi / phi.norm()
    wide = x.shape[0] < x.shape[1]
    x = x.T if wide else x
    for _ in range(6):
        g = x.T @ x
        x = x @ (b * g + c * (g @ g)).add_(torch.eye(len(g)), alpha=a)
    return x.T if wide else x


def tv(n, spectral):
    generator = torch.Generator().manual_seed(2)
    i = torch.arange(n) // 32
    y = ((i[:, None] + i[None, :]) % 2).double() + 0.1 * torch.rand(n, n, generator=generator)
    x, k = y.clone(), 0

    def step():
        nonlocal x, k
        k += 1
        beta, gamma = k ** (-1 / 3), 1e-3 * k ** (-2 / 3)
        phi = x - y
        across, down = slope(x[:, 1:] - x[:, :-1], beta, 0.05, 2.0), slope(x[1:] - x[:-1], beta, 0.05, 2.0)
        phi[:, 1:] += across
        phi[:, :-1] -= across
        phi[1:] += down
        phi[:-1] -= down
        x = x - gamma * polar(phi) if spectral else x.sub(phi, alpha=float(gamma / phi.norm()))

    return step


def factorise(rows, cols, rank):
    generator = torch.Generator().manual_seed(1)
    y = torch.rand(rows, cols, generator=generator)
    w, h, k = torch.randn(rows, rank, generator=generator), torch.randn(rank, cols, generator=generator), 0

    def step():
        nonlocal w, h, k
        k += 1
        beta, gamma = k ** (-1 / 3), 1e-3 * k ** (-2 / 3)
        residual = w @ h - y
        phi_w = 2.0 * (residual @ h.T) + slope(w, beta, 1.0, 3.0)
        phi_h = 2.0 * (w.T @ residual)
        w, h = w - gamma * polar(phi_w), h - gamma * polar(phi_h)

    return step


def triad(n):
    x, d, y = torch.ones(n), torch.full((n,), 2.0), torch.zeros(n)
    return lambda: torch.add(x, d, alpha=3.0, out=y)


ROWS = {
    "triad of 4096²": lambda: triad(4096 * 4096),
    "TV 4096², ℓ2": lambda: tv(4096, False),
    "TV 1024², ℓ2": lambda: tv(1024, False),
    "TV 1024², spectral": lambda: tv(1024, True),
    "TV 256², spectral": lambda: tv(256, True),
    "factorise 4096², r = 64, spectral": lambda: factorise(4096, 4096, 64),
    "factorise 400×4096, r = 30, spectral": lambda: factorise(400, 4096, 30),
    "factorise 8192², r = 64, spectral": lambda: factorise(8192, 8192, 64),
}


def milliseconds(step, seconds):
    step()
    times = []
    ends = time.perf_counter() + seconds
    while len(times) < 2 or (time.perf_counter() < ends and len(times) < 200):
        begun = time.perf_counter()
        step()
        times.append(time.perf_counter() - begun)
    return 1e3 * sorted(times)[len(times) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--counts", default=f"1,{os.cpu_count()}")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each number")
    given = parser.parse_args()
    counts = [int(count) for count in given.counts.split(",")]
    print(f"| PyTorch {torch.__version__}, f64, ms on threads: |", *(f" {count} |" for count in counts))
    print("|---|" + "---|" * len(counts))
    for name, make in ROWS.items():
        if given.words and not any(word in name for word in given.words):
            continue
        step, shown = make(), []
        for count in counts:
            torch.set_num_threads(count)
            shown.append(f" {milliseconds(step, given.seconds):.3f} |")
        print(f"| {name} |" + "".join(shown), flush=True)


if __name__ == "__main__":
    main()
