"""The kernels for every kind of codes."""

from __future__ import annotations

from typing import Any, NamedTuple

from boostlab.kernels.classes import class_sums_eight, class_sums_four, class_sums_sparse
from boostlab.kernels.march import march_eight, march_four, march_sparse
from boostlab.kernels.slots import (
    follow_eight,
    follow_four,
    follow_sparse,
    sums_eight,
    sums_four,
    sums_sparse,
)
from boostlab.kernels.sparse import sparse_sums
from boostlab.kernels.words import sums_of_eight, sums_of_four


class Kernels(NamedTuple):
    """The kernels for one kind of codes."""

    add: Any
    sums: Any
    follow: Any
    march: Any
    class_sums: Any


EIGHT = Kernels(sums_of_eight, sums_eight, follow_eight, march_eight, class_sums_eight)
FOUR = Kernels(sums_of_four, sums_four, follow_four, march_four, class_sums_four)
SPARSE = Kernels(sparse_sums, sums_sparse, follow_sparse, march_sparse, class_sums_sparse)
