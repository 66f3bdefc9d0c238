"""Arguments that are numbers, words or counts: checked by name, before anything else sees them."""

from __future__ import annotations

import os
from typing import Any

#: Whole numbers above this are not told apart by floating-point ones.
LARGEST = 2**53


def number(name: str, value: Any) -> float:
    """A number: a TypeError where it is none, a ValueError where it is too large for one.

    >>> number("lam", 1)
    1.0
    """
    if not isinstance(value, (str, bytes, bytearray)):
        try:
            return float(value)
        except OverflowError:
            raise ValueError(f"{name}: too large for a floating-point number") from None
        except (TypeError, ValueError):
            pass
    raise TypeError(f"{name}: expected a number, got {brief(value)}")


def optional_number(name: str, value: Any) -> float | None:
    """A number, or None."""
    return None if value is None else number(name, value)


def whole(name: str, value: Any, least: int = 0, most: int = LARGEST) -> int:
    """A whole number between two others; 5.0 is one, True is none.

    >>> whole("max_iter", 5.0)
    5
    """
    found = value if isinstance(value, int) else number(name, value)
    if isinstance(value, bool) or found != found or found in (float("inf"), float("-inf")) or int(found) != found:
        raise ValueError(f"{name} = {brief(value)}: must be a whole number, at least {least}")
    if not least <= found <= most:
        raise ValueError(f"{name} = {brief(value)}: must be a whole number from {least} to {most}")
    return int(found)


def optional_whole(name: str, value: Any, least: int = 0, most: int = LARGEST) -> int | None:
    """A whole number, or None."""
    return None if value is None else whole(name, value, least, most)


def word(name: str, value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a string, got {brief(value)}")
    return value


def several(name: str, value: Any, expected: str) -> list[Any]:
    """What comes one after another. A sparse matrix is refused: SciPy's own code would follow its indices, wherever they lead.

    >>> several("groups", ((0, 1), (2,)), "lists of entries")
    [(0, 1), (2,)]
    """
    if not hasattr(value, "tocsr"):
        try:
            return list(value)
        except TypeError:
            pass
    raise TypeError(f"{name}: expected {expected}, got {brief(value)}")


def function(name: str, value: Any) -> Any:
    """Something that can be called."""
    if not callable(made(name, value)):
        raise TypeError(f"{name}: expected a function, got {brief(value)}")
    return value


def made(name: str, value: Any) -> Any:
    """An object, not the class that it would be made from."""
    if isinstance(value, type):
        raise TypeError(f"{name}: {value.__name__} is a class; expected an object of it, {value.__name__}(…)")
    return value


def brief(value: Any) -> str:
    """A value in a message: short, whatever it is."""
    try:
        text = repr(value)
    except Exception:  # a repr of the user's own
        text = ""
    return text if 0 < len(text) <= 60 and "\n" not in text else type(value).__name__


def described(value: Any) -> str:
    """A value in a message where a term was expected: a name or a number as it is, an array by its shape."""
    shape = getattr(value, "shape", None)
    return f"an array of the shape {tuple(shape)}" if isinstance(shape, tuple) and hasattr(value, "dtype") else brief(value)


def expect_room(what: str, numbers: int, itemsize: int = 8) -> None:
    """Refuses what this machine's memory cannot hold, before anybody asks for it."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # a system that does not say
        return
    if numbers * itemsize > memory:
        raise ValueError(f"{what}: {numbers * itemsize / 2**30:.3g} GiB would be needed, and there are {memory / 2**30:.3g}")
