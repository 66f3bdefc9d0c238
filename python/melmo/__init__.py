"""Minimise f(x) + g(Tx) with weakly convex g."""

from melmo._melmo import __version__ as __version__
