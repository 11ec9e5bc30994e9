"""The atlas's protocol on OpenML's folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.plan import Definition
from boostlab_reproductions.problems.openml import openml_folds
from boostlab_reproductions.protocols.atlas import Atlas

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class AtlasFolds(Atlas):
    """The fold with the number of the repeat tests, and all other rows train; all else is the atlas's."""

    def definition(self) -> Definition:
        """Return the settings."""
        return {**super().definition(), "protocol": "AtlasFolds"}

    def split_seed(self, data_hash: str, repeat: int) -> tuple[int, ...]:
        """Return nothing: the folds are OpenML's."""
        return ()

    def split(self, data: Any, y: Array, repeat: int) -> tuple[Array, Array]:
        """Return the rows of OpenML's fold, and all others."""
        if len(y) < len(data.y):
            raise ValueError("OpenML's folds are those of all rows, and small classes were left out.")
        test = np.sort(openml_folds(y)[repeat])
        return test, np.flatnonzero(~np.isin(np.arange(len(y)), test))
