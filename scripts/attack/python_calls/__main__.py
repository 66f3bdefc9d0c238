"""Calls everything public of the Python package with good and bad arguments, at random.

    python scripts/attack/python_calls [CALLS] [--seed N] [--seconds S] [--log FILE]

Whatever is called, only a TypeError, a ValueError or an error that is documented may come out: no other exception, no panic,
no death of the interpreter, no call that does not end. Each call is written to the log before it is made, so that the last
line of the log of a run that died is the call that killed it. Exits 0 if nothing was found, and prints how many calls were
made of what, and how many were refused.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import os
import sys
import time
import warnings
from typing import Any

import numpy as np
from caller import ALLOWED, Caller

#: Seconds that a call may work, and after which one that does not end hangs: on a machine with much else to do, that is long.
WORK, DEADLINE = 60.0, 600.0


def documented(text: str, error: BaseException) -> bool:
    """Errors that are neither of the two, and said to come out."""
    if text.startswith(("read(", "load(")):
        return isinstance(error, OSError)
    return isinstance(error, RuntimeError) and "no point has been evaluated" in str(error)


def attack(calls: int, seed: int, seconds: float, log: Any) -> int:
    """Makes the calls; how many found something."""
    caller, end, found = Caller(seed), time.monotonic() + seconds, 0
    made: collections.Counter[str] = collections.Counter()
    for at in range(calls):
        if time.monotonic() > end:
            break
        text, work = caller.call()
        log.write(f"{at}: {text}\n")
        log.flush()
        faulthandler.dump_traceback_later(DEADLINE, exit=True)
        outcome, begun = "answered", time.process_time()
        try:
            work()
        except ALLOWED as error:
            outcome = "refused"
            if not str(error):
                found += 1
                print(f"FOUND a {type(error).__name__} without a word\n  {at}: {text}", flush=True)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            outcome = "documented" if documented(text, error) else "found"
            if outcome == "found":
                found += 1
                print(f"FOUND {type(error).__name__}: {str(error)[:300]}\n  {at}: {text}", flush=True)
        if time.process_time() - begun > WORK:
            found += 1
            print(f"FOUND a call that worked for more than {WORK:.0f} s\n  {at}: {text}", flush=True)
        made[outcome] += 1
    faulthandler.cancel_dump_traceback_later()
    print(f"{sum(made.values())} calls with seed {seed}: " + ", ".join(f"{count} {what}" for what, count in made.items()))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", nargs="?", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--log", default=os.devnull)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with open(given.log, "w", encoding="utf-8") as log:
        return int(attack(given.calls, given.seed, given.seconds, log) > 0)


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())
