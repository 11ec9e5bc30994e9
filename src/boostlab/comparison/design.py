"""The comparison as a study: one problem, the boosters, nested cross-validation, once a level of noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.comparison import atlas, figures
from boostlab.comparison.advice import Advice, advise
from boostlab.comparison.methods import LARGE, suitable
from boostlab.comparison.metrics import METRICS, Metric, check_metric, fitting_metric
from boostlab.comparison.peers import is_peer, peers
from boostlab.comparison.protocol import NestedCV
from boostlab.comparison.ranking import Ranking, rank
from boostlab.comparison.result import Comparison, Design
from boostlab.studies.plan import Block
from boostlab.studies.request import RequestError
from boostlab.studies.runner import Ran
from boostlab.studies.study import Report, Results, Study
from boostlab.studies.tables import significant
from boostlab.tables.table import LabelledTable

ROUNDS = 200
MOST_ROWS = 100_000  # enough to tell boosters apart
RARE_ROWS = 50

Array = npt.NDArray[Any]


def design(
    table: LabelledTable,
    boosters: Sequence[str] | None = None,
    *,
    folds: int = 5,
    repeats: int | None = None,
    rounds: int | None = None,
    noise: Sequence[float] = (0.0,),
    seed: int = 0,
    metric: Metric | None = None,
    with_peers: bool = True,
    max_rows: int = MOST_ROWS,
) -> Design:
    """Return the study of a table.

    Parameters
    ----------
    table : LabelledTable
        The table.
    boosters : sequence of str, optional
        Their names; ["all"] is all that can take the classes; None is a choice that suits the table.
    folds, repeats : int
        How often the rows are divided, and into how many parts; None is twice, and once for large tables.
    rounds : int, optional
        The largest number of rounds; None is 200.
    noise : sequence of float
        Shares of the training labels to flip.
    seed : int
        Of the divisions, the flips and the boosters.
    metric : Metric, optional
        What to tune and rank by; None is what fits the target.
    with_peers : bool, default=True
        Whether yardsticks take part.
    max_rows : int
        Of larger tables so many rows are drawn, at random within every class.

    Returns
    -------
    Design
    """
    because = ""
    if metric is None:
        metric, because = fitting_metric(table.y, table.classes)
    check_metric(metric, table.is_numeric, repr(table.target))
    if table.is_numeric and any(noise):
        raise RequestError("Labels can be flipped (noise) only where the target has classes; leave it out.")
    n_cells = int(table.X.shape[0]) * int(table.X.shape[1])
    whole, rows = None, None
    if table.X.shape[0] > max_rows or table.drawn is not None:  # rows that are codes are not compared on
        whole, rows = table, _drawn(table, min(max_rows, len(table.y)), seed)
        table = _sample(table, rows)
    is_large = n_cells > LARGE
    methods, left_out = suitable(boosters, len(table.classes), n_cells)
    if with_peers:
        yardsticks = peers(n_cells, not hasattr(table.X, "__array__"), hold_out=is_large)
        methods = [*methods[:1], *yardsticks, *methods[1:]]  # they are fast: a short budget has them, too
    times = repeats if repeats is not None else 1 if is_large else 2
    blocks = tuple(
        Block(
            f"{significant(100 * level, 3)} % flipped" if level else "labels as they are",
            [table],
            methods,
            NestedCV(folds, 4 if is_large else 3, is_large, rounds or ROUNDS, level, seed, metric.name),
            {"full": folds * times},
        )
        for level in dict.fromkeys(noise)
    )
    study = Study(
        name=table.name,
        title=f"Boosters on {table.name}",
        source="your table",
        blocks=blocks,
        assumptions=_assumptions(blocks, times),
        report=lambda results: _report(results, blocks, table),
        splits_first=True,
    )
    return Design(table, study, left_out, because, whole, rows)


def _drawn(table: LabelledTable, size: int, seed: int) -> Array:
    """Return about so many rows, every class in proportion; of a rare class up to 50 rows."""
    rng = np.random.default_rng(seed)
    groups = (
        [np.arange(len(table.y))]
        if table.is_numeric
        else [np.flatnonzero(table.y == k) for k in range(len(table.classes))]
    )
    taken = [max(round(len(group) * size / len(table.y)), min(len(group), RARE_ROWS)) for group in groups]
    kept = [rng.permutation(group)[:n] for group, n in zip(groups, taken, strict=True)]
    return np.sort(np.concatenate(kept))


def _sample(table: LabelledTable, rows: Array) -> LabelledTable:
    """Return some rows of a table, and say so among its facts."""
    said = f"{len(rows):,} rows, drawn at random (--max-rows chooses how many); the model is fitted to all rows"
    facts = {}
    for name, text in table.facts.items():
        facts[name] = text
        if name == "Rows":
            facts["Compared on"] = said
    X = table.X[rows] if table.drawn is None else table.drawn(rows)
    return replace(table, X=X, y=table.y[rows], facts=facts, drawn=None)


def conclude(plan: Design, ran: Ran) -> Comparison:
    """Return what the finished cells say.

    Parameters
    ----------
    plan : Design
        What was asked for.
    ran : Ran
        What was computed.

    Returns
    -------
    Comparison
    """
    rankings = [rank(ran.results, block) for block in plan.study.blocks]
    return Comparison(rankings, _advice(rankings, plan.table), plan.left_out, ran, plan)


def _advice(rankings: Sequence[Ranking], table: LabelledTable) -> Advice:
    return advise(rankings, usual_class(table), atlas.sentence(table, noise=len(rankings) > 1))


def usual_class(table: LabelledTable) -> str:
    """Return the most frequent class; of numbers, the word for their mean."""
    if table.is_numeric:
        return "the mean"
    counts = [int((table.y == k).sum()) for k in range(len(table.classes))]
    return table.classes[counts.index(max(counts))]


def _assumptions(blocks: Sequence[Block], times: int) -> tuple[str, ...]:
    protocol = blocks[0].protocol
    assert isinstance(protocol, NestedCV)
    metric = METRICS[protocol.metric]
    how = (
        "a hold-out of a quarter" if protocol.hold_out else f"a {protocol.inner}-fold cross-validation"
    ) + " of the training part"
    return (
        f"The rows are divided {times} time{'s' if times > 1 else ''} into {protocol.folds} parts"
        f"{'' if metric.needs == 'numbers' else ', stratified by class'}, each of which tests once what the others "
        "trained; all methods see the same parts.",
        f"Everything is measured by {metric.word}: {metric.sentence}.",
        f"The number of rounds (at most {protocol.rounds}), the size of the trees and the booster's main parameter are "
        f"chosen by it, one after the other, by {how}, and the booster is then trained on all of it; no test row has a "
        "say in the choice.",
        *(["Yardsticks are trained at their defaults and not tuned."] if any(map(is_peer, blocks[0].methods)) else []),
        "Intervals (95 %) and tests are Nadeau and Bengio's, which allow for the overlap of the training parts (where "
        "all parts have the same error the interval is the exact binomial one of the rows tested); a "
        "booster is not distinguishable from the best if p > 0.05 after Holm's correction.",
        "The best of several results is a little too good: expect slightly worse on new rows.",
        "Seconds are those of one training with the chosen values, on one thread.",
        *(
            f"{significant(100 * block.protocol.noise, 3)} % of the training labels are flipped for a second ranking; "
            "test labels stay as they are."
            for block in blocks
            if isinstance(block.protocol, NestedCV) and block.protocol.noise
        ),
    )


# -- tables and figures ----------------------------------------------------------------------------------------------


def _report(results: Results, blocks: Sequence[Block], table: LabelledTable) -> Report:
    rankings = [rank(results, block) for block in blocks]
    advice = _advice(rankings, table)
    return Report(
        tables={_title(ranking): rows(ranking) for ranking in rankings},
        figures=figures.figures(results, blocks, rankings),
        notes=list(advice.sentences),
    )


def _title(ranking: Ranking) -> str:
    return f"Ranking with {significant(100 * ranking.noise, 3)} % of the labels flipped" if ranking.noise else "Ranking"


def rows(ranking: Ranking) -> list[dict[str, object]]:
    """Return a ranking as the rows of a table.

    Parameters
    ----------
    ranking : Ranking

    Returns
    -------
    list of dict
    """
    places, m = ranking.places(), ranking.metric
    best = ranking.ranked[0] if ranking.ranked else None
    out: list[dict[str, object]] = []
    for one in ranking.standings:
        if not one.ranked:
            out.append(
                {"rank": "", "booster": one.name, "remark": f"failed: {one.failure}" if one.failed else "no result"}
            )
            continue
        name = f"{one.name} (yardstick)" if one.is_peer else f"**{one.name}**" if one.near else one.name
        low, high = (one.high, one.low) if m.flipped else (one.low, one.high)
        digits = 2 if m.percent else 4
        out.append(
            {
                "rank": "" if one.is_peer else places[one.name],
                "booster": name,
                m.title.replace(" %", ", %"): round(m.value(one.cost), digits),
                "from": round(m.value(low), digits),
                "to": round(m.value(high), digits),
                "p, against the best": "" if one is best else float(f"{one.p:.2g}"),
                "rounds": "" if isnan(one.rounds) else one.rounds,
                "seconds": float(f"{one.seconds:.3g}"),
                "chosen most often": ", ".join(f"{name}={value}" for name, value in one.chosen.items()),
            }
        )
    return out
