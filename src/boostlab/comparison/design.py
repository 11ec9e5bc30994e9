"""The comparison as a study: one problem, the boosters, nested cross-validation, once a level of noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from boostlab.comparison import figures
from boostlab.comparison.advice import Advice, advise
from boostlab.comparison.methods import LARGE, suitable
from boostlab.comparison.protocol import NestedCV
from boostlab.comparison.ranking import Ranking, rank
from boostlab.comparison.table import LabelledTable
from boostlab.studies.plan import Block, Method
from boostlab.studies.runner import Ran
from boostlab.studies.study import Report, Results, Study
from boostlab.studies.tables import significant

ROUNDS = 200


@dataclass(frozen=True)
class Design:
    """What is to be compared, and how.

    Attributes
    ----------
    table : LabelledTable
    study : Study
        For the runner.
    left_out : dict from str to str
        Boosters that do not take part, and why.
    """

    table: LabelledTable
    study: Study
    left_out: dict[str, str]

    @property
    def methods(self) -> Sequence[Method]:
        """The boosters."""
        return self.study.blocks[0].methods

    @property
    def protocol(self) -> NestedCV:
        """How they are compared, with the labels as they are."""
        protocol = self.study.blocks[0].protocol
        assert isinstance(protocol, NestedCV)
        return protocol

    @property
    def levels(self) -> list[float]:
        """Shares of the training labels that are flipped."""
        return [block.protocol.noise for block in self.study.blocks if isinstance(block.protocol, NestedCV)]

    @property
    def repeats(self) -> int:
        """How often the rows are divided."""
        return self.study.blocks[0].repeats["full"] // self.protocol.folds


@dataclass(frozen=True)
class Comparison:
    """What a comparison found, so far or in the end.

    Attributes
    ----------
    rankings : list of Ranking
        One a level of noise, in the order asked for.
    advice : Advice
        What to choose, and why.
    left_out : dict from str to str
        Boosters that do not take part, and why.
    ran : Ran
        All finished cells, and why it ended early if it did.
    """

    rankings: list[Ranking]
    advice: Advice
    left_out: dict[str, str]
    ran: Ran

    def __str__(self) -> str:
        return "\n".join(self.advice.sentences)


def design(
    table: LabelledTable,
    boosters: Sequence[str] | None = None,
    *,
    folds: int = 5,
    repeats: int | None = None,
    rounds: int | None = None,
    noise: Sequence[float] = (0.0,),
    seed: int = 0,
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

    Returns
    -------
    Design
    """
    n_cells = int(table.X.shape[0]) * int(table.X.shape[1])
    is_large = n_cells > LARGE
    methods, left_out = suitable(boosters, len(table.classes), n_cells)
    times = repeats if repeats is not None else 1 if is_large else 2
    blocks = tuple(
        Block(
            f"{significant(100 * level, 3)} % flipped" if level else "labels as they are",
            [table],
            methods,
            NestedCV(folds, 4 if is_large else 3, is_large, rounds or ROUNDS, level, seed),
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
    )
    return Design(table, study, left_out)


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
    return Comparison(rankings, advise(rankings, usual_class(plan.table)), plan.left_out, ran)


def usual_class(table: LabelledTable) -> str:
    """Return the most frequent class."""
    counts = [int((table.y == k).sum()) for k in range(len(table.classes))]
    return table.classes[counts.index(max(counts))]


def _assumptions(blocks: Sequence[Block], times: int) -> tuple[str, ...]:
    protocol = blocks[0].protocol
    assert isinstance(protocol, NestedCV)
    how = (
        "a hold-out of a quarter" if protocol.hold_out else f"a {protocol.inner}-fold cross-validation"
    ) + " of the training part"
    return (
        f"The rows are divided {times} time{'s' if times > 1 else ''} into {protocol.folds} parts, stratified by "
        "class, each of which tests once what the others trained; all boosters see the same parts.",
        f"The number of rounds (at most {protocol.rounds}), the size of the trees and the booster's main parameter are "
        f"chosen by {how}, and the booster is then trained on all of it; no test row has a say in the choice.",
        "Intervals (95 %) and tests are Nadeau and Bengio's, which allow for the overlap of the training parts (where "
        "all parts have the same error the interval is the exact binomial one of the rows tested); a "
        "booster is not distinguishable from the best if p > 0.05 after Holm's correction.",
        "The best of several errors is a little too good: expect slightly more on new rows.",
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
    advice = advise(rankings, usual_class(table))
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
    places = ranking.places()
    out: list[dict[str, object]] = []
    for one in ranking.standings:
        if not one.ranked:
            out.append(
                {"rank": "", "booster": one.name, "remark": f"failed: {one.failure}" if one.failed else "no result"}
            )
            continue
        out.append(
            {
                "rank": places[one.name],
                "booster": f"**{one.name}**" if one.near else one.name,
                "error, %": round(100 * one.error, 2),
                "from": round(100 * one.low, 2),
                "to": round(100 * one.high, 2),
                "p, against the best": "" if one is ranking.standings[0] else float(f"{one.p:.2g}"),
                "rounds": one.rounds,
                "seconds": float(f"{one.seconds:.3g}"),
                "chosen most often": ", ".join(f"{name}={value}" for name, value in one.chosen.items()),
            }
        )
    return out
