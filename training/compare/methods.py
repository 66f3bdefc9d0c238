"""The four methods on one task: their optimizers, their settings, and how units go."""

import torch

import melmo.torch as mt
from compare.graph import Step
from compare.rivals import Muon, ProxAdamW, Ramda
from compare.units import chosen

METHODS = ("melmo", "muon+pruning", "proxadamw", "ramda")


class Training:
    """One run. The learning rate falls in a straight line (RAMDA's by two restarts); units go little by little (Zhu and Gupta's cubic
    schedule) from `begin` to `end`, or at once where those are one, until the share of multiply-adds is left."""

    def __init__(self, task, method, setting, share, seed):
        self.task, self.method, self.setting, self.share = task, method, setting, share
        device = task.device
        torch.manual_seed(seed)
        self.net = task.network()
        self.families = task.families(self.net)
        task.begin(seed)
        self.steps, self.every = task.steps, max(task.steps // 60, 1)
        self.begin, self.end = int(setting.get("begin", 0.75) * self.steps), int(setting.get("end", 0.75) * self.steps)
        self.k = torch.zeros(1, dtype=torch.int64, device=device)
        self.lr, self.first = torch.full((), setting["lr"], device=device), setting["lr"]
        self.masks = [torch.ones(len(f.sizes()), device=device) for f in self.families]
        self.rate_of_rest, self.rest = None, setting.get("rest", 3e-3)  # of AdamW beside Muon
        self.optimizers = getattr(self, "_" + method.replace("+", "_"))(setting)
        self.step = Step(self.body, self.net.parameters(), device)

    def _melmo(self, setting):
        lam, pruned = setting.get("lam", 0.0), self.share < 1
        options = {"beta": 10.0, "momentum": "nesterov", "ball": setting.get("ball")}

        def penalty(where):
            shape = {"mu": setting["mu"] / lam} if setting.get("penalty") == "mcp" else {}
            ramp = mt.ramp(0.0, 1.0, 0, max(int(0.2 * self.steps), 1))
            return mt.penalty(setting.get("penalty", "l1"), lam, weight=ramp, **where, **shape)

        groups = self.task.groups(self.net, penalty if pruned else None, options, setting)
        made = mt.Melmo(groups, lr=self.lr, capturable=True)
        if pruned:
            made.finalize(keep=1.0, freeze="zeros")
        return [made]

    def _muon_pruning(self, setting):
        matrices = self.task.matrices(self.net)
        inside = {id(m) for m in matrices}
        rest = [p for p in self.net.parameters() if id(p) not in inside]
        self.rate_of_rest = torch.full((), self.rest, device=self.task.device)
        adam = torch.optim.AdamW(rest, lr=self.rate_of_rest, weight_decay=0.0, fused=self.lr.is_cuda, capturable=self.lr.is_cuda)
        return [Muon(matrices, self.lr, decay=setting.get("decay", 0.0)), adam]

    def _families_and_rest(self, setting):
        lam = torch.full((), setting.get("lam", 0.0), device=self.task.device)
        groups = [{"params": f.params, "family": f, "lam": lam} for f in self.families]
        inside = {id(p) for f in self.families for p in f.params}
        self.lam = lam
        return groups + [{"params": [p for p in self.net.parameters() if id(p) not in inside]}]

    def _proxadamw(self, setting):
        return [ProxAdamW(self._families_and_rest(setting), self.lr)]

    def _ramda(self, setting):
        return [Ramda(self._families_and_rest(setting), self.lr)]

    def body(self):
        """One step, all of it on the device."""
        device = self.task.device
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda", cache_enabled=False):
            loss = self.task.loss(self.net, self.k)
        loss.backward()
        if self.method != "ramda":
            left = 1 - self.k[0] / self.steps
            self.lr.copy_(self.first * left)
            if self.rate_of_rest is not None:
                self.rate_of_rest.copy_(self.rest * left)
        for optimizer in self.optimizers:
            optimizer.step()
        if self.method != "melmo" and self.share < 1:  # its own optimizer keeps zeros zero
            for family, mask in zip(self.families, self.masks):
                family.multiply(mask)
        self.k.add_(1)

    def run(self, steps=None):
        for k in range(steps or self.steps):
            if self.method == "ramda" and k in (self.end, int(0.9 * self.steps)):
                self.optimizers[0].restart()
                self.lr.mul_(0.3)
            self.step()
            if self.share < 1 and self.begin <= k <= self.end and ((k - self.begin) % self.every == 0 or k == self.end):
                self.prune(k)
        if self.method == "melmo":
            self.optimizers[0].check()

    def prune(self, k):
        done = (k - self.begin) / max(self.end - self.begin, 1) if k < self.end else 1.0
        share = self.share + (1 - self.share) * (1 - done) ** 3

        def keep(sizes):
            return chosen(sizes, share, self.task.cost, self.task.unit_costs(), self.setting.get("cost", 0.0))

        if self.method == "melmo":
            self.optimizers[0].finalize(keep=keep, freeze=True if k == self.end else "zeros")
        else:
            for mask, found, family in zip(self.masks, keep([f.sizes() for f in self.families]), self.families):
                mask.copy_(found)
                family.multiply(mask)
        if k == self.end and self.method == "melmo":
            self.step.changed()  # without the penalty
        elif k == self.end and self.method in ("proxadamw", "ramda"):
            self.lam.zero_()

    def outcome(self):
        """Scores on the data held back and on the test data, and what is left."""
        counts = [int((f.sizes() > 0).sum()) for f in self.families]
        totals = [len(f.sizes()) for f in self.families]
        return {
            "held": self.task.measured(self.net, "held"),
            "test": self.task.measured(self.net, "test"),
            "shrunk_test": self.task.shrunk(self.net),
            "multiply_adds": self.task.cost(counts) / self.task.cost(totals),
            "units": counts,
        }
