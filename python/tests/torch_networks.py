"""Small networks of PyTorch, and how they are trained, for the tests of `melmo.torch`."""

import pytest
import torch
from torch import nn


@pytest.fixture(autouse=True)
def seeded():
    torch.set_num_threads(1)
    torch.manual_seed(0)


def data(count=64):
    x = torch.randn(count, 8)
    return x, (x[:, 0] * x[:, 1] > 0).long()


def network(**options):
    return nn.Sequential(nn.Linear(8, 24, **options), nn.ReLU(), nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 2))


def convolutional():
    return nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2),
        nn.Sequential(nn.Conv2d(6, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.GELU()),
        nn.Flatten(), nn.Linear(8 * 16, 10), nn.Tanh(), nn.Linear(10, 3),
    )  # fmt: skip


def train(net, optimizer, steps=20, batch=None):
    x, y = batch or data()
    loss = None
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()
