"""What a step of an optimizer takes on the dense image network: milliseconds, called from Python and replayed from a captured graph."""

import time

import numpy as np
import torch
from torch import nn

import melmo.torch as mt
from compare.rivals import Muon


def optimizers(task, net):
    """name → what makes a step. Muon has AdamW for the parameters that are no matrices, as published."""

    def melmo(penalty, capturable):
        lr = torch.tensor(1e-4, device=task.device) if capturable else 1e-4
        groups = task.groups(net, penalty, {"beta": 10.0, "momentum": "nesterov"})
        return [mt.Melmo(groups, lr=lr, capturable=capturable)]

    def muon(_, capturable):
        matrices = task.matrices(net)
        inside = {id(m) for m in matrices}
        rest = [p for p in net.parameters() if id(p) not in inside]
        cuda = task.device.type == "cuda"
        lr = torch.tensor(1e-4, device=task.device) if capturable else 1e-4
        adam = torch.optim.AdamW(rest, lr=lr, fused=cuda, capturable=cuda and capturable)
        return [Muon(matrices, lr), adam]

    def l1(where):
        return mt.penalty("l1", 1e-5, **where)

    def mcp(where):
        return mt.penalty("mcp", 1e-5, mu=2e5, **where)

    return {"muon": (muon, None), "melmo": (melmo, None), "melmo, l1": (melmo, l1), "melmo, mcp": (melmo, mcp)}


def measure(task, repeats=5, each=20):
    found = {}
    cuda = task.device.type == "cuda"
    wait = torch.cuda.synchronize if cuda else lambda: None
    for name in optimizers(task, task.network()):
        net = task.network()
        make, penalty = optimizers(task, net)[name]
        task.begin(0)
        nn.functional.cross_entropy(net(task.train[0][:64].float()), task.train[1][:64]).backward()
        for captured in (False, True) if cuda else (False,):
            used = make(penalty, captured)

            def step(used=used):
                for optimizer in used:
                    optimizer.step()

            for _ in range(3):
                step()
            if captured:
                torch.cuda.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                    step()
                step = graph.replay
            times = []
            for _ in range(repeats + 1):
                wait()
                begin = time.perf_counter()
                for _ in range(each):
                    step()
                wait()
                times.append((time.perf_counter() - begin) / each * 1e3)
            found[name + (", captured" if captured else "")] = round(float(np.median(times[1:])), 3)
    return found
