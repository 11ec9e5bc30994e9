"""Which cells a study has, by which keys the store knows them, and in which order they are computed."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

from boostlab.studies.packing import to_text
from boostlab.studies.plan import Cell, StudyProblem, key, same_code
from boostlab.studies.store import CellEntry, Saved, Store, kind
from boostlab.studies.study import Done, Study


@dataclass(frozen=True)
class Place:
    """A cell and where it stands in its study; no entry where its data are not at hand."""

    block: str
    cell: Cell
    key: str  # empty if it is neither stored nor can be computed
    entry: CellEntry | None = None
    study: str = ""
    size: float = 0.0  # of the data, in numbers

    @property
    def can_run(self) -> bool:
        """Whether data and package are at hand."""
        return self.entry is not None and is_installed(self.cell.method.needs)

    @property
    def name(self) -> tuple[str, str, str, int]:
        """Block, problem, method and repeat."""
        return self.block, self.cell.problem.name, self.cell.method.name, self.cell.repeat

    @property
    def definition(self) -> tuple[str, str]:
        """The hashes of its data and of its definition, as a file of cells has them."""
        return self.entry.data if self.entry else "", kind(self.cell)[:_SHORT]

    def computes(self, data: str, definition: str) -> bool:
        """Whether a cell of a file is this one: by its hashes, or those of rules not yet in same_code.csv."""
        own, known = self.definition
        return data == own and definition in (known, rewritten_kind(self.cell)[:_SHORT])

    def done(self, saved: Saved) -> Done:
        """Return the finished cell."""
        data, definition = self.definition
        result = saved.outcome, saved.failure, saved.seconds
        return Done(*self.name, *result, data, split_seed(self.cell, data), definition)


def rewritten_kind(cell: Cell) -> str:
    """Return the kind that a cell had where its rules were rewritten and same_code.csv did not name them yet."""
    now = {before: new for new, before in same_code().items()}
    method = cell.definition["method"]
    code = " ".join(now.get(one, one) for one in str(method["code"]).split())
    return key(
        {
            "problem": cell.definition["problem"],
            "method": {**method, "code": code},
            "protocol": cell.definition["protocol"],
        },
        "",
    )


@cache
def is_installed(package: str) -> bool:
    """Whether a package can be imported here; the empty name stands for none."""
    return not package or find_spec(package) is not None


def without_package(places: Sequence[Place], found: Container[str]) -> dict[str, str]:
    """Return the methods whose package is absent, each with a sentence; not those whose cells are all known.

    Parameters
    ----------
    places : sequence of Place
        The cells of a study.
    found : container of str
        Keys of cells that are known, from other machines for instance.
    """
    lost = {p.cell.method.name: p.cell.method.needs for p in places if p.entry and not p.can_run and p.key not in found}
    return {name: f"it needs the package {needs}, which is not installed here." for name, needs in lost.items()}


_SHORT = 16  # letters of a definition's hash

Schedule = tuple[list[Place], dict[str, str]]
"""The cells of a study, and why data are not at hand."""


def find_places(study: Study, store: Store, repeats: str | int) -> Schedule:
    """Return all cells with their keys, and why data are not at hand.

    Every data set is read, because its hash is part of the key.
    """
    names: dict[int, str] = {}
    hashes: dict[str, str] = {}
    sizes: dict[str, float] = {}
    absent: dict[str, str] = {}
    places = []
    counts = study.repeats(repeats)
    for block in study.blocks:
        for problem in block.problems:
            name = names[id(problem)] = to_text(problem.definition())
            if name not in hashes and counts[block.name]:
                hashes[name], sizes[name], why = _read(problem)
                absent |= {problem.name: why} if why else {}
        for cell in block.cells(counts[block.name]):
            name = names[id(cell.problem)]
            data = hashes[name]
            if data:
                entry = CellEntry.of(cell, data)
                places.append(Place(block.name, cell, entry.key, entry, study.name, sizes[name]))
            else:
                places.append(Place(block.name, cell, store.elsewhere(kind(cell), cell.repeat), None, study.name))
    return places, absent


def _read(problem: StudyProblem) -> tuple[str, float, str]:
    """Return the hash of a problem's data and their size, or why they are not at hand."""
    try:
        data = problem.data()
    except (ValueError, OSError, LookupError, ImportError) as error:
        return "", 0.0, (str(error).strip() or type(error).__name__).splitlines()[0]
    return data.hash, float(math.prod(data.X.shape)), ""


def split_seed(cell: Cell, data: str) -> str:
    """Return the words of the SeedSequence that draws a cell's split, where its protocol draws one."""
    return " ".join(map(str, cell.protocol.split_seed(data, cell.repeat))) if data else ""


def shared(place: Place) -> str:
    """Return what tells the parts that a cell is computed from from others."""
    cell, data = place.cell, place.entry.data if place.entry else ""
    return to_text(
        {"problem": cell.problem.definition(), "basis": cell.protocol.basis(), "repeat": cell.repeat, "data": data}
    )


def in_groups(
    missing: Sequence[Place], usual: Mapping[str, float], workers: int, splits_first: bool = False
) -> list[list[Place]]:
    """Return the cells by the parts that they share: study after study, repeat after repeat, the longest first.

    How long a cell takes is known from others of its kind, or else guessed by the size of its data.  Where there are
    hardly as many groups as workers the longest are cut in two: making parts twice costs less than waiting.  With
    `splits_first` every cell is a group of its own, in the order of the methods, so that all workers are at the same
    repeat; a worker keeps the parts from one cell to the next.
    """
    together: dict[str, dict[str, Place]] = {}
    for place in missing:  # a cell that stands in two blocks is computed once
        together.setdefault(shared(place), {}).setdefault(place.key, place)
    groups = [list(group.values()) for group in together.values()]
    if splits_first:
        groups = [[place] for group in groups for place in group]

    def seconds(group: Sequence[Place]) -> float:
        return sum(usual.get(place.entry.kind, 1e-5 * place.size) for place in group if place.entry)

    while workers > 1 and len(groups) < 3 * workers:
        long = max((group for group in groups if len(group) > 1), key=seconds, default=None)
        if long is None:
            break
        groups.remove(long)
        groups += [long[::2], long[1::2]]
    order = {name: i for i, name in enumerate(dict.fromkeys(place.study for place in missing))}

    def rank(group: Sequence[Place]) -> tuple[int, int, float]:
        return order[group[0].study], group[0].cell.repeat, 0.0 if splits_first else -seconds(group)

    return sorted(groups, key=rank)
