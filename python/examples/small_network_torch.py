# %% [markdown]
# # A network that ends small, in PyTorch
#
# `melmo.torch.Melmo` trains with spectral steps and a penalty on whole filters. Filters are taken out little by little; in the end what is left is a smaller
# dense network. The data are scikit-learn's 1797 handwritten digits, 8 × 8 pixels each: seconds on a CPU.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from sklearn.datasets import load_digits
from torch import nn

import melmo.torch as mt

torch.manual_seed(0)
torch.set_num_threads(1)
digits = load_digits()
x = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 8 - 1
y = torch.tensor(digits.target)
order = torch.randperm(len(x))
train, test = order[:1400], order[1400:]


def network():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        nn.Linear(256, 10),
    )  # fmt: skip


def accuracy(net):
    with torch.no_grad():
        return 100 * (net.eval()(x[test]).argmax(1) == y[test]).float().mean().item()


# %% [markdown]
# The penalty is a group ℓ1 on filters; `groups` ties each filter to its bias and to the batch normalisation behind it, so that the whole channel is zero with it.
# `finalize(keep=…, freeze="zeros")` keeps the largest filters and goes on; with `freeze=True` the penalty is off as well.


# %%
def trained(share, steps=180):
    torch.manual_seed(1)
    net = network()
    penalty = mt.penalty("l1", 1e-5, on="filters", weight=mt.ramp(0.0, 1.0, 0, 40))
    optimizer = mt.Melmo(mt.groups(net, penalty, beta=10.0, momentum="nesterov"), lr=0.02)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, steps)
    for k in range(steps):
        rows = train[torch.randint(len(train), (64,))]
        optimizer.zero_grad()
        nn.functional.cross_entropy(net.train()(x[rows]), y[rows]).backward()
        optimizer.step()
        schedule.step()
        if 40 <= k <= 120 and k % 20 == 0:
            left = share + (1 - share) * (1 - (k - 40) / 80) ** 3
            optimizer.finalize(keep=left, freeze=True if k == 120 else "zeros")
    return net, optimizer


def parameters(net):
    return sum(p.numel() for p in net.parameters())


shares, scores, sizes = [1.0, 0.5, 0.25, 0.1], [], []
for share in shares:
    net, optimizer = trained(share)
    small = optimizer.shrink(net.eval())
    assert torch.allclose(net(x[:50]), small(x[:50]), atol=1e-3)
    scores.append(accuracy(small))
    sizes.append(parameters(small))
    print(f"{share:4.0%} of the filters: {parameters(small):6d} parameters, {scores[-1]:.1f} % right")

# %% [markdown]
# `certificate` makes full passes over the data: the numbers of this point, not estimates of them.

# %%
loader = [(x[rows], y[rows]) for rows in train.split(200)]
numbers = optimizer.certificate(loader, lambda batch: nn.functional.cross_entropy(net.eval()(batch[0]), batch[1]))
print(f"loss {numbers.loss:.4f} over {numbers.samples} pictures, dual norm of its gradient {numbers.dual_norm:.3f}")

# %%
figure, axis = plt.subplots(figsize=(6, 3.5))
axis.semilogx(sizes, scores, "o-")
axis.set_xlabel("parameters of the smaller network")
axis.set_ylabel("digits read right, %")
figure.tight_layout()
Path("pictures").mkdir(exist_ok=True)
figure.savefig("pictures/small_network_torch.png", dpi=80)
