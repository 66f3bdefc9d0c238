"""Rows that ranks hand one another, so that all have as many."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from melmo._communicator import Ranks
from melmo._ranks import own_rows

Doubles = npt.NDArray[np.float64]


def evenly(ranks: Ranks, X: Any) -> Any:
    """The rows that this rank has where all rows, those of one rank after another, are shared as ``melmo.share`` does."""
    counts = [int(count[0]) for count in ranks.numbers([X.shape[0]])]
    ends = np.cumsum(counts)
    starts, rows = ends - counts, int(ends[-1])
    shares = [own_rows(rows, rank, ranks.size) for rank in range(ranks.size)]
    if all((own.start, own.stop) == (start, end) for own, start, end in zip(shares, starts, ends)):
        return X

    def handed(giver: int, taker: int) -> int:
        """Rows that one hands another."""
        first, last = max(int(starts[giver]), int(shares[taker].start)), min(int(ends[giver]), int(shares[taker].stop))
        return max(0, last - first)

    sent = [handed(ranks.rank, rank) for rank in range(ranks.size)]
    come = [handed(rank, ranks.rank) for rank in range(ranks.size)]
    if not hasattr(X, "tocsr"):
        width = X.shape[1]
        found = _trade(ranks, X.ravel(), [width * count for count in sent], [width * count for count in come])
        return found.reshape(-1, width).astype(X.dtype)
    lengths = np.diff(X.indptr)
    lengths_here = _trade(ranks, lengths, sent, come).astype(np.intp)
    stored = [int(part.sum()) for part in np.split(lengths, np.cumsum(sent)[:-1])]
    coming = [int(part.sum()) for part in np.split(lengths_here, np.cumsum(come)[:-1])]
    columns = _trade(ranks, X.indices, stored, coming).astype(np.intp)
    values = _trade(ranks, X.data, stored, coming).astype(X.dtype)
    return csr_matrix((values, columns, np.append(0, np.cumsum(lengths_here))), shape=(sum(come), X.shape[1]))


def _trade(ranks: Ranks, own: Any, sent: list[int], come: list[int]) -> Doubles:
    """So many of this rank's numbers go to each rank, so many come from each."""
    return np.asarray(ranks.trade([np.ascontiguousarray(own, dtype=np.float64)], [*sent, *come]), dtype=np.float64)
