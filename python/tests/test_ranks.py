"""`comm`: rows of a problem on ranks of mpi4py."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import melmo

HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "examples" / "ranks.py"


class Alone:
    """The communicator of one process, as far as a run needs it."""

    def Get_rank(self):
        return 0

    def Get_size(self):
        return 1

    def Allgatherv(self, own, received):
        received[0][:] = own

    def Alltoallv(self, own, received):
        received[0][:] = own[0]

    def Isend(self, *_, **__):
        raise AssertionError("nobody is there")

    Irecv = Isend


def test_one_rank_is_one_machine():
    y = np.random.default_rng(1).standard_normal((9, 7))
    rows = melmo.share(9, Alone(), beside=1)
    assert rows == (9, slice(0, 9), slice(0, 9)) and rows.size == 9
    terms = melmo.loss.Masked(y), melmo.penalty.MCP(0.3, 2.0), melmo.operator.Difference2D(), y
    settings = {"method": "melmo", "max_iter": 50, "tol": 0}
    here = melmo.minimize(*terms, comm=Alone(), split=rows, **settings)
    there = melmo.minimize(*terms, **settings)
    assert np.abs(here.x - there.certificate.x).max() < 1e-10
    assert abs(here.certificate.prox_gap - there.certificate.prox_gap) < 1e-9
    with pytest.raises(ValueError, match="does not remember"):
        here.certificate.verify()


def test_every_row_is_somebodys():
    for rows, size in [(10, 3), (1, 4), (5, 8), (7, 7)]:
        ranks = [type("Rank", (), {"Get_rank": lambda self, r=rank: r, "Get_size": lambda self: size})() for rank in range(size)]
        shares = [melmo.share(rows, rank, beside=1) for rank in ranks]
        assert [row for part in shares for row in range(rows)[part.own]] == list(range(rows))
        assert all(part.held.start < part.held.stop <= rows for part in shares)
    with pytest.raises(ValueError, match="beside"):
        melmo.share(10, Alone(), beside=3)
    with pytest.raises(TypeError, match="communicator of mpi4py"):
        melmo.share(10, 3)
    with pytest.raises(ValueError, match="needs comm"):
        melmo.minimize(melmo.loss.Masked([1.0]), melmo.penalty.L1(0.1), split=melmo.share(1, Alone()))


def on(ranks, *script, cwd=None, interrupt=None):
    """Runs a script on so many processes, whatever the machine thinks of that; Ctrl-C is pressed once the file `interrupt` is there."""
    pytest.importorskip("mpi4py", exc_type=ImportError)
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("mpirun is not here")
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "MELMO_THREADS": "1",
    }
    command = [mpirun, "-n", str(ranks), sys.executable, *map(str, script)]
    if interrupt is None:
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)
    environment["OMPI_MCA_odls_base_sigkill_timeout"] = "3"  # seconds to SIGTERM, and from there to the end
    with subprocess.Popen(command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            wait_for(interrupt)
            run.send_signal(signal.SIGINT)
            out, error = run.communicate(timeout=60)
        except BaseException:
            run.kill()
            raise
    return subprocess.CompletedProcess(command, run.returncode, out, error)


def wait_for(file, seconds=60):
    end = time.monotonic() + seconds
    while not file.exists():
        assert time.monotonic() < end, f"{file} did not come"
        time.sleep(0.05)


@pytest.mark.parametrize("ranks", [1, 3])
def test_ranks_are_one_machine(ranks):
    done = on(ranks, HERE / "on_ranks.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{ranks} ranks\n"


@pytest.mark.parametrize("ranks", [1, 3])
def test_estimators_on_ranks_find_what_one_machine_finds(ranks):
    pytest.importorskip("sklearn")
    done = on(ranks, HERE / "estimators_on_ranks.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"{ranks} ranks\n")


def test_ctrl_c_of_mpirun_ends_all_with_what_there_is(tmp_path):
    """mpirun ends its ranks by SIGTERM, and kills them a little later."""
    done = on(3, HERE / "on_ranks.py", "wait", cwd=tmp_path, interrupt=tmp_path / "begun")
    assert [(tmp_path / f"ended{rank}").read_text() for rank in range(3)] == ["interrupted"] * 3, done.stderr


def test_more_ranks_than_rows():
    done = on(7, HERE / "on_ranks.py")
    assert done.returncode == 0, done.stderr


def test_one_that_leaves_ends_all():
    done = on(3, HERE / "on_ranks.py", "leave")
    assert done.returncode not in (0, 124)


def test_the_example_runs(tmp_path):
    done = on(3, EXAMPLE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 ranks" in done.stdout and len(done.stdout.splitlines()) == 2, done.stdout
