"""Problems whose rows lie on ranks: processes that a communicator of mpi4py connects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Union

import numpy as np

from melmo import _melmo
from melmo._arrays import Array, Packing
from melmo._certificate import Certificate
from melmo._checks import brief, whole
from melmo._pairs import Pairs
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
        Those that the rank's arrays have: its own and, for differences, one row of each neighbour. Whoever has none of its own
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
        1 for differences of a picture or a volume, which reach to the neighbours' rows: they are held as well.

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
    rows, beside = whole("rows", rows, least=1), whole("beside", beside, most=1)
    _expect(comm, "Get_rank", "Get_size")
    rank, size = int(comm.Get_rank()), int(comm.Get_size())
    each, more = divmod(rows, size)
    start = rank * each + min(rank, more)
    own = slice(start, start + each + (rank < more))
    if own.start == own.stop:
        return Share(rows, own, slice(rows - 1, rows))
    return Share(rows, own, slice(max(0, own.start - beside), min(rows, own.stop + beside)))


class Ranks:
    """What Rust asks of a communicator: numbers of everybody, in the order of the ranks."""

    def __init__(self, comm: Any):
        self.comm = comm
        self.rank, self.size = int(comm.Get_rank()), int(comm.Get_size())

    def gather(self, own: list[Array], counts: list[int]) -> Array:
        """So many numbers of each, one after another."""
        received = np.empty(sum(counts))
        self.comm.Allgatherv(own[0], [received, (counts, _starts(counts))])
        return received

    def trade(self, own: list[Array], counts: list[int]) -> Array:
        """Everybody's part for this rank: counts say how many numbers each is sent, and then how many each sends."""
        sent, come = counts[: self.size], counts[self.size :]
        received = np.empty(sum(come))
        self.comm.Alltoallv([own[0], (sent, _starts(sent))], [received, (come, _starts(come))])
        return received

    def beside(self, own: list[Array], counts: list[int]) -> Array:
        """The rank before and the one after are sent something, and send so many numbers; nothing where there is none."""
        received = [np.empty(count) for count in counts]
        waiting = []
        for neighbour, sent, place in zip((self.rank - 1, self.rank + 1), own, received):
            if place.size:
                waiting.append(self.comm.Irecv(place, source=neighbour))
            if sent.size:
                waiting.append(self.comm.Isend(sent, dest=neighbour))
        for request in waiting:
            request.Wait()
        return np.concatenate(received)

    def agree(self, error: Exception | None) -> None:
        """Raises what went wrong here, or that something did elsewhere: nobody waits for who has left."""
        failed = self.gather([np.array([float(error is not None)])], [1] * self.size)
        if error is not None:
            raise error
        if failed.any():
            raise RuntimeError(f"rank {int(failed.argmax())} refused its part, and says why")


def _expect(comm: Any, *needed: str) -> None:
    if not all(callable(getattr(comm, name, None)) for name in needed):
        raise TypeError(f"comm: expected a communicator of mpi4py, such as MPI.COMM_WORLD, got {brief(comm)}")


def _starts(counts: list[int]) -> list[int]:
    return [0, *np.cumsum(counts[:-1]).tolist()]


def minimize_on_ranks(terms: tuple[Any, Any, Any], x0: Any, comm: Any, split: Split, settings: dict[str, Any]) -> Result[Any]:
    """Solves a problem together: what is held here are this rank's terms."""
    _expect(comm, "Get_rank", "Get_size", "Allgatherv", "Alltoallv", "Isend", "Irecv")
    ranks, error, part = Ranks(comm), None, None
    try:
        part = _Part(terms, x0, split, settings)
    except Exception as refused:
        error = refused
    ranks.agree(error)
    assert part is not None
    return part.solve(ranks)


class _Part:
    """A rank's part of a problem, checked."""

    def __init__(self, terms: tuple[Any, Any, Any], x0: Any, split: Split, settings: dict[str, Any]):
        problem: Problem[Any] = Problem(*terms, x0)
        if isinstance(problem.packing, Pairs) or isinstance(problem.range, Pairs):
            raise ValueError("x0: complex numbers do not lie on ranks: take real and imaginary parts as two columns of a real x")
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
            rows = problem.packing.shapes[name][0]
            if rows != part.held.stop - part.held.start:
                raise ValueError(f"split: {name!r} has {rows} rows here; its share holds {part.held.stop - part.held.start}")
        self.problem, self.shares = problem, [given.get(name) for name in names]
        self.settings = checked_settings(**settings)
        self.start = problem._start(x0)
        if not np.isfinite(self.start).all():
            raise ValueError("x0: holds NaN or infinity on this rank")

    def solve(self, ranks: Ranks) -> Result[Any]:
        packing = self.problem.packing
        alone = next((part for part in self.shares if part is not None), None)
        within = None if alone is None or len(self.shares) > 1 else alone._within()
        raw = _melmo.Problem(packing.precision, *self.problem._terms, packing.layout, within)
        found = raw.solve_on_ranks(
            self.start, self.settings, ranks, [None if part is None else part._numbers() for part in self.shares]
        )
        x = self._own(packing, found["x"])
        certificate = None if found["certificate"] is None else Certificate(found["certificate"], None, x)
        z, gap = self._own(self.problem.range, found["z"]), None if certificate is None else certificate.gap
        return Result._of(found, x=x, z=z, fun=found["fun"], gap=gap, certificate=certificate)

    def _own(self, packing: Packing, flat: Array) -> Any:
        """What is this rank's, in its shape: of blocks that are split, its rows."""
        shares = dict(zip(self.problem.packing.shapes, self.shares))
        shapes = {}
        for name, shape in packing.shapes.items():
            # Differences of x are as many rows as x has.
            part = shares.get(name, self.shares[0] if len(self.shares) == 1 else None)
            shapes[name] = shape if part is None else (part.size, *shape[1:])
        parts, at = {}, 0
        for name, shape in shapes.items():
            size = int(np.prod(shape))
            parts[name] = flat[at : at + size].reshape(shape)
            at += size
        return next(iter(parts.values())) if packing.single else parts
