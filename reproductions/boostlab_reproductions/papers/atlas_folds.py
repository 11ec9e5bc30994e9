"""What the atlas says of OpenML's folds: whether methods rank there as on our own splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.statistics import average_ranks
from boostlab.studies.study import Results
from boostlab_reproductions.papers.atlas_groups import means, ranked

Array = npt.NDArray[Any]
Row = dict[str, Any]

FOLDS = "OpenML's folds"


def beside_own_splits(results: Results, blocks: Sequence[str]) -> list[Row]:
    """Return a line for every method: mean error and rank on OpenML's folds and on our own splits of the same sets.

    Parameters
    ----------
    results : Results
        The finished cells.
    blocks : sequence of str
        Where the sets are with our own splits.
    """
    sets, methods, there = ranked(*means(results, FOLDS))
    own: dict[str, Array] = {}
    for block in blocks:
        names, columns, errors = means(results, block)
        if set(methods) <= set(columns):
            own |= dict(zip(names, errors[:, [columns.index(m) for m in methods]], strict=True))
    both = [k for k, name in enumerate(sets) if name in own and not np.isnan(own[name]).any()]
    if not both:
        return []
    there, here = there[both], np.array([own[sets[k]] for k in both])
    ranks = average_ranks(there), average_ranks(here)
    return [
        {
            "method": methods[j],
            "sets": len(both),
            "rank on OpenML's folds": round(float(ranks[0][j]), 2),
            "on our splits": round(float(ranks[1][j]), 2),
            "error on OpenML's folds, %": round(100 * float(there[:, j].mean()), 2),
            "error on our splits, %": round(100 * float(here[:, j].mean()), 2),
        }
        for j in np.argsort(ranks[0], kind="stable")
    ]
