"""Measure what finished cells of the atlas lack, by training their choice once more.

`python -m boostlab_reproductions.papers.atlas_again STORE "two classes" 1` does so for the first repeat of a block, on
one thread.  It is for numbers that came after a cell (amendment 4 of the registration); a cell that is computed whole
has them all.  A cell stays as it is where the model cannot be made the same: other versions of a library, for instance.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from boostlab.studies.plan import Method, Outcome
from boostlab.studies.schedule import find_places
from boostlab.studies.store import Store
from boostlab_reproductions import papers
from boostlab_reproductions.papers.atlas_controls import CALIBRATION
from boostlab_reproductions.protocols.atlas import Atlas, AtlasParts

SAME = {"test_error": 0.0, "log_loss": 1e-6, "auc": 1e-6}  # how far, relatively, the same model's may be


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


def main(path: str, block: str, repeats: str) -> None:
    """Go over a block's first repeats, and say what became of them.

    Parameters
    ----------
    path : str
        The store.
    block : str
        Name of a block.
    repeats : str
        How many.
    """
    done = others = 0
    with Store(path) as store:
        places = [p for p in find_places(papers.STUDIES["atlas"], store, "full")[0] if p.block == block and p.can_run]
        saved = store.get([p.key for p in places if p.cell.repeat < int(repeats)])
        parts: dict[tuple[str, int], AtlasParts] = {}
        for place in places:
            cell, one = place.cell, saved.get(place.key)
            if place.entry is None or one is None or one.outcome is None or CALIBRATION in one.outcome.numbers:
                continue
            where = cell.problem.name, cell.repeat
            if where not in parts:
                parts = {where: cell.protocol.parts(cell.problem.data(), cell.repeat)}
            outcome = completed(cell.protocol, parts[where], cell.method, one.outcome)  # type: ignore[arg-type]
            if outcome is None:
                others += 1
            else:
                store.put(place.entry, outcome, "", one.seconds, one.run)
                done += 1
    print(f"{block}: {done} cells measured again, {others} are other models here.")


if __name__ == "__main__":
    main(*sys.argv[1:])
