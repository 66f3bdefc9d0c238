"""Units of a network that can go: families of parameters, what a unit costs, and the rule that says which ones go."""

import numpy as np
import torch

import melmo.torch as mt
from melmo._networks.units import magnitudes
from melmo.torch._bundle import _split


class Family:
    """Parameters whose unit i is one unit; `rule` says along which axes."""

    def __init__(self, params, rule):
        self.params, self.rule = list(params), rule

    def sizes(self):
        return magnitudes(torch, [p.detach() for p in self.params], self.rule)[0]

    def rows(self, tensors):
        """Tensors of the shapes of the parameters as one matrix: a row for each unit."""
        made = []
        for j, x in enumerate(tensors):
            view, axis = _split(x, self.rule, j)
            made.append(view.movedim(axis, 0).flatten(1) if view.ndim > 1 else view[:, None])
        return torch.cat(made, 1)

    def write(self, matrix, tensors):
        """The way back."""
        at = 0
        for j, x in enumerate(tensors):
            view, axis = _split(x, self.rule, j)
            moved = view.movedim(axis, 0)
            width = moved[0].numel()
            moved.copy_(matrix[:, at : at + width].reshape(moved.shape))
            at += width

    @torch.no_grad()
    def multiply(self, mask):
        for j, p in enumerate(self.params):
            view, axis = _split(p.detach(), self.rule, j)
            view.mul_(mask.view([-1 if a == axis else 1 for a in range(view.ndim)]))


def filters(params):
    return Family(params, mt.penalty("l1", 1.0, on="filters"))


def heads(params, count, stacked=(1, 1)):
    return Family(params, mt.penalty("l1", 1.0, on="heads", heads=count, axes=(0, 1), stacked=stacked))


def chosen(sizes, share, cost, unit_costs, power):
    """Masks that leave this share of multiply-adds: those units stay that are largest beside the mean of their family.

    `cost(counts)` are the multiply-adds of so many units in each family. With `power` a unit that costs much has to be larger: its size
    is divided by (what it costs)^power.
    """
    sizes = [s.float().cpu().numpy() for s in sizes]
    scores = [s / max(s.mean(), 1e-30) / c**power for s, c in zip(sizes, unit_costs)]
    for score in scores:
        score[score.argmax()] = np.inf  # a family without units would cut the network in two
    scores = [np.where(s > 0, score, -1.0) for s, score in zip(sizes, scores)]
    order = np.sort(np.concatenate(scores))[::-1]
    whole = cost([len(s) for s in scores])
    low, high = 1, len(order)
    while low < high:
        middle = (low + high + 1) // 2
        counts = [int((s >= order[middle - 1]).sum()) for s in scores]
        low, high = (middle, high) if cost(counts) <= share * whole else (low, middle - 1)
    return [torch.from_numpy((s >= order[low - 1]) & (s > 0)) for s in scores]
