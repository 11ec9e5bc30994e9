"""Plans of passes that members of a team follow for their own rows, in a compiled call (see `kernels.block_pass`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.exact_sums import address
from boostlab.backend.cpu.kernels import block_pass as block
from boostlab.backend.cpu.kernels.prepared import ADDRESS, ARGUMENTS
from boostlab.backend.cpu.kernels.tasks import PLAN, PLAN_AT, PLANNED, PLANNED_AT, PLANNER
from boostlab.backend.cpu.masses import Masses

Array = npt.NDArray[Any]


def member_plans(masses: Masses, out: Array, what: tuple[int, ...], powers: Array, tops: Array, sums: Array) -> Array:
    """Return a plan for every member.

    Parameters
    ----------
    masses : Masses
        How much every row counts.
    out : array
        The values, or space for blocks of them.
    what : tuple of ints
        Blocks a part, rows, values a row, labels a value, rows of a block, the sign, and powers of two (see
        `block_pass`).
    powers, tops, sums : arrays
        The powers of two, and where members write what they find, a row each.
    """
    plans, counts = np.zeros((len(tops), block.SIZE), np.int64), masses.as_arrays
    plans[:, block.PARTS : block.COUNTS] = len(tops), *what
    plans[:, block.COUNTS], plans[:, block.MASSES] = map(len, counts)
    plans[:, block.AT_COUNTS], plans[:, block.AT_MASSES] = map(address, counts)
    plans[:, block.AT_BLOCKS], plans[:, block.AT_TOPS], plans[:, block.AT_SUMS] = map(address, (out, tops, sums))
    plans[:, block.AT_POWERS] = address(powers) + powers.itemsize * (powers.size // len(plans)) * np.arange(len(plans))
    return plans


def evaluate_by(plans: Array, calls: Array, formula: int) -> None:
    """Let the plans call a prepared formula, block by block."""
    plans[:, PLANNED], plans[:, PLANNED_AT] = calls[:, formula, ADDRESS], calls[:, formula, ARGUMENTS]


def follow(plans: Array, calls: Array, which: int) -> None:
    """Let a prepared call of every member follow its plan."""
    plans[:, PLAN] = address(plans) + plans.itemsize * plans.shape[1] * np.arange(len(plans))
    plans[:, PLAN_AT] = plans[:, PLAN] + plans.itemsize * PLAN
    plans[:, PLANNER] = block.block_pass_address()
    calls[:, which, ADDRESS], calls[:, which, ARGUMENTS] = plans[:, PLANNER], plans[:, PLAN_AT]
