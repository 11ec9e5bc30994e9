"""The soft margin of a vote: what the linear programs maximise, for one vote."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def soft_margin(margins: Array, mass: Array, cap: float) -> float:
    """Return max over rho of rho - cap sum m_i max(0, rho - margin_i).

    It is the mean of the margins under the worst weights that the cap allows: as much as possible on the smallest.

    Parameters
    ----------
    margins, mass : arrays
        One entry a row.
    cap : float
        The largest weight of one example; infinity gives the smallest margin.
    """
    order = np.argsort(margins, kind="stable")
    if not np.isfinite(cap):
        return float(margins[order[0]])
    weight = np.diff(np.minimum(np.cumsum(cap * mass[order]), 1.0), prepend=0.0)
    return float(weight @ margins[order] / weight.sum())
