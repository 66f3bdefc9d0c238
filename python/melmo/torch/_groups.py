"""Parameter groups of a network: norms by layer, and units that can be zero together."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

_WEIGHTED = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
_NORMALISING = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def groups(network: nn.Module, penalty: dict[str, Any] | None = None, *, last: str = "spectral", **options: Any) -> list[dict[str, Any]]:
    """Parameter groups for `Melmo`: one for each layer with weights, one for everything else.

    A penalty on rows (filters) goes on every convolution and linear layer but the last, whose outputs are the network's; a filter is
    tied to its bias and to the batch normalisation that follows it, so that the unit is zero for every input when it is zero. Other
    penalties go on the weights alone. Embeddings step in the row norm, the last layer in the norm `last`, other weights in the
    spectral norm and vectors in ℓ2. `options` are those of `Melmo`, for all groups.
    """
    layers = [m for m in network.modules() if isinstance(m, (*_WEIGHTED, *_NORMALISING, nn.Embedding))]
    weighted = [m for m in layers if isinstance(m, _WEIGHTED)]
    rows = penalty is not None and penalty["on"] == "rows"
    made: list[dict[str, Any]] = []
    for index, layer in enumerate(layers):
        if isinstance(layer, _NORMALISING):
            continue
        norm = "row" if isinstance(layer, nn.Embedding) else (last if weighted and layer is weighted[-1] else "auto")
        group = {"norm": norm, **options, "params": [layer.weight]}
        inner = isinstance(layer, _WEIGHTED) and layer is not weighted[-1]
        if penalty is not None and inner:
            group |= {"penalty": penalty, "tied": rows}
            group["params"] = [layer.weight, *(_unit(layer, layers[index + 1 :]) if rows else [])]
        made.append(group | ({"norm": "auto"} if len(group["params"]) > 1 else {}))
    taken = {p for group in made for p in group["params"]}
    rest = [p for p in dict.fromkeys(network.parameters()) if p not in taken]
    unique = _once(made)
    return unique + ([{**options, "params": rest}] if rest else [])


def _unit(layer: Any, following: list[Any]) -> list[torch.nn.Parameter]:
    """The bias of a layer, and the gain and offset of the batch normalisation that comes next."""
    own = [layer.bias] if layer.bias is not None else []
    if following and isinstance(following[0], _NORMALISING) and following[0].affine:
        if following[0].num_features == layer.weight.shape[0]:
            own += [following[0].weight, following[0].bias]
    return own


def _once(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Shared weights belong to the first layer that has them."""
    seen: set[Any] = set()
    for group in made:
        group["params"] = [p for p in group["params"] if p not in seen]
        seen |= set(group["params"])
    return [group for group in made if group["params"]]
