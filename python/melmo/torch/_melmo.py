"""The optimizer."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import torch

from melmo._networks import norms, schedules
from melmo._networks.certificate import Certificate
from melmo.torch import _averages, _counting, _families, _moves
from melmo.torch._bundle import Bundle
from melmo.torch._certificate import certificate

_MOMENTA = ("heavy-ball", "nesterov", "storm")


class Melmo(torch.optim.Optimizer):  # type: ignore[misc]
    """m ← (1−α)m + α∇f_B(x), φ = m + ∇g_β(x), x ← x + γ·lmo(φ): stochastic MELMO.

    Every option can differ between parameter groups.

    Parameters
    ----------
    params : iterable
        Parameters, or parameter groups; `melmo.torch.groups` makes them from a network.
    lr : float, default 0.02
        γ, in units of `radius`. PyTorch's schedulers change it.
    alpha : float or schedule, default 0.05
        α: 0.05 is what others call a momentum of 0.95. The first 1/α steps take the mean of their gradients (α = 1/k), so that the
        very first one does not linger.
    momentum : str, default 'heavy-ball'
        Or ``"nesterov"`` (φ sees the new gradient once more), or ``"storm"``: the gradient of the same batch at the last point
        corrects m. STORM needs ``step(closure)`` and evaluates the closure twice.
    norm : str, default 'auto'
        Of a layer: ``"spectral"``, ``"row"``, ``"column"``, ``"linf"``, ``"nuclear"``, ``"l2"``; auto is spectral for matrices
        and filters and ℓ2 for vectors.
    radius : float or str, default 'muon'
        How long a step of lr = 1 is: ``"muon"``, ``"scion"`` and ``"rms"`` scale with the widths of the layer.
    penalty : dict, optional
        What `melmo.torch.penalty` gives; none for no penalty.
    beta : float or schedule, default 1
        β, the smoothing; at most 1/(2ρ).
    tied : bool, default False
        Whether unit i of the group is unit i of all of its parameters together: a filter, its bias and its normalisation.
    ball : float, optional
        r: the constrained form x ← (1−γ/r)x + γ·lmo(φ), which is weight decay. Iterates stay in (or move to) ‖x‖ ≤ r·radius.
    check_every : int, default 100
        After how many steps it is looked whether polar factors failed their check. Failed ones were replaced by φ/‖φ‖_F.
    capturable : bool, default False
        Whether a step can be captured in a CUDA graph: steps are counted on the device, and schedules are evaluated there. Give `lr`
        as a tensor on the device where it changes. Take a few steps before the capture, as for any graph.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 0.02,
        *,
        alpha: Any = 0.05,
        momentum: str = "heavy-ball",
        norm: str = "auto",
        radius: Any = "muon",
        penalty: dict[str, Any] | None = None,
        beta: Any = 1.0,
        tied: bool = False,
        ball: float | None = None,
        check_every: int = 100,
        capturable: bool = False,
    ) -> None:
        options = {"lr": lr, "alpha": alpha, "momentum": momentum, "norm": norm, "radius": radius, "penalty": penalty}
        options |= {"beta": beta, "tied": tied, "ball": ball, "frozen": False, "k": 0}
        options |= {"check_every": check_every, "capturable": capturable}
        super().__init__(params, options)
        self._forget()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        _check(self.param_groups[-1])
        _counting.place(self.param_groups)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step; with a closure, the loss that it returned."""
        loss = self._evaluate(closure)
        _counting.advance(self.param_groups)
        phis = _averages.update(self.param_groups, self.state)
        self._add_slopes(phis)
        _moves.move(self.param_groups, phis, self._constants, self._failed)
        self._steps += 1
        if self._steps % self.defaults["check_every"] == 0 and not _counting.capturing():
            self.check()
        return loss

    def _evaluate(self, closure: Callable[[], Any] | None) -> Any:
        """Calls the closure, where there is one; for STORM first at the point before, where its gradients are kept."""
        storm = [p for g in self.param_groups if g["momentum"] == "storm" for p in g["params"]]
        if storm and closure is None:
            raise ValueError("momentum='storm' evaluates a batch twice: call step(closure)")
        if closure is None:
            return None
        before = [p for p in storm if "before" in self.state[p]]
        with torch.enable_grad():
            if before:
                here = [p.detach().clone() for p in before]
                for p in before:
                    p.data.copy_(self.state[p]["before"])
                closure()
                for p, x in zip(before, here, strict=True):
                    self.state[p]["last"] = None if p.grad is None else p.grad.detach().clone()
                    p.data.copy_(x)
            loss = closure()
        for p in storm:
            self.state[p]["before"] = p.detach().clone()
        return loss

    def _add_slopes(self, phis: dict[Any, Any]) -> None:
        """φ ← m + ∇g_β(x), families with one penalty together."""
        bundled: dict[Any, tuple[list[list[Any]], dict[str, Any]]] = {}
        for group in self.param_groups:
            for params in _families.families(group):
                if group["penalty"]["on"] in ("entries", "singular-values"):
                    _families.add_slope(group, params, phis)
                    continue
                first = params[0]
                key = (id(group["penalty"]), group["beta"], _counting.key(group), group["frozen"], len(params), first.dtype, first.device)
                bundled.setdefault(key, ([], group))[0].append(params)
        for families, group in bundled.values():
            known = (id(group["penalty"]), *(id(params[0]) for params in families))
            if known not in self._bundles:
                self._bundles[known] = Bundle(families, group["penalty"])
            k = _counting.number(group)
            self._bundles[known].add_slopes(phis, schedules.at(group["beta"], k, torch), k, group["frozen"])

    def check(self) -> int:
        """How many polar factors failed their check since the last look; warns if any did. Waits for the device.

        `step` calls it every `check_every` steps. Whoever replays a captured graph calls it now and then.
        """
        count = sum(int(failed) for failed in self._failed.values())
        for failed in self._failed.values():
            failed.zero_()
        if count:
            warnings.warn(
                f"melmo.torch: {count} polar factors of the last {self.defaults['check_every']} steps failed their check (their bracket of the dual "
                "norm is empty); φ/‖φ‖_F was used. Are the gradients finite, and is the learning rate too large?",
                RuntimeWarning,
                stacklevel=3,
            )
        return count

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._forget()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """A saved state. Graphs that were captured before it have to be captured anew."""
        super().load_state_dict(state_dict)
        self._forget()
        _counting.place(self.param_groups)

    def _forget(self) -> None:
        """What is made from the groups is made anew when it is needed."""
        self._failed: dict[torch.device, torch.Tensor] = {}
        self._bundles: dict[Any, Bundle] = {}
        self._constants: dict[Any, Any] = {}
        self._steps = 0

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def finalize(self, keep: float | Callable[[list[Any]], list[Any]] | None = None, freeze: bool | str = False) -> float:
        """x ← prox_{βg}(x): exact zeros. Returns the share of units that are not zero.

        Parameters
        ----------
        keep : float or callable, optional
            Keeps this share of the units instead: those that are largest beside the mean of their layer. Or a function that is given the
            magnitudes of the units of every family, in the order of the groups, and returns as many tensors that are 0 where a unit goes and
            1 where it stays.
        freeze : bool or 'zeros', default False
            Whether training goes on with the units that are left: zeros stay zeros, and the penalty is switched off. With
            ``"zeros"`` it stays on for the others: units can be taken out little by little.
        """
        if freeze not in (True, False, "zeros"):
            raise ValueError(f"freeze: expected True, False or 'zeros', got {freeze!r}")
        penalised = [(group, params) for group in self.param_groups for params in _families.families(group)]
        if not penalised:
            raise ValueError("finalize: no parameter group has a penalty")
        made = [(group, params, _families.family(params, group)) for group, params in penalised]
        factors = _families.factors([f for _, _, f in made], keep)
        for (_, params, family), factor in zip(made, factors, strict=True):
            _families.write(params, family, factor)
        for group, _ in penalised:
            group["frozen"] = freeze
        return float(sum(int((f != 0).sum()) for f in factors) / sum(f.numel() for f in factors))

    def shrink(self, network: torch.nn.Sequential) -> torch.nn.Sequential:
        """The smaller dense network: `melmo.torch.shrink`."""
        from melmo.torch._shrink import shrink

        return shrink(network)

    def certificate(self, loader: Iterable[Any], loss: Callable[[Any], Any]) -> Certificate:
        """What one full pass over the data proves about this point: see `Certificate`.

        `loss(batch)` is the mean loss of a batch, with its graph; a batch counts as many samples as its first tensor has rows.
        The network should be in the mode (train or eval) that f means. Gradients are cleared.
        """
        return certificate(self, loader, loss)


def _check(group: dict[str, Any]) -> None:
    """Bad options are refused when they are given."""
    for name in ("alpha", "beta"):
        group[name] = schedules.checked(name, group[name])
    if not float(group["lr"]) >= 0.0:
        raise ValueError(f"lr: expected a number from 0 on, got {group['lr']}")
    if group["momentum"] not in _MOMENTA:
        raise ValueError(f"momentum: {group['momentum']!r} is none of {', '.join(_MOMENTA)}")
    if group["ball"] is not None and not group["ball"] > 0.0:
        raise ValueError(f"ball: expected r > 0, got {group['ball']}")
    for p in group["params"]:
        norms.radius(group["radius"], norms.chosen(group["norm"], p.shape), p.shape)
    if group["tied"] and (group["penalty"] is None or group["penalty"]["on"] in ("entries", "singular-values")):
        raise ValueError("tied: units are shared between parameters only under a penalty on rows, columns or heads")
    for params in _families.families(group):
        with torch.no_grad():
            _families.family(params, group)
