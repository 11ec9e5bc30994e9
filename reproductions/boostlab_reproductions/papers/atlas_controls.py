"""What the atlas says beside its hypotheses: how tuned contenders compare with controls, and who is calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.statistics import average_ranks, hodges_lehmann, holm, sign_test, wilcoxon
from boostlab.studies.study import Results
from boostlab_reproductions.papers.atlas_contenders import CONTROLS, TUNED, contender_of, is_tuned
from boostlab_reproductions.papers.atlas_groups import LEVEL, means, ranked

Array = npt.NDArray[Any]
Row = dict[str, Any]

CALIBRATION = "calibration_error"
PLAIN = ("AdaBoost, stumps", "AdaBoost, 8 leaves")  # without a choice
RESAMPLES = 2000


def against_controls(results: Results, block: str, controls: str) -> list[Row]:
    """Return a line for every control and tuned contender: what the contender errs less, over the sets of both.

    Parameters
    ----------
    results : Results
        The finished cells.
    block, controls : str
        Of the contenders, and of the controls, which have the same sets, splits and repeats.
    """
    if not {block, controls} <= set(results.blocks) or not results.rows(controls):
        return []
    methods, errors = _of_both(results, block, controls)
    found: list[Row] = []
    for control in (f"{one.name}, {TUNED}" for one in CONTROLS):
        rivals = [m for m in methods if m != control and (is_tuned(m) or m in PLAIN) and not _is_control(m)]
        rows = [
            line
            for m in rivals
            if (line := _line(m, control, 100 * errors[:, methods.index(m)], 100 * errors[:, methods.index(control)]))
        ]
        corrected = holm([row["Wilcoxon p"] for row in rows]).tolist() if rows else list[float]()
        rows = [row | {"Holm p": float(f"{p:.2g}")} for row, p in zip(rows, corrected, strict=True)]
        found += sorted(rows, key=lambda row: float(row["difference, points"]))
    return found


def said_of_controls(block: str, rows: Sequence[Row]) -> list[str]:
    """Return a note on who errs significantly less or more than a control."""
    said = []
    for control in dict.fromkeys(row["control"] for row in rows):
        rivals = [row for row in rows if row["control"] == control and is_tuned(row["method"])]
        sure = [row for row in rivals if row["Holm p"] < LEVEL]
        less = [contender_of(row["method"]) for row in sure if row["difference, points"] < 0]
        more = [contender_of(row["method"]) for row in sure if row["difference, points"] > 0]
        said.append(f"{control}: {_named(less, len(rivals))} less, {_named(more, len(rivals))} more.")
    if not said:
        return []
    return [f"Controls ({block}): which tuned contenders err significantly (Holm, 5 %) less or more. {' '.join(said)}"]


def _named(names: Sequence[str], of: int) -> str:
    return "none" if not names else "all" if len(names) == of else ", ".join(names)


def _is_control(method: str) -> bool:
    return any(method.startswith(one.name) for one in CONTROLS)


def _of_both(results: Results, block: str, controls: str) -> tuple[list[str], Array]:
    """Return the methods of two blocks, and their mean errors on the sets and repeats that all controls have."""
    names, own, values = results.matrix(block)
    sets, more, others = results.matrix(controls)
    both = [name for name in names if name in sets]
    repeats = min(values.shape[2], others.shape[2])
    table = np.concatenate(
        [
            values[[names.index(name) for name in both], :, :repeats],
            others[[sets.index(name) for name in both], :, :repeats],
        ],
        axis=1,
    )
    whole = ~np.isnan(table[:, len(own) :]).any(axis=1)  # sets by repeats
    table = np.where(whole[:, None, :], table, np.nan)
    kept = whole.any(axis=1)
    table = table[kept]
    counts = whole[kept].sum(axis=1)
    missing = (np.isnan(table) & whole[kept][:, None, :]).any(axis=2)
    mean = np.where(missing, np.nan, np.nansum(table, axis=2) / counts[:, None])
    return [*own, *more], mean


def _line(method: str, control: str, a: Array, b: Array) -> Row:
    has = ~np.isnan(a + b)
    if has.sum() < 6:
        return {}
    a, b = a[has], b[has]
    shift, signs = hodges_lehmann(a, b, n_resamples=RESAMPLES), sign_test(a, b)
    return {
        "control": control.removesuffix(f", {TUNED}"),
        "method": method,
        "sets": int(has.sum()),
        "its mean error, %": round(float(a.mean()), 2),
        "the control's, %": round(float(b.mean()), 2),
        "difference, points": round(shift.estimate, 2),
        "95 % from": round(shift.low, 2),
        "to": round(shift.high, 2),
        "lower on": signs.wins,
        "higher on": signs.losses,
        "Wilcoxon p": float(f"{wilcoxon(a, b).p:.2g}"),
    }


def calibration(results: Results, block: str) -> list[Row]:
    """Return a line for every method of a block whose calibration was measured, the best first, with its log loss."""
    sets, methods, errors = ranked(*means(results, block, CALIBRATION))
    if not sets or len(methods) < 2:
        return []
    ranks = average_ranks(errors)
    names, columns, losses = _measured_only(results, block)
    rows = []
    for j in np.argsort(ranks, kind="stable"):
        loss = losses[[names.index(name) for name in sets], columns.index(methods[j])]
        rows.append(
            {
                "method": methods[j],
                "rank": round(float(ranks[j]), 2),
                "calibration error, %": round(100 * float(errors[:, j].mean()), 2),
                "log loss": float(f"{loss.mean():.3g}"),
                "sets": len(sets),
            }
        )
    return rows


def _measured_only(results: Results, block: str) -> tuple[Sequence[str], Sequence[str], Array]:
    """Return mean log losses of the repeats whose calibration was measured."""
    names, methods, losses = results.matrix(block, "log_loss")
    _, _, errors = results.matrix(block, CALIBRATION)
    has = ~np.isnan(errors)
    counts = np.maximum(has.sum(axis=2), 1)
    return names, methods, np.where(has, losses, 0.0).sum(axis=2) / counts
