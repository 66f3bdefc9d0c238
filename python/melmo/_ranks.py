"""Problems whose rows lie on ranks: processes that a communicator of mpi4py connects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from melmo import _melmo
from melmo._arrays import Array, Packing
from melmo._certificate import Certificate
from melmo._checks import whole
from melmo._communicator import Ranks, expect_communicator, expect_methods
from melmo._interrupts import Interrupts
from melmo._operator import Operator
from melmo._pairs import Pairs
from melmo._penalty import Penalty
from melmo._problem import Problem
from melmo._result import Result
from melmo._settings import checked_settings


class Share(NamedTuple):
    """Rows of an array that lie on a rank: what :func:`melmo.share` answers.

    Attributes
    ----------
    rows : int
        Rows of the whole.
    own : slice
        Those that are this rank's: none where there are more ranks than rows.
    held : slice
        Those that the rank's arrays have: its own and, for differences, those of each neighbour that they reach. Whoever has none of its own
        holds the last one, which counts for nothing.
    """

    rows: int
    own: slice
    held: slice

    @property
    def size(self) -> int:
        """How many rows are this rank's."""
        return int(self.own.stop - self.own.start)

    def _numbers(self) -> tuple[int, tuple[int, int], tuple[int, int]]:
        return self.rows, (self.own.start, self.own.stop), (self.held.start, self.held.stop)

    def _within(self) -> tuple[int, int]:
        """Its own rows among those that it holds."""
        if self.size == 0:
            return 0, 0
        return self.own.start - self.held.start, self.own.stop - self.held.start


#: Which rows lie here: of x, or of each block that is split.
Split = Union[Share, Mapping[str, Share], None]


def share(rows: int, comm: Any, beside: int = 0) -> Share:
    """The rows of an array that lie on this rank: as equally shared as they can be.

    Parameters
    ----------
    rows : int
        Rows of the whole.
    comm : mpi4py communicator
        Who shares them.
    beside : int, default 0
        1 for differences of a picture or a volume, which reach to the neighbours' rows: they are held as well. 2 for a ``Jet`` with
        second differences; 1 where its ``weight`` is 0.

    Returns
    -------
    Share
        ``own`` and ``held``, slices of the whole: give the arrays of the rows that are held, get back those that are its own.

    Examples
    --------
    >>> import melmo
    >>> class Second:  # of three, as mpi4py's COMM_WORLD
    ...     def Get_rank(self): return 1
    ...     def Get_size(self): return 3
    >>> melmo.share(10, Second(), beside=1)
    Share(rows=10, own=slice(4, 7, None), held=slice(3, 8, None))
    """
    rows, beside = whole("rows", rows, least=1), whole("beside", beside, most=2)
    expect_methods(comm, "Get_rank", "Get_size")
    rank, size = int(comm.Get_rank()), int(comm.Get_size())
    own = own_rows(rows, rank, size)
    if own.start == own.stop:
        return Share(rows, own, slice(rows - 1, rows))
    return Share(rows, own, slice(max(0, own.start - beside), min(rows, own.stop + beside)))


def own_rows(rows: int, rank: int, size: int) -> slice:
    """Those of a rank, of rows that are shared as equally as they can be."""
    each, more = divmod(rows, size)
    start = rank * each + min(rank, more)
    return slice(start, start + each + (rank < more))


def _expect_shared(name: str, rows: int, owned: Sequence[Array]) -> None:
    """Refuses, on every rank, rows that nobody has or several do."""
    for rank, (start, stop) in enumerate(owned):
        own = own_rows(rows, rank, len(owned))
        if (start, stop) != (own.start, own.stop):
            found = f"rank {rank} has the rows {int(start)} to {int(stop)} of {name!r}, of {rows}"
            raise ValueError(f"split: {found}; expected {own.start} to {own.stop}, which melmo.share says")


def minimize_on_ranks(
    terms: tuple[Any, Any, Any], x0: Any, comm: Any, split: Split, settings: dict[str, Any], refused: bool = False
) -> Result[Any]:
    """Solves a problem together: what is held here are this rank's terms."""
    expect_communicator(comm)

    def make() -> _Part:
        if refused:
            raise ValueError("comm: callback, progress and n_jobs do not go with it: ranks decide together")
        return _Part(terms, x0, split, settings)

    with Interrupts() as interrupts:
        ranks = Ranks(comm, interrupts)
        part = ranks.agreed(make)
        part.expect_together(ranks)
        result = part.solve(ranks)
        interrupts.heard = result.status == "interrupted"
        return result


class _Part:
    """A rank's part of a problem, checked."""

    def __init__(self, terms: tuple[Any, Any, Any], x0: Any, split: Split, settings: dict[str, Any]):
        problem: Problem[Any] = Problem(*terms, x0)
        if isinstance(problem.packing, Pairs) or isinstance(problem.range, Pairs):
            raise ValueError("x0: complex numbers do not lie on ranks: take real and imaginary parts as two columns of a real x")
        self.problem = problem
        #: x is a picture of several channels, of which a rank has the same rows each.
        self.of_channels = isinstance(problem.T, Operator) and problem.T._row["name"] == "jet"
        names = [name for name, _, _ in problem.packing.layout]
        given = {names[0]: split} if isinstance(split, Share) else dict(split or {})
        if isinstance(split, Share) and len(names) > 1:
            raise ValueError(f"split: x has the blocks {', '.join(names)}: give a dict of shares of those that are split")
        for name, part in given.items():
            if name not in names:
                raise ValueError(f"split: x has no block {name!r}; its blocks are {', '.join(names)}")
            if not isinstance(part, Share):
                raise TypeError(f"split: expected what melmo.share answers for {name!r}, got {type(part).__name__}")
            if not 0 <= part.held.start <= part.own.start <= part.own.stop <= part.held.stop <= part.rows:
                raise ValueError(f"split: {part} of {name!r} has rows of its own that it does not hold; melmo.share makes one that fits")
            rows = self._rows_of(problem.packing.shapes[name])
            if rows != part.held.stop - part.held.start:
                raise ValueError(f"split: {name!r} has {rows} rows here; its share holds {part.held.stop - part.held.start}")
        self.shares = [given.get(name) for name in names]
        self.settings = checked_settings(**settings)
        self.start = problem._start(x0)
        if not np.isfinite(self.start).all():
            raise ValueError("x0: holds NaN or infinity on this rank")

    def _rows_of(self, shape: tuple[int, ...]) -> int:
        """The rows that are shared: of a picture of several channels those of each."""
        return shape[1] if self.of_channels and len(shape) == 3 else shape[0]

    def expect_together(self, ranks: Ranks) -> None:
        """Refuses, on every rank, parts that are not of one problem."""
        problem, packing = self.problem, self.problem.packing
        same: dict[str, Any] = {"version of melmo": _melmo.__version__, "precision": packing.precision, "f": type(problem.f).__name__}
        if isinstance(problem.g, Penalty) and problem.g.weights is None:
            same["g"] = repr(problem.g)
        if isinstance(problem.T, Operator):
            same["T"] = problem.T._row["name"]
        at = 0
        for (name, rows, cols), part in zip(packing.layout, self.shares):
            if part is None:
                same[f"x0 of {name!r}, which all ranks have,"] = self.start[at : at + rows * cols]
            else:
                same[f"number of rows of {name!r}"] = part.rows
                same[f"width of {name!r}"] = cols
            at += rows * cols
        same.update({f"setting {name!r}": value for name, value in self.settings.items() if name != "threads"})
        ranks.expect_same("ranks", same)
        for (name, *_), part in zip(packing.layout, self.shares):
            if part is not None:
                _expect_shared(name, part.rows, ranks.numbers([part.own.start, part.own.stop]))

    def solve(self, ranks: Ranks) -> Result[Any]:
        packing = self.problem.packing
        alone = next((part for part in self.shares if part is not None), None)
        within = None if alone is None or len(self.shares) > 1 or self.of_channels else alone._within()
        pieces = [None if part is None else part._numbers() for part in self.shares]
        raw = ranks.agreed(lambda: _melmo.Problem(packing.precision, *self.problem._terms, packing.layout, within))
        found = raw.solve_on_ranks(self.start, self.settings, ranks, pieces)
        x = self._own(packing, found["x"])
        certificate = None if found["certificate"] is None else Certificate(found["certificate"], None, x)
        z, gap = self._own_image(found["z"]), None if certificate is None else certificate.gap
        return Result._of(found, x=x, z=z, fun=found["fun"], gap=gap, certificate=certificate)

    def _own_image(self, flat: Array) -> Any:
        """The same of Tx: of channels one plane after another."""
        part, image = self.shares[0], self.problem.range
        if not self.of_channels or part is None:
            return self._own(image, flat)
        pixels = part.size * next(iter(self.problem.packing.shapes.values()))[-1]
        planes = {name: shape[0] for name, shape in image.shapes.items()}
        ends = np.cumsum([count * pixels for count in planes.values()])[:-1]
        parts = {name: own.reshape(planes[name], pixels) for name, own in zip(planes, np.split(flat, ends))}
        return next(iter(parts.values())) if image.single else parts

    def _of_rows(self, shape: tuple[int, ...], rows: int) -> tuple[int, ...]:
        return (shape[0], rows, *shape[2:]) if self.of_channels and len(shape) == 3 else (rows, *shape[1:])

    def _own(self, packing: Packing, flat: Array) -> Any:
        """What is this rank's, in its shape: of blocks that are split, its rows."""
        shares = dict(zip(self.problem.packing.shapes, self.shares))
        shapes = {}
        for name, shape in packing.shapes.items():
            # Differences of x are as many rows as x has.
            part = shares.get(name, self.shares[0] if len(self.shares) == 1 else None)
            shapes[name] = shape if part is None else self._of_rows(shape, part.size)
        parts, at = {}, 0
        for name, shape in shapes.items():
            size = int(np.prod(shape))
            parts[name] = flat[at : at + size].reshape(shape)
            at += size
        return next(iter(parts.values())) if packing.single else parts
