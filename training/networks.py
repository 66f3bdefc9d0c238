"""Accuracy against multiply-adds kept: stochastic MELMO beside Muon with gradual magnitude pruning, ProxAdamW and RAMDA.

    apt-get install dataset-fashion-mnist
    python training/networks.py --data /usr/share/datasets/fashion-mnist --results training/networks.json --seconds 600 --workers 6

Fashion-MNIST, mirrored and shifted by up to two pixels; six plain convolutions 64–256 without normalisation, a mean over the picture and
a linear layer; 10 epochs of batches of 512, bf16 products, the learning rate falls in a straight line. Filters are removed with their
biases, until the share of multiply-adds is left. Every method has at most six settings, compared on one seed at one share (10 %) by the
accuracy on the last 5000 training images; the best then trains on the same 55 000 with other seeds, and the test images are looked at.
Cells that are in the results file are not computed again; those that time did not reach stay empty.
"""

import argparse
import gzip
import json
import multiprocessing
import os
import queue
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

import melmo.torch as mt
from rivals import Muon, ProxAdamW, Ramda

WIDTHS = (64, 64, 128, 128, 256, 256)
SHARES = (0.5, 0.25, 0.1, 0.03)
TUNED_AT = 0.1
SEEDS = (1, 2, 3, 4, 5)
BATCH = 512
SETTINGS = {
    "melmo": [
        {"lr": 0.02, "penalty": "mcp", "lam": 5e-5, "begin": 0.1, "end": 0.6},
        {"lr": 0.02, "penalty": "mcp", "lam": 2e-4, "begin": 0.1, "end": 0.6},
        {"lr": 0.02, "penalty": "mcp", "lam": 8e-4, "begin": 0.1, "end": 0.6},
        {"lr": 0.02, "penalty": "mcp", "lam": 1e-5, "begin": 0.1, "end": 0.75},
        {"lr": 0.02, "penalty": "l1", "lam": 1e-5, "begin": 0.1, "end": 0.75},
        {"lr": 0.03, "penalty": "mcp", "lam": 1e-5, "begin": 0.1, "end": 0.75},
    ],
    "muon+pruning": [
        {"lr": 0.02, "begin": 0.1, "end": 0.6},
        {"lr": 0.02, "begin": 0.1, "end": 0.75},
        {"lr": 0.03, "begin": 0.1, "end": 0.6},
    ],
    "proxadamw": [{"lr": lr, "lam": lam} for lr in (1e-3, 3e-3) for lam in (3e-5, 1e-4, 3e-4)],
    "ramda": [{"lr": lr, "lam": lam} for lr in (3e-3, 1e-2) for lam in (1e-5, 3e-5, 1e-4)],
}
DENSE = [("melmo", {"lr": 0.02}), ("muon+pruning", {"lr": 0.02}), ("proxadamw", {"lr": 1e-3})]


def network(widths):
    layers, before = [], 1
    for index, width in enumerate(widths):
        layers += [nn.Conv2d(before, width, 3, padding=1), nn.ReLU()] + ([nn.MaxPool2d(2)] if index % 2 else [])
        before = width
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))
    for layer in net:
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)
    return net


def convolutions(net):
    return [layer for layer in net if isinstance(layer, nn.Conv2d)]


def live(net):
    """The filters of each convolution that are not zero with their bias."""
    return [(c.weight.detach().flatten(1).abs().amax(1) > 0) | (c.bias.detach() != 0) for c in convolutions(net)]


def multiply_adds(kept):
    """Of the convolutions, from the numbers of filters that are left; every pair of them halves the picture."""
    before, total = 1, 0
    for index, count in enumerate(kept):
        total += (28 // 2 ** (index // 2)) ** 2 * 9 * before * count
        before = count
    return total


def keep_for(net, share):
    """The share of filters to keep, largest beside the mean of their layer first, so that this share of multiply-adds is left."""
    norms = [torch.cat([c.weight.detach().flatten(1), c.bias.detach()[:, None]], 1).norm(dim=1) for c in convolutions(net)]
    scores = [(n / n.mean().clamp_min(1e-30)).cpu() for n in norms]
    order = torch.cat(scores).sort(descending=True).values
    whole = multiply_adds([len(s) for s in scores])
    low, high = 1, len(order)
    while low < high:
        middle = (low + high + 1) // 2
        kept = [int((s >= order[middle - 1]).sum()) for s in scores]
        low, high = (middle, high) if multiply_adds(kept) <= share * whole else (low, middle - 1)
    return low / len(order), [(s >= order[low - 1]) for s in scores]


class Trainer:
    """One method: its optimizer, what it does at each step, and how it decides which filters stay."""

    def __init__(self, method, setting, share, net, steps):
        self.net, self.share, self.steps, self.setting, self.method = net, share, steps, setting, method
        self.mask, self.lr = None, setting["lr"]
        layers = convolutions(net)
        # The stronger the cut, the stronger the penalty: λ is given for the share that was tuned.
        lam = setting.get("lam", 0.0) * (TUNED_AT / share) ** 0.5 if share < 1 else 0.0
        self.decided = int(setting.get("end", 0.75) * steps)
        if method == "melmo":
            penalty = None
            if lam:
                shape = {"mu": 2.0 / lam} if setting["penalty"] == "mcp" else {}
                ramp = mt.ramp(0.0, 1.0, 0, max(int(0.2 * steps), 1))
                penalty = mt.penalty(setting["penalty"], lam, on="filters", weight=ramp, **shape)
            self.optimizer = mt.Melmo(mt.groups(net, penalty, beta=10.0, momentum="nesterov"), lr=self.lr)
        elif method == "muon+pruning":
            matrices = [c.weight for c in layers]
            rest = [p for p in net.parameters() if all(p is not m for m in matrices)]
            self.optimizer = Muon([{"params": matrices}, {"params": rest, "adam": True, "lr": 3e-3}], lr=self.lr)
        else:
            made = [{"params": [c.weight, c.bias], "lam": lam} for c in layers] + [{"params": list(net[-1].parameters())}]
            self.optimizer = ProxAdamW(made, lr=self.lr) if method == "proxadamw" else Ramda(made, lr=self.lr)
        self.first = [group["lr"] for group in self.optimizer.param_groups]

    def step(self, k):
        if self.method == "ramda":  # its authors restart when the rate falls
            if k in (self.decided, int(0.9 * self.steps)):
                self.optimizer.restart()
                for group in self.optimizer.param_groups:
                    group["lr"] *= 0.3
        else:
            for group, first in zip(self.optimizer.param_groups, self.first):
                group["lr"] = first * (1 - k / self.steps)
        self.optimizer.step()
        if self.share < 1:
            self.prune(k)

    def prune(self, k):
        """Takes filters out little by little (Zhu and Gupta's cubic schedule) from `begin` to `end`; all at once where those are one."""
        begin, every = int(self.setting.get("begin", 0.75) * self.steps), max(self.steps // 60, 1)
        if begin <= k <= self.decided and ((k - begin) % every == 0 or k == self.decided):
            done = (k - begin) / max(self.decided - begin, 1) if k < self.decided else 1.0
            keep, self.mask = keep_for(self.net, self.share + (1 - self.share) * (1 - done) ** 3)
            if self.method == "melmo":
                self.optimizer.finalize(keep=keep, freeze=True if k == self.decided else "zeros")
            for group in self.optimizer.param_groups:
                if "lam" in group and k == self.decided:
                    group["lam"] = 0.0
        if self.mask is not None and self.method != "melmo":  # its own optimizer keeps zeros zero
            self.apply()

    @torch.no_grad()
    def apply(self):
        if self.mask[0].device != self.net[0].weight.device:
            self.mask = [m.to(self.net[0].weight.device) for m in self.mask]
        for c, mask in zip(convolutions(self.net), self.mask):
            c.weight.mul_(mask[:, None, None, None])
            c.bias.mul_(mask)


def load(folder, device, limit=None):
    def read(name, offset):
        with gzip.open(Path(folder) / name) as file:
            return np.frombuffer(file.read(), np.uint8, offset=offset)

    data = []
    for part in ("train", "t10k"):
        x = torch.tensor(read(f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)[:limit])
        y = torch.tensor(read(f"{part}-labels-idx1-ubyte.gz", 8)[:limit].astype(np.int64))
        data.append((x.to(device).float().div_(255).sub_(0.2860).div_(0.3530), y.to(device)))
    (x, y), test = data
    held = len(x) // 12
    return {"train": (x[:-held], y[:-held]), "held": (x[-held:], y[-held:]), "test": test}


def moved(x, generator):
    """Mirrored and shifted by up to two pixels, each picture on its own."""
    n = len(x)
    padded = nn.functional.pad(x, (2, 2, 2, 2))
    at = torch.randint(0, 5, (2, n, 1), device=x.device, generator=generator)
    span = torch.arange(28, device=x.device)
    columns = torch.where(torch.rand(n, 1, device=x.device, generator=generator) < 0.5, span, span.flip(0)) + at[1]
    rows = span + at[0]
    return padded[torch.arange(n, device=x.device)[:, None, None], 0, rows[:, :, None], columns[:, None, :]][:, None]


def measured(net, part):
    with torch.no_grad(), torch.autocast(part[0].device.type, torch.bfloat16, enabled=part[0].is_cuda):
        hits = sum((net(x).argmax(1) == y).sum() for x, y in zip(part[0].split(2048), part[1].split(2048)))
    return 100 * float(hits) / len(part[0])


def run(method, setting, share, seed, data, epochs=10, widths=WIDTHS):
    """Trains once; accuracies, and what is left."""
    begin = time.time()
    x, y = data["train"]
    torch.manual_seed(seed)
    generator = torch.Generator(x.device).manual_seed(seed)
    net = network(widths).to(x.device).to(memory_format=torch.channels_last)
    per = len(x) // BATCH
    trainer = Trainer(method, setting, share, net, epochs * per)
    for k in range(epochs * per):
        if k % per == 0:
            order = torch.randperm(len(x), device=x.device, generator=generator)
        rows = order[k % per * BATCH :][:BATCH]
        batch = moved(x[rows], generator).to(memory_format=torch.channels_last)
        with torch.autocast(x.device.type, torch.bfloat16, enabled=x.is_cuda):
            loss = nn.functional.cross_entropy(net(batch), y[rows], label_smoothing=0.0)
        trainer.optimizer.zero_grad()
        loss.backward()
        trainer.step(k)
    kept = [int(mask.sum()) for mask in live(net)]
    whole = multiply_adds(widths)
    small = mt.shrink(net)
    return {
        "held": measured(net, data["held"]),
        "test": measured(net, data["test"]),
        "shrunk_test": measured(small, data["test"]),
        "multiply_adds": multiply_adds(kept) / whole,
        "filters": sum(kept) / sum(widths),
        "seconds": round(time.time() - begin, 2),
    }


def step_times(data):
    """Milliseconds of an optimizer's step on the dense network, the median of five times twenty."""
    x, y = data["train"]
    times = {}
    for name in ("melmo", "melmo, no penalty", "muon+pruning"):
        net = network(WIDTHS).to(x.device).to(memory_format=torch.channels_last)
        setting = {"lr": 1e-4, "penalty": "mcp", "lam": 1e-4, "end": 1.0, "begin": 1.0}
        trainer = Trainer(name.split(",")[0], setting, 1.0 if "no" in name or "muon" in name else 0.1, net, 1000)
        nn.functional.cross_entropy(net(x[:64]), y[:64]).backward()
        found = []
        for _ in range(6):
            if x.is_cuda:
                torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(20):
                trainer.optimizer.step()
            if x.is_cuda:
                torch.cuda.synchronize()
            found.append((time.perf_counter() - begin) / 20 * 1e3)
        times[name] = round(float(np.median(found[1:])), 3)
    return times


def worker(tasks, answers, options):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.backends.cudnn.benchmark = True
    data = load(options.data, device, options.limit)
    widths = tuple(w // options.narrow for w in WIDTHS)
    while (task := tasks.get()) is not None:
        try:
            answers.put((task, run(*task[1:], data, options.epochs, widths)))
        except Exception as error:  # a cell that failed stays empty, and says why
            answers.put((task, {"error": repr(error)}))


def name_of(method, setting, share, seed):
    return json.dumps([method, setting, share, seed], sort_keys=True)


def waiting(results):
    """The runs that are left, dense and tuning before the table; None where the table waits for tuning."""
    runs, done = [], results["runs"]
    for method, setting in DENSE:
        runs.append(("dense", method, setting, 1.0, 0))
    for number in range(max(map(len, SETTINGS.values()))):
        runs += [("tuning", m, s[number], TUNED_AT, 0) for m, s in SETTINGS.items() if number < len(s)]
    for seed in SEEDS:
        for share in (0.1, 0.03, 0.25, 0.5):
            runs += [("table", m, best(results, m), share, seed) for m in SETTINGS]
    return [r for r in runs if r[2] is not None and name_of(*r[1:]) not in done]


def best(results, method):
    """The setting with the best accuracy on the images held back, once all of them have run."""
    found = [results["runs"].get(name_of(method, s, TUNED_AT, 0)) for s in SETTINGS[method]]
    if any(f is None for f in found):
        return None
    return SETTINGS[method][int(np.argmax([f.get("held", 0.0) for f in found]))]


def table(results):
    """method → share → the runs of the table: mean test accuracy, its deviation and how many seeds; None where there are none."""
    rows = {}
    for method in SETTINGS:
        setting, cells = best(results, method), {}
        for share in SHARES:
            runs = [results["runs"].get(name_of(method, setting, share, seed)) for seed in SEEDS]
            runs = [r for r in runs if r and "test" in r]
            cells[str(share)] = None if not runs else {
                "test": round(float(np.mean([r["test"] for r in runs])), 3),
                "deviation": round(float(np.std([r["test"] for r in runs])), 3),
                "multiply_adds": round(float(np.mean([r["multiply_adds"] for r in runs])), 4),
                "filters": round(float(np.mean([r["filters"] for r in runs])), 4),
                "seeds": len(runs),
            }
        rows[method] = {"setting": setting, "cells": cells}
    return rows


def save(results, path):
    results["table"] = table(results)
    beside = Path(f"{path}.part")
    beside.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    os.replace(beside, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--results", required=True)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--limit", type=int, help="use this many images only: for a trial")
    parser.add_argument("--narrow", type=int, default=1, help="divide the widths: for a trial")
    options = parser.parse_args()
    began = time.time()
    path = Path(options.results)
    results = json.loads(path.read_text()) if path.exists() else {"runs": {}}
    spawn = multiprocessing.get_context("spawn")
    tasks, answers = spawn.Queue(), spawn.Queue()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if "step_ms" not in results:
        results["step_ms"] = step_times(load(options.data, device, 4096))
        results["device"] = torch.cuda.get_device_name() if device == "cuda" else "CPU"
        print(results["step_ms"], flush=True)
    crew = [spawn.Process(target=worker, args=(tasks, answers, options), daemon=True) for _ in range(options.workers)]
    for process in crew:
        process.start()
    sent, out, longest = set(), 0, 0.0
    while True:
        left = options.seconds - (time.time() - began) - 1.3 * longest
        for task in waiting(results):
            if out < options.workers and left > 0 and name_of(*task[1:]) not in sent:
                tasks.put(task)
                sent.add(name_of(*task[1:]))
                out += 1
        if not out:
            break
        try:
            task, found = answers.get(timeout=max(options.seconds - (time.time() - began), 0) + 15)
        except queue.Empty:
            break  # whoever worked on what is missing is gone: its cells stay empty
        out -= 1
        longest = max(longest, found.get("seconds", 0.0))
        results["runs"][name_of(*task[1:])] = found
        save(results, path)
        print(f"{time.time() - began:6.1f}", task, found, flush=True)
    for _ in crew:
        tasks.put(None)


if __name__ == "__main__":
    main()
