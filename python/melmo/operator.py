"""Operators T: a class for every row of the catalogue. Matrices, SciPy sparse matrices and anything with ``matvec`` and
``rmatvec`` are operators too."""

from melmo._catalogue import make
from melmo._operator import Operator as Operator

_made = make(Operator, "operators", __name__)
globals().update(_made)
__all__ = ["Operator", *_made]
