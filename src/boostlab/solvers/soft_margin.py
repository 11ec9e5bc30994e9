"""The soft margin of a vote: what the linear programs maximise, for one vote."""

from __future__ import annotations

from math import ceil, floor, log10
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


def check_nu(nu: float, size: float) -> None:
    """Refuse a nu below 1/n, for which no weights under the cap 1/(nu n) make sense; 1/n itself may be rounded.

    Parameters
    ----------
    nu : float
        The share of the sample that may lie below the margin.
    size : float
        n, how many examples there are.
    """
    if nu * size < 1 - 1e-9:
        digit = 10.0 ** (floor(log10(1 / size)) - 2)  # the third: what is named must not be refused in its turn
        cause = f"nu={nu:g} is too small for {size:g} examples: the weights' cap 1/(nu n) must not exceed 1"
        raise ValueError(f"{cause}; use nu >= {ceil(1 / size / digit - 1e-6) * digit:.3g}.")
