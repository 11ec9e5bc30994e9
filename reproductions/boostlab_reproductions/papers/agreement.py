"""How many of the papers' printed errors are as ours: read off the tables that lie beside the pages."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostlab_reproductions.published import published

NEAR = 2.0  # combined standard errors, within which a cell is as printed
CHANCE = 0.0455  # of cells that would be off by more if all were done alike


@dataclass(frozen=True)
class PrintedTable:
    """A table of printed errors, and the file of a page that has ours beside them."""

    study: str
    table: str
    file: str
    data: str
    method: str
    off: str


_VADA = ("published.csv", "data", "method", "in standard errors")
TABLES = (
    PrintedTable("ebboost-slides", "ebboost_results", *_VADA),
    PrintedTable("vadaboost-table1", "vadaboost_table1_stump", *_VADA),
    PrintedTable("vadaboost-table2", "vadaboost_table2_cart", *_VADA),
    PrintedTable(
        *("quadboost-table1", "quadboost_table1", "beside-the-paper.csv"),
        *("data set", "algorithm", "mean: standard errors off"),
    ),
)
SECOND = "ringnorm (400)"  # a second reading: it explains, and does not count


@dataclass(frozen=True)
class Agreement:
    """Cells of a printed table by how ours compare."""

    study: str
    printed: int
    near: int
    explained: int
    unexplained: int

    @property
    def missing(self) -> int:
        """Cells that ours lack."""
        return self.printed - self.near - self.explained - self.unexplained


def agreement(folder: Path) -> list[Agreement]:
    """Return the counts of all tables, and those of all of them together.

    Parameters
    ----------
    folder : path
        The folder of all studies.

    Returns
    -------
    list of Agreement
    """
    found = [_count(table, folder) for table in TABLES]
    names = ("printed", "near", "explained", "unexplained")
    return [*found, Agreement("all", *(sum(getattr(one, name) for one in found) for name in names))]


def _count(table: PrintedTable, folder: Path) -> Agreement:
    path = folder / table.study / table.file
    every: list[dict[str, Any]] = []
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as file:
            every = [row for row in csv.DictReader(file) if row[table.off] != ""]
    rows = [row for row in every if row[table.data] != SECOND]
    second = {row[table.method]: float(row[table.off]) for row in every if row[table.data] == SECOND}
    cells = {(row[table.data], row[table.method]): row for row in rows}.values()
    near = sum(abs(float(row[table.off])) <= NEAR for row in cells)
    explained = sum(abs(float(row[table.off])) > NEAR and _is_explained(row, table, second) for row in cells)
    return Agreement(table.study, len(published(table.table)), near, explained, len(cells) - near - explained)


def _is_explained(row: dict[str, Any], table: PrintedTable, second: dict[str, float]) -> bool:
    """Return whether the page names a reason; pages without that column have stand-ins and the second reading."""
    if "explained by" in row:
        return bool(row["explained by"])
    data, method = row[table.data], row[table.method]
    again = data == SECOND.split()[0] and abs(second.get(method, float("inf"))) <= NEAR
    return again or data.endswith("(surrogate)")


def sentence(total: Agreement) -> str:
    """Return the counts of all tables in a sentence."""
    return (
        f"Of {total.printed} printed errors {total.near} ({total.near / total.printed:.0%}) lie within two combined "
        f"standard errors of ours, {total.explained} are explained by another reading that was run or by other data, "
        f"{total.unexplained} are not explained (by chance about {CHANCE * total.printed:.0f} would lie outside), "
        f"{total.missing} are not compared."
    )
