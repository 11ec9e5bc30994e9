"""How well a weak learner can follow random signs: the Rademacher complexity of its voters on a sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend import CpuSample, Masses
from boostlab.contract import Learner, Stop, Task
from boostlab.data.table import Table

Array = npt.NDArray[Any]


def rademacher(
    learner: Learner, table: Table, rows: Masses, order: Array, rng: np.random.Generator, draws: int = 200
) -> tuple[float, float]:
    """Return a Monte-Carlo estimate of E sup_h mean(sigma h) over random signs sigma, and its standard error.

    The learner is asked for its best edge with the signs as labels.  Stumps and pools find the best voter there is, so
    the supremum is exact; a learner that only looks for a good one (a tree, a scikit-learn classifier) gives an
    estimate from below.

    Parameters
    ----------
    learner : Learner
        Whose voters.
    table, rows : Table, Masses
        The sample.  A row of mass k counts as k rows, each with a sign of its own, as long as there are at most ten
        times as many of them; else its one sign has its mass.
    order : array
        A canonical order of the rows, so that the signs do not depend on how they came.
    rng : numpy Generator
        Source of the signs.
    draws : int
        How many.
    """
    sups = suprema(learner, table, rows, order, rng, draws)
    return float(sups.mean()), float(sups.std(ddof=1) / np.sqrt(draws))


def suprema(
    learner: Learner,
    table: Table,
    rows: Masses,
    order: Array,
    rng: np.random.Generator,
    draws: int,
    constants: bool = False,
) -> Array:
    """Return sup_h mean(sigma h) for random sigma; with `constants` votes that are the same everywhere count too."""
    session = learner.begin(CpuSample(table, rows), rng)
    sups = np.zeros(draws)
    for b in range(draws):
        sigma = _signs(rows, order, rng)
        task = Task("edge", np.abs(sigma), np.where(sigma < 0, -1.0, 1.0))
        if learner.draws and task.weight.any():
            task.counts, task.weight = rows.draw(task.weight, rows.draw_size, rng, order), np.ones(rows.n_rows)
        found = session.best(task)
        if not isinstance(found, Stop):
            votes = found.voter.votes(table) if found.votes is None else found.votes
            sups[b] = rows.total(sigma * votes) / rows.n
        if constants:
            sups[b] = max(sups[b], abs(rows.total(sigma)) / rows.n)
    return sups


def _signs(rows: Masses, order: Array, rng: np.random.Generator) -> Array:
    """Return the mean of every row's signs."""
    sigma = np.empty(rows.n_rows)
    if rows.counts is None or rows.draw_size != rows.n_examples:
        sigma[order] = rng.choice([-1.0, 1.0], rows.n_rows)
        return sigma
    counts = rows.counts[order]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    sigma[order] = np.add.reduceat(rng.choice([-1.0, 1.0], int(counts.sum())), starts) / counts
    return sigma
