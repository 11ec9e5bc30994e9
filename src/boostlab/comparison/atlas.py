"""What the study `atlas` found on tables like the person's: one sentence beside the advice.

The study's page has a table, "which booster for what"; `make lists` copies it here when the study has run in full, so
that the sentence changes with the study.  Without the file there is no sentence.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from boostlab.tables.table import LabelledTable

FILE = Path(__file__).with_name("atlas.csv")
FEW_ROWS = 500  # training rows, below which the study's sets count as small
HALF = 0.5  # of an equal share: a smallest class below it is imbalanced
TRAINS = 0.8  # of the rows, in a comparison of five parts
LEVEL = 0.05

Line = Mapping[str, str]


@cache
def lines(path: Path = FILE) -> tuple[Line, ...]:
    """Return the lines of the table; none where the study has not run."""
    if not path.is_file():
        return ()
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def nearest(table: Sequence[Line], n_classes: int, n_train: float, smallest: float, noise: bool = False) -> Line | None:
    """Return the line of the most telling group of sets that a table belongs to; None where there is none.

    Parameters
    ----------
    table : sequence of mapping
        The lines of the study's table.
    n_classes : int
        Number of classes.
    n_train : float
        Number of rows that train.
    smallest : float
        The smallest class, as a part of an equal share.
    noise : bool, default=False
        Whether some labels are known to be wrong.

    Examples
    --------
    >>> base = {"classes": "two", "tuning": "tuned", "noise, %": "0", "rows": "", "balance": ""}
    >>> table = [{**base, "take": "AdaBoost, tuned"}, {**base, "rows": "few", "take": "L2Boost, tuned"}]
    >>> nearest(table, 2, 300, 0.9)["take"], nearest(table, 2, 3000, 0.9)["take"], nearest(table, 3, 300, 0.9)
    ('L2Boost, tuned', 'AdaBoost, tuned', None)
    """
    rows, balance = ("few" if n_train < FEW_ROWS else "more"), ("imbalanced" if smallest < HALF else "")
    classes = "two" if n_classes == 2 else "several"
    mine = [line for line in table if line["classes"] == classes and line["tuning"] == "tuned"]
    wanted = [("20", "", "")] if noise else []
    wanted += [("0", "", balance)] if balance else []
    wanted += [("0", rows, ""), ("0", "", "")]
    for level, size, kind in wanted:
        for line in mine:
            same = line["noise, %"] == level and line["rows"] == size and line["balance"] == kind
            if same and "categories" not in line.get("situation", ""):
                return line
    return None


def sentence(table: LabelledTable, noise: bool = False, path: Path = FILE) -> str:
    """Return what the study found on tables like this one; nothing where it has not run, or for numbers.

    Parameters
    ----------
    table : LabelledTable
        The person's table.
    noise : bool, default=False
        Whether the comparison has flipped labels, too.
    path : path
        Of the study's table.
    """
    if table.is_numeric:
        return ""
    counts = np.bincount(np.asarray(table.y, dtype=np.int64), minlength=len(table.classes))
    smallest = float(counts.min()) * len(counts) / max(len(table.y), 1)
    found = nearest(lines(path), len(counts), TRAINS * len(table.y), smallest, noise)
    return "" if found is None else said(found)


def said(line: Line) -> str:
    """Return a line as a sentence.

    Parameters
    ----------
    line : mapping
        Of the study's table.
    """
    measure = "AUC" if line["ranked by"] == "AUC" else "error"
    first = line["take"].removesuffix(", tuned")
    text = (
        f"In our study of {line['sets']} sets of this kind ({line['situation']}; at most 1,000 rows train), {first} "
        f"ranked first of our boosters, all tuned alike (mean {measure} {float(line['mean, %']):.1f} %)"
    )
    if not line.get("best peer"):
        return f"{text}."
    verdict = "distinguishably so" if float(line["p"]) <= LEVEL else "not distinguishably"
    gap = round(float(line["difference, points"]), 1)
    way = "better" if (gap > 0) == (measure == "AUC") else "worse"
    level = f"typically {abs(gap):.1f} points {way}, {verdict}" if gap else "typically equal"
    return f"{text}, and {line['best peer'].removesuffix(', tuned')} of other libraries' ({level})."
