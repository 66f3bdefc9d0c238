"""Losses f: a class for every row of the catalogue. A loss of your own is any ``fun(x)`` that returns the value and the
gradient."""

from melmo._catalogue import make
from melmo._loss import Loss as Loss

_made = make(Loss, "losses", __name__)
globals().update(_made)
__all__ = ["Loss", *_made]
