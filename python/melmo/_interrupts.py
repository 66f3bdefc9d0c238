"""Ctrl-C while ranks work together."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

#: Ctrl-C, what mpirun makes of it for its ranks, and what stands in their places where nobody has put anything else.
SIGNALS = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


class Interrupts:
    """Ctrl-C is noted, not raised, while this rank is at something with others: whoever left alone would be waited for.

    They are asked now and then whether it was pressed, and end together. Whoever presses it again is not kept waiting.
    """

    def __init__(self) -> None:
        #: All know of it, and have ended.
        self.heard = False
        self._noted: int | None = None
        self._before: dict[int, Any] = {}

    @property
    def noted(self) -> bool:
        """It was pressed here."""
        return self._noted is not None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():  # Python runs handlers there alone
            for number, usual in SIGNALS.items():
                if signal.getsignal(number) is usual:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._noted = number
        self._restore()

    def _restore(self) -> None:
        while self._before:
            signal.signal(*self._before.popitem())

    def __exit__(self, *error: object) -> None:
        self._restore()
        if self._noted is not None and not self.heard and error[0] is None:  # it came when nobody had to wait any more
            signal.raise_signal(self._noted)
