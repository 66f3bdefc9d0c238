"""The optimizer."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import torch

from melmo._networks import norms, schedules
from melmo._networks.certificate import Certificate
from melmo.torch import _families
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
    ) -> None:
        options = {"lr": lr, "alpha": alpha, "momentum": momentum, "norm": norm, "radius": radius, "penalty": penalty}
        options |= {"beta": beta, "tied": tied, "ball": ball, "frozen": False, "k": 0}
        self._check_every = check_every
        self._failed: dict[torch.device, torch.Tensor] = {}
        super().__init__(params, options)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        _check(self.param_groups[-1])

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step; with a closure, the loss that it returned."""
        loss = self._evaluate(closure)
        moves = []
        for group in self.param_groups:
            group["k"] += 1
            moves += self._directions(group)
        self._move(moves)
        if self._failed and self.param_groups[0]["k"] % self._check_every == 0:
            self._look()
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
                torch._foreach_copy_([p.data for p in before], [self.state[p]["before"] for p in before])
                closure()
                for p, x in zip(before, here, strict=True):
                    self.state[p]["last"] = None if p.grad is None else p.grad.detach().clone()
                    p.data.copy_(x)
            loss = closure()
        for p in storm:
            self.state[p]["before"] = p.detach().clone()
        return loss

    def _directions(self, group: dict[str, Any]) -> list[tuple[Any, Any, dict[str, Any]]]:
        """(parameter, φ, group) for all that have a gradient."""
        there = [p for p in group["params"] if p.grad is not None]
        phis = {p: self._averaged(p, group) for p in there}
        if group["penalty"] is not None and group["frozen"] is not True:
            for params in _families.families(group):
                family = _families.family(params, group)
                for p, part in zip(params, family.gradient(), strict=True):
                    if p in phis:
                        phis[p] = phis[p] + part
        if group["frozen"]:
            _families.masked(group, phis)
        return [(p, phi, group) for p, phi in phis.items()]

    def _averaged(self, p: Any, group: dict[str, Any]) -> Any:
        """m, updated; with Nesterov's look ahead."""
        if p.grad.is_sparse:
            raise ValueError("melmo.torch: sparse gradients are not supported; use dense ones (sparse=False)")
        grad, state = p.grad, self.state[p]
        alpha = float(schedules.averaging(group["alpha"], group["k"]))
        if "m" not in state:
            state["m"] = grad.detach().to(torch.promote_types(p.dtype, torch.float32), copy=True)
            return state["m"]
        m = state["m"]
        if state.get("last") is not None:
            m.sub_(state.pop("last")).mul_(1.0 - alpha).add_(grad)  # m ← ∇f_B(x) + (1−α)(m − ∇f_B(x before))
        else:
            m.lerp_(grad.to(m.dtype), alpha)
        return m.lerp(grad.to(m.dtype), alpha) if group["momentum"] == "nesterov" else m

    def _move(self, moves: list[tuple[Any, Any, dict[str, Any]]]) -> None:
        """x ← x + γ·lmo(φ), matrices of one shape and norm together."""
        stacks: dict[Any, list[tuple[Any, Any, dict[str, Any]]]] = {}
        for p, phi, group in moves:
            norm = norms.chosen(group["norm"], p.shape)
            shape = norms.matrix_shape(p.shape)
            tall = norm == "spectral" and shape[1] > shape[0]
            matrix = phi.reshape(shape)
            key = (norm, tuple(sorted(shape)) if norm == "spectral" else shape, phi.dtype, p.device)
            stacks.setdefault(key, []).append((p, matrix.mT if tall else matrix, group))
        for (norm, _, _, device), stack in stacks.items():
            work = torch.bfloat16 if device.type == "cuda" else None
            found, failed = norms.direction(torch, norm, torch.stack([m for _, m, _ in stack]), work)
            if failed is not None:
                self._failed[device] = self._failed.get(device, 0) + failed.sum()
            for (p, matrix, group), d in zip(stack, found.unbind(), strict=True):
                _advance(p, d if matrix.shape == norms.matrix_shape(p.shape) else d.mT, norm, group)

    def _look(self) -> None:
        count = sum(int(failed) for failed in self._failed.values())
        self._failed.clear()
        if count:
            warnings.warn(
                f"melmo.torch: {count} polar factors of the last {self._check_every} steps failed their check (their bracket of the dual "
                "norm is empty); φ/‖φ‖_F was used. Are the gradients finite, and is the learning rate too large?",
                RuntimeWarning,
                stacklevel=3,
            )

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def finalize(self, keep: float | None = None, freeze: bool | str = False) -> float:
        """x ← prox_{βg}(x): exact zeros. Returns the share of units that are not zero.

        Parameters
        ----------
        keep : float, optional
            Keeps this share of the units instead: those that are largest beside the mean of their layer.
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
        factors = [f.kept for _, _, f in made] if keep is None else _families.largest([f for _, _, f in made], keep)
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


def _advance(p: Any, d: Any, norm: str, group: dict[str, Any]) -> None:
    gamma = float(group["lr"])
    if group["ball"] is not None:
        p.mul_(1.0 - min(gamma / group["ball"], 1.0))
    p.add_(d.reshape(p.shape).to(p.dtype), alpha=-gamma * norms.radius(group["radius"], norm, p.shape))


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
