"""Training networks that end small: spectral and other steps with a penalty of units, in PyTorch.

>>> import torch, melmo.torch
>>> net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
>>> optimizer = melmo.torch.Melmo(melmo.torch.groups(net, melmo.torch.penalty("l1", 1e-2, on="filters")), lr=0.02)
"""

try:
    import torch as _torch
except ImportError as error:
    raise ImportError("melmo.torch needs PyTorch, which is not installed: see pytorch.org for how to get it") from error

from melmo._networks.certificate import Certificate as Certificate
from melmo._networks.penalties import penalty as penalty
from melmo._networks.schedules import geometric as geometric
from melmo._networks.schedules import horizon as horizon
from melmo._networks.schedules import power as power
from melmo._networks.schedules import ramp as ramp
from melmo.torch._groups import groups as groups
from melmo.torch._melmo import Melmo as Melmo
from melmo.torch._shrink import shrink as shrink

__all__ = ["Certificate", "Melmo", "geometric", "groups", "horizon", "penalty", "power", "ramp", "shrink"]
