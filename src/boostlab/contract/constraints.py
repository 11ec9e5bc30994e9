"""What a vote must keep to: the direction in which it may depend on a column, and which columns may share a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract.slots import Slots

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints on the columns of one table.

    Parameters
    ----------
    directions : array of shape (n_features,), optional
        +1 where the score must not fall as the column rises, -1 where it must not rise, 0 where it is free.
    groups : bool array of shape (n_groups, n_features), optional
        Two columns may be on one path of a tree only if one group has both.
    """

    directions: Array | None = None
    groups: Array | None = None

    def of_cuts(self, slots: Slots) -> Array:
        """Return the direction of every numeric cut; one that parts all values from missing ones is free."""
        widths = np.diff(slots.starts)
        if self.directions is None:
            return np.zeros(slots.n_slots, np.int64)
        at = np.arange(slots.n_slots) - np.repeat(slots.starts[:-1], widths)
        between = at < np.repeat(slots.n_bins - 1, widths)
        return np.where(between, np.repeat(self.directions, widths), 0)

    def beside(self, path: frozenset[int]) -> Array | None:
        """Return which columns may join those of a path; None: all."""
        if self.groups is None or not path:
            return None
        together = self.groups[self.groups[:, sorted(path)].all(axis=1)]
        return np.asarray(together.any(axis=0))


@dataclass(frozen=True)
class Region:
    """What constraints leave of a tree's node: between which values its leaves lie, and the columns above it."""

    low: float = -np.inf
    high: float = np.inf
    path: frozenset[int] = frozenset()

    @property
    def bounded(self) -> bool:
        """Whether leaves have a limit."""
        return self.low > -np.inf or self.high < np.inf

    def clip(self, value: Any) -> Any:
        """Return values within the limits."""
        return np.minimum(np.maximum(value, self.low), self.high)

    def parted(self, feature: int, direction: int, below: float, above: float) -> tuple[Region, Region]:
        """Return the children's regions: where a cut has a direction, both sides keep to the middle of their values."""
        path = self.path | {feature}
        low = high = Region(self.low, self.high, path)
        if direction:
            middle = (below + above) / 2
            up, down = Region(middle, self.high, path), Region(self.low, middle, path)
            low, high = (down, up) if direction > 0 else (up, down)
        return low, high


WHOLE = Region()  # the root of a tree
