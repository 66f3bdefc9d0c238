# Made from the catalogue by `python -m melmo._stubs`.
from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from melmo._geometry import Geometry as Geometry

__all__ = ['Geometry', 'L2', 'L1', 'Linf', 'Spectral', 'Nuclear', 'Column', 'Row']

class L2(Geometry):
    """d = −φ/‖φ‖₂: normalised gradient descent.

    See Also
    --------
    melmo.lmo, melmo.dual_norm : the same as functions."""
    def __init__(self) -> None: ...

class L1(Geometry):
    """d = −sign(φᵢ)eᵢ, i = argmax|φᵢ|: Gauss–Southwell: one coordinate a step.

    See Also
    --------
    melmo.lmo, melmo.dual_norm : the same as functions."""
    def __init__(self) -> None: ...

class Linf(Geometry):
    """d = −sign(φ): sign descent.

    See Also
    --------
    melmo.lmo, melmo.dual_norm : the same as functions."""
    def __init__(self) -> None: ...

class Spectral(Geometry):
    """d = −UVᵀ: spectral descent: every singular direction moves equally far.

    Parameters
    ----------
    oracle : str, default 'auto'
        How UVᵀ is found: auto, newton-schulz:6, minimax:8, minimax32:8, gram, svd.

    See Also
    --------
    melmo.lmo, melmo.dual_norm : the same as functions."""
    def __init__(self, oracle: str = ...) -> None: ...
    @property
    def oracle(self) -> str: ...

class Nuclear(Geometry):
    """d = −u₁v₁ᵀ: rank-one steps along the leading singular pair.

    See Also
    --------
    melmo.lmo, melmo.dual_norm : the same as functions."""
    def __init__(self) -> None: ...

class Column(Geometry):
    """dⱼ = −φⱼ/‖φⱼ‖₂: every column moves equally far.

    See Also
    --------
    melmo.lmo, melmo.dual_norm : the same as functions."""
    def __init__(self) -> None: ...

class Row(Geometry):
    """dᵢ = −φᵢ/‖φᵢ‖₂: every row moves equally far.

    See Also
    --------
    melmo.lmo, melmo.dual_norm : the same as functions."""
    def __init__(self) -> None: ...
