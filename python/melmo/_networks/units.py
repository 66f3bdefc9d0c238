"""Units: what one magnitude belongs to. Row i of a weight, of its bias and of its normalisation can be one unit."""

from __future__ import annotations

from typing import Any

from melmo._networks import penalties, schedules

Rule = dict[str, Any]


class Numbers:
    """The numbers of a penalty at step k."""

    def __init__(self, rule: Rule, k: Any, xp: Any) -> None:
        self.name: str = rule["name"]
        self.lam = schedules.at(rule["lam"], k, xp)
        self.shape = schedules.at(rule["shape"], k, xp) if "shape" in rule else None
        self.weight = schedules.at(rule["weight"], k, xp)

    def largest_beta(self, unit_weight: float) -> Any:
        """1/(2ρ) of ω·w·ψ; infinite for a convex ψ."""
        rho = penalties.weak_convexity(self.name, self.lam, self.shape) * self.weight * unit_weight
        return float("inf") if isinstance(rho, float) and rho == 0.0 else 0.5 / rho

    def check_beta(self, beta: float, unit_weight: float) -> None:
        """β ≤ 1/(2ρ), or the envelope is none. For numbers that are not traced."""
        largest = float(self.largest_beta(unit_weight))
        if not 0.0 < beta <= largest:
            raise ValueError(f"beta = {beta:g} is not between 0 and 1/(2ρ) = {largest:g} of the penalty {self.name}")


def axis_of(shape: Any, rule: Rule, index: int) -> tuple[int, int, int]:
    """The axis that units of parameter `index` of a family lie along, how many matrices are stacked there, and how many units."""
    axis = rule["axes"][index] if rule["axes"] else (1 if rule["on"] == "columns" else 0)
    axis = min(axis, len(shape) - 1)
    stacked = rule["stacked"][index] if rule["stacked"] else 1
    count = rule["heads"] or int(shape[axis]) // stacked
    if shape[axis] % (stacked * count):
        raise ValueError(f"an axis of {shape[axis]} cannot be cut into {stacked} × {count} units")
    return axis, stacked, count


def _cut(xp: Any, x: Any, rule: Rule, index: int) -> tuple[Any, int]:
    """x as (stacked, units, rest), and the axis that they lay along."""
    axis, stacked, count = axis_of(x.shape, rule, index)
    length = x.shape[axis]
    rest = length // (stacked * count)
    moved = xp.moveaxis(x, axis, 0)
    return moved.reshape(stacked, count, rest * (x.size if isinstance(x.size, int) else x.numel()) // max(length, 1)), axis


def magnitudes(xp: Any, xs: list[Any], rule: Rule) -> tuple[Any, float]:
    """The magnitude of every unit of a family of parameters, and the weight w of a unit."""
    if rule["on"] == "entries":
        return xp.abs(xs[0]), 1.0
    if rule["on"] == "singular-values":
        return xp.linalg.svd(xs[0].reshape(xs[0].shape[0], -1), full_matrices=False)[1], 1.0
    squares, entries = 0.0, 0
    for index, x in enumerate(xs):
        cut, _ = _cut(xp, x, rule, index)
        squares = squares + (cut * cut).sum((0, 2))
        entries += cut.shape[0] * cut.shape[2]
    return xp.sqrt(squares), float(entries) ** 0.5 if rule["scaled"] else 1.0


def rescaled(xp: Any, x: Any, factor: Any, rule: Rule, index: int) -> Any:
    """x with every unit multiplied by its factor."""
    if rule["on"] == "entries":
        return x * factor
    if rule["on"] == "singular-values":
        u, s, v = xp.linalg.svd(x.reshape(x.shape[0], -1), full_matrices=False)
        return ((u * (s * factor)) @ v).reshape(x.shape)
    cut, axis = _cut(xp, x, rule, index)
    moved = xp.moveaxis(x, axis, 0)
    return xp.moveaxis((cut * factor[None, :, None]).reshape(moved.shape), 0, axis)


class Family:
    """Parameters whose units are shared (tied), or one parameter, under a penalty: its prox and envelope at one (x, β, k)."""

    def __init__(self, xp: Any, xs: list[Any], rule: Rule, beta: Any, k: Any) -> None:
        self.xp, self.xs, self.rule, self.beta = xp, xs, rule, beta
        self.numbers = Numbers(rule, k, xp)
        self.s, self.unit_weight = magnitudes(xp, xs, rule)
        scaled = beta * self.numbers.weight * self.unit_weight  # prox_{β·ωw·ψ} = prox_{(βωw)·ψ}
        self.z = penalties.prox(xp, self.numbers.name, self.s, scaled, self.numbers.lam, self.numbers.shape)
        self.kept = self.z / xp.where(self.s > 0.0, self.s, 0.0 * self.s + 1.0)

    def check_beta(self) -> None:
        """β ≤ 1/(2ρ), or the envelope is none. For numbers that are not traced."""
        self.numbers.check_beta(self.beta, self.unit_weight)

    def prox(self) -> list[Any]:
        """prox_{βg}(x)."""
        return [rescaled(self.xp, x, self.kept, self.rule, i) for i, x in enumerate(self.xs)]

    def gradient(self) -> list[Any]:
        """∇g_β(x) = (x − z)/β."""
        lost = (1.0 - self.kept) / self.beta
        return [rescaled(self.xp, x, lost, self.rule, i) for i, x in enumerate(self.xs)]

    def value(self, s: Any) -> Any:
        """g at magnitudes s."""
        n = self.numbers
        return (n.weight * self.unit_weight * penalties.value(self.xp, n.name, s, n.lam, n.shape)).sum()

    def envelope(self) -> Any:
        """g_β(x)."""
        return self.value(self.z) + ((self.s - self.z) ** 2).sum() / (2.0 * self.beta)
