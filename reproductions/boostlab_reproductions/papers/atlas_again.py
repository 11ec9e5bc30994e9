"""Measure what finished cells of the atlas lack, by training their choice once more.

`python -m boostlab_reproductions.papers.atlas_again STORE 1 16 "several classes" "programs"` does so for the first
repeat of two blocks, with sixteen processes of one thread.  It is for numbers that came after a cell (amendments 4 and
5 of the registration); a cell that is computed whole has them all.  A cell stays as it is where the model cannot be
made the same: other versions of a library, for instance.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import joblib

from boostlab.studies.plan import Cell, Method, Outcome
from boostlab.studies.schedule import Place, find_places
from boostlab.studies.store import Saved, Store
from boostlab_reproductions import papers
from boostlab_reproductions.papers.atlas_controls import CALIBRATION
from boostlab_reproductions.protocols.atlas import Atlas, AtlasParts

SAME = {"test_error": 0.0, "log_loss": 1e-6, "auc": 1e-6}  # how far, relatively, the same model's may be
TOGETHER = 8  # cells of one split that a process takes at once

Task = tuple[str, str, int, list[tuple[str, Outcome]]]
"""Block, set, repeat, and methods with what was kept of their cells."""


def completed(protocol: Atlas, parts: AtlasParts, method: Method, outcome: Outcome) -> Outcome | None:
    """Return a cell's outcome with its calibration error; None where the model is another one.

    Parameters
    ----------
    protocol : Atlas
        Of the cell.
    parts : AtlasParts
        Its rows.
    method : Method
        Its method.
    outcome : Outcome
        What was kept.
    """
    old = outcome.numbers
    new = protocol.again(parts, method, old)
    if new is None or not _is_same(old, new):  # its rounds were not kept, or a smaller model has fewer
        new = protocol.run(parts, method).numbers
    return replace(outcome, numbers={**old, CALIBRATION: new[CALIBRATION]}) if _is_same(old, new) else None


def _is_same(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return all(
        abs(new[name] - old[name]) <= far * abs(old[name]) or new[name] != new[name] for name, far in SAME.items()
    )


def measured_again(task: Task) -> list[Outcome | None]:
    """Return the completed outcomes of some cells of one split; None for other models.

    Parameters
    ----------
    task : tuple
        Which cells, and what was kept of them.
    """
    block, problem, repeat, kept = task
    cells = {cell.method.name: cell for cell in _cells(block, problem, repeat)}
    first = next(iter(cells.values()))
    protocol: Any = first.protocol
    parts = protocol.parts(first.problem.data(), repeat)
    return [completed(protocol, parts, cells[name].method, outcome) for name, outcome in kept]


def _cells(block: str, problem: str, repeat: int) -> Iterable[Cell]:
    (found,) = (one for one in papers.STUDIES["atlas"].blocks if one.name == block)
    cells = found.cells(repeat + 1)
    return (cell for cell in cells if cell.problem.name == problem and cell.repeat == repeat)


def lacking(places: Sequence[Place], saved: Mapping[str, Saved]) -> list[list[Place]]:
    """Return the finished cells without a calibration error, as many together as a process takes, the longest first.

    Parameters
    ----------
    places : sequence of Place
        Of the study.
    saved : mapping from str to Saved
        What the store has of them.
    """

    def lacks(place: Place) -> bool:
        one = saved.get(place.key)
        return bool(place.can_run and one and one.outcome and CALIBRATION not in one.outcome.numbers)

    def split(place: Place) -> tuple[str, str, int]:
        return place.block, place.cell.problem.name, place.cell.repeat

    groups = [list(own) for _, own in groupby(sorted(filter(lacks, places), key=split), split)]
    parts = [own[k::n] for own in groups for n in [-(-len(own) // TOGETHER)] for k in range(n)]
    return sorted(parts, key=lambda own: -sum(_seconds(saved[place.key]) for place in own))


def _seconds(one: Saved) -> float:
    return float(one.outcome.numbers["fit_seconds"]) if one.outcome else 0.0


def main(path: str, repeats: str, jobs: str, *blocks: str) -> None:
    """Go over the first repeats of blocks, and say what became of their cells.

    Parameters
    ----------
    path : str
        The store.
    repeats, jobs : str
        How many repeats, and processes.
    *blocks : str
        Names of blocks.
    """
    with Store(path) as store:
        places = [p for p in find_places(papers.STUDIES["atlas"], store, "full")[0] if p.block in blocks]
        places = [place for place in places if place.cell.repeat < int(repeats)]
        saved = store.get([place.key for place in places])
        todo = lacking(places, saved)
        done, others = dict.fromkeys(blocks, 0), dict.fromkeys(blocks, 0)
        with joblib.Parallel(int(jobs), return_as="generator", batch_size=1) as pool:
            found = pool(joblib.delayed(measured_again)(_task(own, saved)) for own in todo)
            for own, outcomes in zip(todo, found, strict=True):
                for place, outcome in zip(own, outcomes, strict=True):
                    if outcome is None:
                        others[place.block] += 1
                        continue
                    one = saved[place.key]
                    assert place.entry is not None
                    store.put(place.entry, outcome, "", one.seconds, one.run)
                    done[place.block] += 1
    for block in blocks:
        print(f"{block}: {done[block]} cells measured again, {others[block]} are other models here.")


def _task(places: Sequence[Place], saved: Mapping[str, Saved]) -> Task:
    cell = places[0].cell
    kept = [(p.cell.method.name, outcome) for p in places if (outcome := saved[p.key].outcome)]
    return places[0].block, cell.problem.name, cell.repeat, kept


if __name__ == "__main__":
    main(*sys.argv[1:])
