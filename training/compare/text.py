"""A small language model: characters of the King James Bible, four blocks of attention (8 heads) and MLP (1024 units), 256 wide, 256 characters of
context, 1000 steps of 32 pieces. Units are attention heads and units of the MLPs; the score is bits a character."""

import lzma
import math
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from compare.units import heads

WIDE, HEADS, HIDDEN, BLOCKS, CONTEXT, BATCH = 256, 8, 1024, 4, 256, 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.out = nn.Linear(WIDE, 3 * WIDE, bias=False), nn.Linear(WIDE, WIDE, bias=False)
        self.up, self.down = nn.Linear(WIDE, HIDDEN, bias=False), nn.Linear(HIDDEN, WIDE, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (part.view(b, t, HEADS, -1).transpose(1, 2) for part in self.into(F.rms_norm(x, (WIDE,))).split(WIDE, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, WIDE))
        return x + self.down(F.gelu(self.up(F.rms_norm(x, (WIDE,)))))


class Model(nn.Module):
    def __init__(self, letters):
        super().__init__()
        self.letter, self.place = nn.Embedding(letters, WIDE), nn.Embedding(CONTEXT, WIDE)
        self.blocks, self.head = nn.ModuleList(Block() for _ in range(BLOCKS)), nn.Linear(WIDE, letters, bias=False)
        self.register_buffer("span", torch.arange(CONTEXT))
        for table in (self.letter, self.place):
            nn.init.normal_(table.weight, std=0.3)

    def forward(self, x):
        x = self.letter(x) + self.place(self.span[: x.shape[1]])
        for block in self.blocks:
            x = block(x)
        return self.head(F.rms_norm(x, (WIDE,)))


def where(rule):
    return {name: rule[name] for name in ("on", "heads", "axes", "stacked")}


class Text:
    name = "text"
    larger_is_better = False

    def __init__(self, folder, device, steps=1000, batch=BATCH):
        packed, plain = Path(folder) / "kjv.txt.xz", Path(folder) / "kjv.txt"
        raw = np.frombuffer(lzma.decompress(packed.read_bytes()) if packed.exists() else plain.read_bytes(), np.uint8)
        letters, coded = np.unique(raw, return_inverse=True)
        text = torch.from_numpy(coded.astype(np.int64)).to(device)
        cut = len(text) // 20
        self.train, self.held, self.test = text[: -2 * cut], text[-2 * cut : -cut], text[-cut:]
        self.device, self.steps, self.batch, self.letters = device, steps, batch, len(letters)

    def network(self):
        return Model(self.letters).to(self.device)

    def families(self, net):
        made = [heads([b.into.weight, b.out.weight], HEADS, (3, 1)) for b in net.blocks]
        return made + [heads([b.up.weight, b.down.weight], HIDDEN) for b in net.blocks]

    def groups(self, net, penalty, options, setting):
        """`table` and `head` are how much longer the steps of the embeddings and of the last layer are than Muon's widths say."""
        groups = [{"params": f.params, **({"penalty": penalty(where(f.rule)), "tied": True} if penalty else {})} for f in self.families(net)]
        tables, radius = [net.letter.weight, net.place.weight], setting.get("table", 1.0) * WIDE**0.5
        groups += [{"params": tables, "norm": "row", "radius": radius}, {"params": [net.head.weight], "radius": setting.get("head", 1.0)}]
        return [{**options, **g} for g in groups]

    def matrices(self, net):
        return [p for f in self.families(net) for p in f.params]

    def unit_costs(self):
        each = [4 * WIDE * WIDE // HEADS + CONTEXT * WIDE // HEADS] * BLOCKS + [2 * WIDE] * BLOCKS
        return [c / np.mean(each) for c in each]

    def cost(self, counts):
        """Multiply-adds of the blocks for one character; attention looks back half the context on average."""
        each = [4 * WIDE * WIDE // HEADS + CONTEXT * WIDE // HEADS] * BLOCKS + [2 * WIDE] * BLOCKS
        return sum(int(n) * c for n, c in zip(counts, each))

    def begin(self, seed):
        made = torch.Generator(self.device).manual_seed(seed)
        self.starts = torch.randint(0, len(self.train) - CONTEXT - 1, (self.steps, self.batch, 1), device=self.device, generator=made)
        self.span = torch.arange(CONTEXT + 1, device=self.device)

    def loss(self, net, k):
        piece = self.train[self.starts.index_select(0, k)[0] + self.span]
        return F.cross_entropy(net(piece[:, :-1]).flatten(0, 1).float(), piece[:, 1:].flatten())

    def measured(self, net, part):
        text = self.held if part == "held" else self.test
        pieces = text[: (len(text) - 1) // CONTEXT * CONTEXT + 1].unfold(0, CONTEXT + 1, CONTEXT)
        total = 0.0
        with torch.no_grad(), torch.autocast(self.device.type, torch.bfloat16, enabled=text.is_cuda):
            for some in pieces.split(128):
                total += F.cross_entropy(net(some[:, :-1]).flatten(0, 1).float(), some[:, 1:].flatten(), reduction="sum").double()
        return float(total) / (len(pieces) * CONTEXT) / math.log(2)

    def shrunk(self, net):
        """`melmo.torch.shrink` takes no such network apart."""

