"""Penalties g: a class for every row of the catalogue. A penalty of your own is any object with ``value`` and ``prox``."""

from melmo._catalogue import make
from melmo._penalty import Penalty as Penalty
from melmo._sum import Sum as Sum

_made = make(Penalty, "penalties", __name__)
globals().update(_made)
__all__ = ["Penalty", "Sum", *_made]
