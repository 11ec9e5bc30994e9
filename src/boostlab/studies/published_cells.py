"""Go on from the file of cells beside a page, where the store that made it is gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from boostlab.studies.runner import Ran
from boostlab.studies.schedule import find_places
from boostlab.studies.store import Run, Store


@dataclass(frozen=True)
class TakenOver:
    """How many cells of a page came into a store, and how many did not: those that were there already, those of other
    code, parameters or data, and those whose data are not at hand.
    """

    taken: int = 0
    known: int = 0
    outdated: int = 0
    absent: int = 0

    def __str__(self) -> str:
        outdated = f", {self.outdated} left out, as code, parameters or data have changed" if self.outdated else ""
        absent = f", {self.absent} left out, as their data are not here (see BOOSTLAB_DATA)" if self.absent else ""
        return f"{self.taken} cells taken over, {self.known} known already{outdated}{absent}"


def take_over(ran: Ran, store: Store) -> TakenOver:
    """Put the finished cells of a page into a store, so that a run computes only what is missing.

    A cell is taken over if the study would compute the same one now: its definition and its data have the same hashes.
    The file does not say which run computed which cell, so all are those of one run that sums them up.

    Parameters
    ----------
    ran : Ran
        What the page was made of (`index.recall`).
    store : Store
        Where they go.

    Returns
    -------
    TakenOver
    """
    places = {place.name: place for place in find_places(ran.study, store, ran.asked)[0]}
    states = store.states([place.key for place in places.values() if place.entry])
    run = _sum(ran.runs)
    taken = known = outdated = absent = 0
    for one in ran.results.rows():
        place = places.get((one.block, one.problem, one.method, one.repeat))
        if place is not None and place.entry is None:
            absent += 1
        elif not one.outcome or place is None or not place.computes(one.data, one.kind):
            outdated += 1
        elif states.get(place.key) == "":
            known += 1
        else:
            if not taken:
                store.begin(run)
            assert place.entry is not None
            store.put(place.entry, one.outcome, "", one.seconds, run.id)
            states[place.key] = ""  # blocks may share a cell
            taken += 1
    return TakenOver(taken, known, outdated, absent)


def machines(runs: Sequence[Run]) -> list[str]:
    """Return the machines of all runs, each once; a run that stands for several names them all.

    Parameters
    ----------
    runs : sequence of Run
        Whose machines.

    Examples
    --------
    >>> runs = [Run("toy", 1, "", 1.0, "1.0", name) for name in ("a; b", "b")]
    >>> machines(runs)
    ['a', 'b']
    """
    return list(dict.fromkeys(name for run in runs for name in run.machine.split("; ")))


def _sum(runs: Sequence[Run]) -> Run:
    """Return one run for several: all seconds and machines, and the most workers."""
    return Run(
        runs[0].study,
        max(run.jobs for run in runs),
        min(run.started for run in runs),
        sum(run.seconds for run in runs),
        runs[0].version,
        "; ".join(machines(runs)),
    )
