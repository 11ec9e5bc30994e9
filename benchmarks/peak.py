"""Peak memory of a block of code, by sampling."""

from __future__ import annotations

import gc
import threading

import psutil


class PeakMemory:
    """How far the process's memory rises above where it was, looked at every two milliseconds."""

    def __enter__(self) -> PeakMemory:
        gc.collect()
        self._process = psutil.Process()
        self._base = self._top = self._process.memory_info().rss
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.002):
            self._top = max(self._top, self._process.memory_info().rss)

    def __exit__(self, *_: object) -> None:
        self._top = max(self._top, self._process.memory_info().rss)
        self._done.set()
        self._thread.join()

    @property
    def megabytes(self) -> float:
        return (self._top - self._base) / 2**20
