"""The kernels for every kind of codes."""

from __future__ import annotations

from typing import Any, NamedTuple

from boostlab.backend.cpu.kernels.class_histogram import class_sums_eight, class_sums_four, class_sums_sparse
from boostlab.backend.cpu.kernels.histogram import (
    follow_eight,
    follow_four,
    follow_sparse,
    sums_eight,
    sums_four,
    sums_sparse,
)


class Kernels(NamedTuple):
    """The kernels for one kind of codes."""

    sums: Any
    follow: Any
    class_sums: Any


EIGHT = Kernels(sums_eight, follow_eight, class_sums_eight)
FOUR = Kernels(sums_four, follow_four, class_sums_four)
SPARSE = Kernels(sums_sparse, follow_sparse, class_sums_sparse)
