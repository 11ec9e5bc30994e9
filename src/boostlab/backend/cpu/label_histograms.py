"""Histograms of several integers a row, in one pass over the codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import ALL, Codes
from boostlab.backend.cpu.kernels.label_histogram import panel_sums, sparse_panel_sums

Array = npt.NDArray[Any]


def sums_of(codes: Codes, q: Array, members: Array | None = None) -> tuple[Array, Array]:
    """Return the sums of each column of q per slot over all rows or the members, and in total.

    Parameters
    ----------
    codes : Codes
        Of the table.
    q : int64 array of shape (n_rows, width)
        Some integers a row.
    members : array, optional
        The rows to sum.

    Returns
    -------
    slots : array of shape (width, n_slots)
    totals : array of shape (width,)
    """
    add = panel_sums if codes.dense else sparse_panel_sums
    rows, size = (ALL, codes.n_rows) if members is None else (members, len(members))
    width, padded = q.shape[1], codes.n_slots + codes.spare

    shape, cells = (padded + 1, width), size * codes.width * width
    sums, _ = add.added(cells, codes.threads, shape, *codes.read, q, rows, 0, size)
    sums = np.ascontiguousarray(sums.T)
    totals = sums[:, padded].copy()
    return codes.complete(sums[:, :padded], totals.tolist()), totals
