"""Peak memory of a block of code."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

_CLEAR, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


class PeakMemory:
    """How many bytes the process's memory rises above where it was.

    Linux keeps the highest mark itself, and lets a process set it back.  Elsewhere the memory is looked at every
    millisecond.
    """

    def __enter__(self) -> PeakMemory:
        gc.collect()
        self._watch: _Watch | None = None
        try:
            _CLEAR.write_text("5", encoding="ascii")
            self._base = _kilobytes("VmRSS")
        except OSError:
            self._watch = _Watch()
            self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._watch is not None:
            self.bytes = self._watch.end()
        else:
            self.bytes = 1024 * max(0, _kilobytes("VmHWM") - self._base)


def _kilobytes(name: str) -> int:
    lines = _STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))


class _Watch(threading.Thread):
    """Looks at the memory until it is told to end."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        import psutil

        self.process = psutil.Process()
        self.base = self.top = int(self.process.memory_info().rss)
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.001):
            self.look()

    def look(self) -> None:
        self.top = max(self.top, int(self.process.memory_info().rss))

    def end(self) -> int:
        self.done.set()
        self.join()
        self.look()
        return self.top - self.base
