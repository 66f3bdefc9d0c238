"""What ranks say to one another: numbers, small objects, and whether all can go on."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from melmo._arrays import Array
from melmo._checks import brief
from melmo._interrupts import Interrupts

Made = TypeVar("Made")


class Ranks:
    """What is asked of a communicator: numbers of everybody, in the order of the ranks."""

    def __init__(self, comm: Any, interrupts: Interrupts | None = None):
        self.comm = comm
        self.rank, self.size = int(comm.Get_rank()), int(comm.Get_size())
        self._interrupts = interrupts or Interrupts()

    @property
    def interrupted(self) -> bool:
        """Ctrl-C was pressed here."""
        return self._interrupts.noted

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

    def numbers(self, own: Any) -> list[npt.NDArray[np.float64]]:
        """Everybody's numbers, as many as each has."""
        flat = np.ascontiguousarray(own, dtype=np.float64).ravel()
        counts = [int(count) for count in self.gather([np.array([float(flat.size)])], [1] * self.size)]
        return np.split(self.gather([flat], counts).astype(np.float64, copy=False), np.cumsum(counts)[:-1])

    def objects(self, own: Any) -> list[Any]:
        """Everybody's objects: small ones, which are pickled."""
        parts = self.numbers(np.frombuffer(pickle.dumps(own), dtype=np.uint8))
        return [pickle.loads(part.astype(np.uint8).tobytes()) for part in parts]

    def agreed(self, act: Callable[[], Made]) -> Made:
        """What `act` answers, where everybody's does: else each raises, and nobody waits for who has left."""
        made, error, interrupted = None, None, False
        try:
            made = act()
        except KeyboardInterrupt:
            interrupted = True
        except Exception as refused:
            error = refused
        said = self.objects((None if error is None else f"{type(error).__name__}: {error}", interrupted or self.interrupted))
        if any(interrupted for _, interrupted in said):
            raise KeyboardInterrupt
        if error is not None:
            raise error
        for rank, (refusal, _) in enumerate(said):
            if refusal is not None:
                raise RuntimeError(f"rank {rank} refused its part: {refusal}")
        return cast(Made, made)

    def sums(self, act: Callable[[], Any]) -> npt.NDArray[np.float64]:
        """Sums over all ranks of the numbers that `act` answers, in the order of the ranks."""
        own = self.agreed(lambda: np.asarray(act(), dtype=np.float64))
        total = np.zeros(own.size)
        for part in np.split(self.gather([np.ascontiguousarray(own).ravel()], [own.size] * self.size), self.size):
            total += part
        return total.reshape(own.shape)

    def told(self, act: Callable[[], Made]) -> Made:
        """What rank 0 finds, on every rank."""
        found = self.agreed(lambda: act() if self.rank == 0 else None)
        return cast(Made, self.objects(found)[0])

    def expect_same(self, what: str, own: Mapping[str, Any]) -> None:
        """Refuses, on every rank, what differs between ranks: by names, with the first rank that has it otherwise."""
        here = {name: _known_by(value) for name, value in own.items()}
        first, *others = self.objects(here)
        for rank, there in enumerate(others, start=1):
            for name in first:
                if first[name] != there.get(name):
                    raise ValueError(f"{what}: rank {rank} has another {name} than rank 0, {there.get(name)} and {first[name]}: give all the same")


def _known_by(value: Any) -> str:
    """A short text that tells values apart: what they look like, or a digest of that; arrays by their shapes and digests."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.shape} with the digest {_digest(np.ascontiguousarray(value).tobytes())}"
    shown = brief(value)
    if " at 0x" in shown or shown == type(value).__name__:
        text = repr(value)
        return type(value).__name__ if " at 0x" in text else f"{type(value).__name__} with the digest {_digest(text.encode())}"
    return shown


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def expect_methods(comm: Any, *needed: str) -> None:
    """Refuses what has not all of these."""
    if not all(callable(getattr(comm, name, None)) for name in needed):
        raise TypeError(f"comm: expected a communicator of mpi4py, such as MPI.COMM_WORLD, got {brief(comm)}")


def expect_communicator(comm: Any) -> None:
    """Refuses what is no communicator."""
    expect_methods(comm, "Get_rank", "Get_size", "Allgatherv", "Alltoallv", "Isend", "Irecv")


def _starts(counts: list[int]) -> list[int]:
    return [0, *np.cumsum(counts[:-1]).tolist()]
