"""Ways to sum a round's channels, of which a sample takes the first that serves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt

from boostlab.backend.cpu.channels import CpuChannels
from boostlab.backend.cpu.followed_histograms import Follower
from boostlab.contract.criterion import Criterion
from boostlab.contract.rows import Cut, Place

if TYPE_CHECKING:
    from boostlab.backend.cpu.sample import CpuSample

Array = npt.NDArray[Any]


class Summing:
    """Sums that follow the rows that change from round to round, as `CpuSample` does; they serve every sample.

    Another way answers what it is shorter for, with the same bits, and leaves the rest (None) to this one.

    Parameters
    ----------
    sample : CpuSample
        The rows, which are not kept.
    """

    name: ClassVar[str] = "followed"

    def __init__(self, sample: CpuSample) -> None:
        self.numeric = not sample.slots.categories

    @classmethod
    def serves(cls, sample: CpuSample) -> bool:
        """Return whether a sample can, and had better, be summed in this way."""
        return True

    def channels(self, criterion: Criterion, weight: Array, target: Array) -> CpuChannels | None:
        """Return two channels of a row each."""
        return None

    def edge(self, weight: Array, target: Array, sides: int) -> tuple[Follower, Place] | None:
        """Return the follower of weight * target, and the stump with the largest edge."""
        return None

    def best(self, criterion: Criterion, weight: Array, target: Array, numbers: Array) -> Cut | None:
        """Return the cheapest cut of columns of numbers under a criterion of two channels."""
        return None

    def votes(self, feature: int, cut: int, left: float, right: float, missing: float) -> Array | None:
        """Return the votes of a numeric cut."""
        return None
