"""The type stubs of the modules that are made from the catalogue: ``python -m melmo._stubs`` writes them anew."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from types import ModuleType

from melmo import geometry, loss, operator, penalty
from melmo._catalogue import READ_OFF, Row, python_name
from melmo._operator import Operator
from melmo._term import Term

_WORDS = {
    "on": "str",
    "oracle": "str",
    "boundary": "str",
    "blocks": "str | Sequence[str]",
    "weights": "npt.ArrayLike | None",
    "groups": "Sequence[Sequence[int]] | None",
    "mask": "npt.ArrayLike | None",
    "Y": "npt.ArrayLike",
    "b": "npt.ArrayLike",
    "kernel": "npt.ArrayLike",
    "filters": "npt.ArrayLike",
}
#: Losses of several blocks: their x is a dict of arrays.
_OF_BLOCKS = ("factorization", "robust-pca")
#: Classes of a module that are no rows of the catalogue.
_MORE = {penalty: ("_sum", "Sum")}
_BASES = {penalty: "_penalty", loss: "_loss", operator: "_operator", geometry: "_geometry"}


def _annotation(row: Row, name: str) -> str:
    for parameter in row["parameters"]:
        if python_name(parameter["name"]) == name:
            return "str" if parameter["choices"] else "float | None" if _optional(parameter["name"]) else "float"
    if name == "shape":
        return "int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None"
    return _WORDS.get(name, "Any")


def _optional(name: str) -> bool:
    return name in READ_OFF


def _argument(row: Row, parameter: inspect.Parameter) -> str:
    text = f"{parameter.name}: {_annotation(row, parameter.name)}"
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return f"*{text}"
    return text if parameter.default is inspect.Parameter.empty else f"{text} = ..."


def _class(name: str, term: type[Term], base: str) -> str:
    arguments, keywords = ["self"], False
    for parameter in term.__signature__.parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not keywords:
            keywords = True
            if not any(argument.startswith("*") for argument in arguments):
                arguments.append("*")
        arguments.append(_argument(term._row, parameter))
    said = (term.__doc__ or name).strip().replace("\\", "\\\\").replace("\n", "\n    ").replace("\n    \n", "\n\n")
    of = "[Blocks]" if base == "Loss" and term._row["name"] in _OF_BLOCKS else ""
    lines = [f"class {name}({base}{of}):", f'    """{said}"""', f"    def __init__({', '.join(arguments)}) -> None: ..."]
    for parameter in term.__signature__.parameters.values():
        # An operator's `shape` is that of the matrix.
        if not (issubclass(term, Operator) and parameter.name == "shape"):
            annotation = _annotation(term._row, parameter.name)
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                annotation = f"tuple[{annotation}, ...]"
            lines += ["    @property", f"    def {parameter.name}(self) -> {annotation}: ..."]
    return "\n".join(lines)


def stub(module: ModuleType) -> str:
    """The stub of a module of terms."""
    base = module.__all__[0]
    made = [getattr(module, name) for name in module.__all__[1:]]
    classes = [_class(term.__name__, term, base) for term in made if issubclass(term, Term)]
    more = [f"from melmo.{file} import {name} as {name}" for file, name in (_MORE[module],)] if module in _MORE else []
    head = "\n".join(
        [
            "# Made from the catalogue by `python -m melmo._stubs`.",
            "from collections.abc import Mapping, Sequence",
            "from typing import Any",
            "",
            "import numpy.typing as npt",
            "",
            *(["from melmo._arrays import Blocks"] if module is loss else []),
            f"from melmo.{_BASES[module]} import {base} as {base}",
            *more,
            "",
            f"__all__ = {module.__all__!r}",
        ]
    )
    return "\n\n".join([head, *classes]) + "\n"


def stubs() -> dict[str, str]:
    """The stubs by file name."""
    return {f"{module.__name__.rpartition('.')[2]}.pyi": stub(module) for module in _BASES}


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for file, text in stubs().items():
        (folder / file).write_text(text, encoding="utf-8")
