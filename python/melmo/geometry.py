"""Geometries: a class for every norm of the catalogue."""

from melmo._catalogue import make
from melmo._geometry import Geometry as Geometry

_made = make(Geometry, "geometries", __name__)
globals().update(_made)
__all__ = ["Geometry", *_made]
