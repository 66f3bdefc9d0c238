"""Classes made from the one catalogue of the library: a row there is a class here."""

from __future__ import annotations

import inspect
from typing import Any, TypedDict, TypeVar

import numpy as np

from melmo import _melmo
from melmo._checks import brief, number


class Parameter(TypedDict):
    """A parameter of a row."""

    name: str
    default: float | str | None
    about: str
    choices: list[str]


class Row(TypedDict, total=False):
    """A row of the catalogue."""

    name: str
    formula: str
    about: str
    parameters: list[Parameter]
    inputs: list[str]
    even: bool
    uses_geometry: bool


_ROWS: dict[str, list[Row]] = _melmo.rows()
#: Parameters that are read off the shape of x, unless they are given, and how.
READ_OFF = {
    "depth": "the first of three axes of x unless given, and 3 where it has fewer",
    "channels": "the first of three axes of x unless given, and 1 where it has fewer",
    "count": "the last axis of x unless given",
}
_ACRONYMS = {"mcp", "scad", "pca", "l1", "l2"}


def catalogue() -> dict[str, list[Row]]:
    """Everything there is, by kind: what ``melmo list --json`` prints.

    Returns
    -------
    dict
        Lists of rows under ``penalties``, ``lifts``, ``losses``, ``operators``, ``geometries``, ``oracles`` and
        ``methods``; a row has a name, a formula, one line about it and its parameters.

    Examples
    --------
    >>> import melmo
    >>> [row["name"] for row in melmo.catalogue()["penalties"]][:3]
    ['l1', 'mcp', 'scad']
    """
    return {kind: [row.copy() for row in rows] for kind, rows in _ROWS.items()}


def rows(kind: str) -> list[Row]:
    """The rows of one kind."""
    return _ROWS[kind]


def class_name(name: str) -> str:
    """What a row is called in Python: ``log-sum`` is ``LogSum``, ``difference2d`` is ``Difference2D``."""
    words = []
    for word in name.split("-"):
        if word in _ACRONYMS:
            words.append(word.upper())
        elif word.endswith(("2d", "3d")):
            words.append(word[:-1].capitalize() + "D")
        else:
            words.append(word.capitalize())
    return "".join(words)


def python_name(parameter: str) -> str:
    """``lambda`` is a keyword of Python: here it is ``lam``."""
    return "lam" if parameter == "lambda" else parameter


def default_of(parameter: Parameter) -> Any:
    """The default of a parameter: a word where it is one, ``None`` where the method finds its own."""
    return parameter["default"]


def numbers(row: Row, arguments: dict[str, Any]) -> list[tuple[str, float | str]]:
    """The numbers and words that Rust takes for a row's parameters; those that are ``None`` are left to it."""
    given: list[tuple[str, float | str]] = []
    for parameter in row["parameters"]:
        name = python_name(parameter["name"])
        value = arguments[name]
        if value is None and (parameter["default"] is None or parameter["name"] in READ_OFF):
            continue
        if parameter["choices"]:
            if not isinstance(value, str) or value not in parameter["choices"]:
                known = ", ".join(parameter["choices"])
                raise ValueError(f"no {parameter['name']} is called `{value}`; known: {known}")
        elif name == "lam" and isinstance(value, (list, tuple, np.ndarray)) and np.shape(value):
            raise TypeError(f"lam: expected a number, got {brief(value)}; a weight for every entry is weights=")
        else:
            value = number(name, value)
        given.append((parameter["name"], value))
    return given


def document(row: Row, inputs: list[tuple[str, str]], more: list[tuple[str, str]], see: str) -> str:
    """A docstring in NumPy's style."""
    lines = [f"{row['formula'] or row['name']}: {row['about']}.", "", "Parameters", "----------"]
    for name, about in inputs:
        lines += [name, f"    {about}"]
    for parameter in row["parameters"]:
        kind = "str" if parameter["choices"] else "float"
        default = default_of(parameter)
        said = "" if default is inspect.Parameter.empty else f", default {default!r}"
        about = parameter["about"]
        if parameter["choices"]:
            about += " (" + ", ".join(parameter["choices"]) + ")"
        if parameter["name"] in READ_OFF:
            said, about = ", optional", f"{about}; {READ_OFF[parameter['name']]}"
        lines += [f"{python_name(parameter['name'])} : {kind}{said}", f"    {about}."]
    for name, about in more:
        lines += [name, f"    {about}"]
    if lines[-1] == "----------":
        lines = lines[:-3]
    return "\n".join([*lines, "", see]).strip() + "\n"


T = TypeVar("T", bound=type)


def make(base: T, kind: str, module: str) -> dict[str, T]:
    """A class for every row of a kind."""
    made = {}
    for row in rows(kind):
        name = class_name(row["name"])
        signature, doc = base._shape(row)  # type: ignore[attr-defined]
        space = {"_row": row, "__signature__": signature, "__doc__": doc, "__module__": module, "__slots__": ()}
        made[name] = type(base)(name, (base,), space)
    return made
