# Made from the catalogue by `python -m melmo._stubs`.
from collections.abc import Mapping, Sequence
from typing import Any

from melmo._geometry import Geometry as Geometry

__all__ = ['Geometry', 'L2', 'L1', 'Linf', 'Spectral', 'Nuclear', 'Column', 'Row']

class L2(Geometry):
    def __init__(self) -> None: ...

class L1(Geometry):
    def __init__(self) -> None: ...

class Linf(Geometry):
    def __init__(self) -> None: ...

class Spectral(Geometry):
    def __init__(self, oracle: str = ...) -> None: ...
    @property
    def oracle(self) -> str: ...

class Nuclear(Geometry):
    def __init__(self) -> None: ...

class Column(Geometry):
    def __init__(self) -> None: ...

class Row(Geometry):
    def __init__(self) -> None: ...
