"""Fashion-MNIST, mirrored and shifted by up to two pixels; six plain convolutions 64–256 without normalisation, a mean over the picture
and a linear layer; 10 epochs of batches of 512. Units are filters with their biases. The score is the accuracy in %."""

import gzip
import lzma
from pathlib import Path

import numpy as np
import torch
from torch import nn

import melmo.torch as mt
from compare.units import filters

WIDTHS = (64, 64, 128, 128, 256, 256)
BATCH = 512


def bytes_of(folder):
    """Pictures and labels, of training and test: Debian's files, or one that has them all."""
    packed = Path(folder) / "images.xz"
    plain = packed.with_suffix(".raw")
    if plain.exists() or packed.exists():
        everything = np.frombuffer(plain.read_bytes() if plain.exists() else lzma.decompress(packed.read_bytes()), np.uint8)
        cut = np.cumsum([60000 * 784, 10000 * 784, 60000])
        x, x_test, y, y_test = np.split(everything, cut)
        return (x, y), (x_test, y_test)

    def read(name, offset):
        with gzip.open(Path(folder) / name) as file:
            return np.frombuffer(file.read(), np.uint8, offset=offset)

    return tuple(
        (read(f"{part}-images-idx3-ubyte.gz", 16), read(f"{part}-labels-idx1-ubyte.gz", 8)) for part in ("train", "t10k")
    )


class Images:
    name = "images"
    larger_is_better = True

    def __init__(self, folder, device, limit=None, narrow=1, epochs=10):
        self.device, self.epochs, self.widths = device, epochs, tuple(w // narrow for w in WIDTHS)
        kind = torch.bfloat16 if device.type == "cuda" else torch.float32
        data = []
        for x, y in bytes_of(folder):
            x = torch.from_numpy(x.reshape(-1, 1, 28, 28)[:limit].copy()).to(device)
            y = torch.from_numpy(y[:limit].astype(np.int64)).to(device)
            data.append((x.float().div_(255).sub_(0.2860).div_(0.3530).to(kind), y))
        (x, y), self.test = data
        held = len(x) // 12
        self.train, self.held = (x[:-held], y[:-held]), (x[-held:], y[-held:])
        self.steps = epochs * (len(self.train[0]) // BATCH)

    def network(self):
        layers, before = [], 1
        for index, width in enumerate(self.widths):
            layers += [nn.Conv2d(before, width, 3, padding=1), nn.ReLU()] + ([nn.MaxPool2d(2)] if index % 2 else [])
            before = width
        net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))
        for layer in net:
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
                nn.init.zeros_(layer.bias)
        return net.to(self.device).to(memory_format=torch.channels_last)

    def families(self, net):
        return [filters([c.weight, c.bias]) for c in net if isinstance(c, nn.Conv2d)]

    def groups(self, net, penalty, options, _=None):
        return mt.groups(net, penalty({"on": "filters"}) if penalty else None, **options)

    def matrices(self, net):
        """What Muon's spectral steps are for; AdamW has the rest."""
        return [c.weight for c in net if isinstance(c, nn.Conv2d)]

    def cost(self, counts):
        """Multiply-adds of the convolutions; every pair of them halves the picture."""
        before, total = 1, 0
        for index, count in enumerate(counts):
            total += (28 // 2 ** (index // 2)) ** 2 * 9 * before * int(count)
            before = int(count)
        return total

    def unit_costs(self):
        """What the network saves without a filter: its own multiply-adds, and those of the layer that reads it."""
        whole = self.cost(self.widths)
        saved = [whole - self.cost([w - (j == i) for j, w in enumerate(self.widths)]) for i in range(len(self.widths))]
        return [s / np.mean(saved) for s in saved]

    def begin(self, seed):
        """All batches of a run, on the device: order, shifts and mirrors."""
        x, device = self.train[0], self.device
        made, per = torch.Generator(device).manual_seed(seed), len(x) // BATCH
        orders = [torch.randperm(len(x), device=device, generator=made)[: per * BATCH].view(per, BATCH) for _ in range(self.epochs)]
        self.order = torch.cat(orders)
        self.shift = torch.randint(0, 5, (self.steps, 2, BATCH, 1), device=device, generator=made)
        self.mirror = torch.rand(self.steps, BATCH, 1, device=device, generator=made) < 0.5
        self.span, self.each = torch.arange(28, device=device), torch.arange(BATCH, device=device)[:, None, None]

    def loss(self, net, k):
        """Of batch k, a number on the device."""
        at = self.order.index_select(0, k)[0]
        shift, mirror = self.shift.index_select(0, k)[0], self.mirror.index_select(0, k)[0]
        padded = nn.functional.pad(self.train[0].index_select(0, at), (2, 2, 2, 2))
        columns = torch.where(mirror, 27 - self.span, self.span) + shift[1]
        batch = padded[self.each, 0, (self.span + shift[0])[:, :, None], columns[:, None, :]][:, None]
        return nn.functional.cross_entropy(net(batch.contiguous(memory_format=torch.channels_last)), self.train[1].index_select(0, at))

    def measured(self, net, part):
        x, y = self.held if part == "held" else self.test
        with torch.no_grad(), torch.autocast(self.device.type, torch.bfloat16, enabled=x.is_cuda):
            hits = sum((net(a).argmax(1) == b).sum() for a, b in zip(x.split(2500), y.split(2500)))
        return 100 * float(hits) / len(x)

    def shrunk(self, net):
        """The score on the test data of the smaller network, made of what is left."""
        return self.measured(mt.shrink(net), "test")
