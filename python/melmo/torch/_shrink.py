"""The smaller dense network: units that are zero for every input are taken out."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn

_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_NORMALISING = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
#: What works on every channel alone and keeps zeros zero.
_POOLS = (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)
_ADAPTIVE = (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d, nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d)
_ACTIVATIONS = (nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.GELU, nn.SiLU, nn.ELU, nn.Tanh, nn.Hardswish, nn.PReLU, nn.Softsign, nn.Mish)
_KEEPING = (*_POOLS, *_ADAPTIVE, *_ACTIVATIONS, nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.Identity, nn.Flatten)


def shrink(network: nn.Sequential) -> nn.Sequential:
    """A copy of the network without the units that are zero, or that nobody reads; it computes the same function.

    A `Sequential` (nested ones too) of convolutions, linear layers, batch normalisations, and layers that keep zeros zero channel by
    channel (pools, usual activations, dropout, flatten). Anything else is refused with the reason.
    """
    if not isinstance(network, nn.Sequential):
        raise ValueError(f"shrink: expected a Sequential, got {type(network).__name__}: which units feed which layer cannot be known")
    layers = list(_flat(copy.deepcopy(network), ""))
    places = [i for i, (_, layer) in enumerate(layers) if isinstance(layer, (nn.Linear, *_CONVOLUTIONS))]
    for name, layer in layers:
        _refuse(name, layer)
    for at, after in zip(reversed(places[:-1]), reversed(places[1:]), strict=True):
        between = [layer for _, layer in layers[at + 1 : after]]
        _cut(layers[at], between, layers[after][1])
    return nn.Sequential(*(layer for _, layer in layers)).train(network.training)


def _flat(network: nn.Sequential, prefix: str) -> Any:
    for name, layer in network.named_children():
        if isinstance(layer, nn.Sequential):
            yield from _flat(layer, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", layer


def _refuse(name: str, layer: Any) -> None:
    if isinstance(layer, _CONVOLUTIONS) and layer.groups != 1:
        raise ValueError(f"shrink: layer {name} is a convolution of {layer.groups} groups: its channels cannot be removed one by one")
    if isinstance(layer, nn.PReLU) and layer.num_parameters != 1:
        raise ValueError(f"shrink: layer {name} has a slope for every channel, which is not supported")
    if not isinstance(layer, (nn.Linear, *_CONVOLUTIONS, *_NORMALISING, *_KEEPING)):
        raise ValueError(f"shrink: layer {name} is a {type(layer).__name__}: it is not known to keep zeros zero, channel by channel")


@torch.no_grad()  # type: ignore[untyped-decorator]
def _cut(named: tuple[str, Any], between: list[Any], after: Any) -> None:
    """Removes the units of a layer that are zero, or that the next layer with weights does not read."""
    name, layer = named
    units = layer.weight.shape[0]
    inputs = after.weight.shape[1]
    if inputs % units:
        raise ValueError(f"shrink: layer {name} has {units} outputs and the next layer {inputs} inputs: no whole number for each")
    each = inputs // units
    if each > 1 and not any(isinstance(m, nn.Flatten) for m in between):
        raise ValueError(f"shrink: layer {name} has {units} outputs, the next layer {inputs} inputs, and no Flatten lies between")
    zero = _zero(layer.weight) & _zero(layer.bias)
    for norm in (m for m in between if isinstance(m, _NORMALISING)):
        zero = _after(norm, zero)
    read = after.weight.reshape(after.weight.shape[0], units, -1).abs().amax(dim=(0, 2)) > 0
    keep = torch.nonzero(~zero & read).reshape(-1)
    if len(keep) == 0:  # all are zero: one is left, so that shapes are shapes
        keep = torch.zeros(1, dtype=torch.long, device=layer.weight.device)
    _take_outputs(layer, keep)
    for norm in (m for m in between if isinstance(m, _NORMALISING)):
        _take_channels(norm, keep)
    columns = (keep[:, None] * each + torch.arange(each, device=keep.device)).reshape(-1)
    after.weight = nn.Parameter(after.weight[:, columns].clone())
    _count(after, "in", len(columns))


def _zero(x: Any) -> Any:
    return torch.tensor(True) if x is None else x.reshape(x.shape[0], -1).abs().amax(dim=1) == 0


def _after(norm: Any, zero: Any) -> Any:
    """Which channels are zero after a normalisation: gain and offset 0; or input, mean and offset 0."""
    still = norm.running_mean == 0 if norm.running_mean is not None else torch.ones_like(zero)
    if not norm.affine:
        return zero & still
    return (norm.bias == 0) & ((norm.weight == 0) | (zero & still))


def _take_outputs(layer: Any, keep: Any) -> None:
    layer.weight = nn.Parameter(layer.weight[keep].clone())
    if layer.bias is not None:
        layer.bias = nn.Parameter(layer.bias[keep].clone())
    _count(layer, "out", len(keep))


def _take_channels(norm: Any, keep: Any) -> None:
    for name in ("weight", "bias"):
        if getattr(norm, name) is not None:
            setattr(norm, name, nn.Parameter(getattr(norm, name)[keep].clone()))
    for name in ("running_mean", "running_var"):
        if getattr(norm, name) is not None:
            setattr(norm, name, getattr(norm, name)[keep].clone())
    norm.num_features = len(keep)


def _count(layer: Any, side: str, count: int) -> None:
    kind = "features" if isinstance(layer, nn.Linear) else "channels"
    setattr(layer, f"{side}_{kind}", count)
