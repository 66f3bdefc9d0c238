"""A matrix that lies on several machines, as two factors: `mpirun -n 4 python ranks.py`

Every rank makes (or reads: `numpy.load(..., mmap_mode="r")[rows.own]`) its own rows of Y and has its rows of W; H is on all of them.
"""

import melmo
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
ROWS, COLUMNS, RANK = 1000, 100, 4

rows = melmo.share(ROWS, comm)
basis = np.random.default_rng(0).random((RANK, COLUMNS))  # the same everywhere
draw = np.random.default_rng(1 + comm.rank)
Y = draw.random((rows.size, RANK)) @ basis + 0.01 * draw.standard_normal((rows.size, COLUMNS))

# What every rank has, H, is regularised by rank 0: the loss of all is the sum.
loss = melmo.loss.Factorization(Y, rank=RANK, ridge=0.1 if comm.rank == 0 else 0.0)
start = {"W": draw.random((rows.size, RANK)), "H": np.random.default_rng(9).random((RANK, COLUMNS))}
result = melmo.minimize(
    loss, melmo.penalty.MCP(0.1, 3.0), melmo.operator.Select("W"), start, comm=comm, split={"W": rows}, max_iter=3000
)

W, H = result.x["W"], result.x["H"]  # this rank's rows, and all of H
error = comm.allreduce(((Y - W @ H) ** 2).sum()) / comm.allreduce((Y**2).sum())
if comm.rank == 0:
    print(f"{comm.size} ranks: F = {result.fun:.4g} after {result.nit} steps, relative error {error:.2e}")
    print(f"certificate of the whole: stationary to {result.certificate.dual_norm[1]:.3g}, gap {result.certificate.prox_gap:.3g}")
