"""What all terms of the catalogue share: arguments that are kept as they were given."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from melmo._catalogue import Row


def _rebuild(kind: type[Term], arguments: dict[str, Any]) -> Term:
    term = kind.__new__(kind)
    term._take(dict(arguments))
    return term


class Term:
    """A term of the catalogue with its arguments. It does not change; it can be compared, copied and pickled."""

    __slots__ = ("_arguments", "_built")
    _row: ClassVar[Row]
    __signature__: ClassVar[inspect.Signature]
    _arguments: dict[str, Any]
    _built: dict[Any, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            known = ", ".join(self.__signature__.parameters) or "nothing"
            raise TypeError(f"{type(self).__name__}: {error}; it takes {known}") from None
        bound.apply_defaults()
        self._take(dict(bound.arguments))

    def _take(self, arguments: dict[str, Any]) -> None:
        self._arguments = arguments
        self._built = {}
        self._check()

    def _check(self) -> None:
        """Refuses what makes no sense."""

    if not TYPE_CHECKING:  # the stubs have the names

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or name not in self._arguments:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            return self._arguments[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._arguments]

    def __reduce__(self) -> Any:
        return _rebuild, (type(self), self._arguments)

    def __copy__(self) -> Any:
        return self

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Term)
        mine, theirs = self._arguments, other._arguments
        return mine.keys() == theirs.keys() and all(_same(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        return hash((type(self), tuple(sorted(self._arguments))))

    def __repr__(self) -> str:
        parameters = self.__signature__.parameters
        shown = []
        for name, value in self._arguments.items():
            default = parameters[name].default
            if parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
                shown += [_brief(part) for part in value]
            elif default is inspect.Parameter.empty:
                shown.append(_brief(value))
            elif not _same(value, default):
                shown.append(f"{name}={_brief(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if not isinstance(a, Term) and (hasattr(a, "shape") or hasattr(b, "shape")):
        if np.shape(a) != np.shape(b) or type(a) is not type(b):
            return False
        different = a != b
        return not (different.nnz if hasattr(different, "nnz") else np.any(different & ~(_nan(a) & _nan(b))))
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b)


def _nan(a: Any) -> Any:
    return np.isnan(a) if np.asarray(a).dtype.kind == "f" else np.zeros(np.shape(a), dtype=bool)


def _brief(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype") and np.size(value) > 8:
        return f"<{'×'.join(map(str, value.shape))} {value.dtype}>"
    # A number of NumPy reads like any other.
    return repr(value.item() if isinstance(value, np.generic) else value)
