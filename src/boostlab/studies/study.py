"""A whole study: what is computed, what the paper says about it, and how the answer is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.plan import Block, Outcome
from boostlab.studies.statistics.attainable import smallest_p

Array = npt.NDArray[Any]

VERDICTS = ("holds", "partly", "does not hold", "cannot be judged")
SO_FAR = {"holds": "holds", "partly": "holds partly", "does not hold": "does not hold"}
LEVEL = 0.05  # of a test that decides


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, and whether ours agrees.

    Parameters
    ----------
    text : str
        What the paper says, in one sentence.
    verdict : {"holds", "partly", "does not hold", "cannot be judged"}
        What our numbers say.
    evidence : str
        Our numbers, in one or two sentences; where the claim fails, the most likely reason.
    over : int, optional
        How many pairs its test counts (data sets); None: it rests on the repeats.
    """

    text: str
    verdict: str
    evidence: str
    over: int | None = None

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"A claim's verdict is one of {', '.join(VERDICTS)}; got {self.verdict!r}.")

    def withheld(self, why: str) -> Claim:
        """Return the claim without a verdict, and why there is none."""
        return replace(self, verdict="cannot be judged", evidence=f"{self.evidence} {why}")

    def of_few(self, repeats: int) -> Claim:
        """Return the claim as a tier of few repeats may judge it: not at all where no test of so many can decide."""
        n = repeats if self.over is None else self.over
        least = smallest_p(n)
        if self.verdict == "cannot be judged" or least <= LEVEL:
            return self
        what = "repeats" if self.over is None else "data sets"
        return self.withheld(
            f"So far it {SO_FAR[self.verdict]}, but {n} {what} cannot decide: the smallest p that a sign test over "
            f"them can have is {least:.2g}."
        )


@dataclass
class Report:
    """What a study makes of its results.

    Parameters
    ----------
    tables : dict from str to list of dict
        Name -> rows; each becomes NAME.csv and a table of the page.  Columns are those of the first row that has them.
    figures : dict from str to callable
        Name -> function that draws on a matplotlib Figure; called only where matplotlib is installed.
    claims : list of Claim
        The paper's claims, judged.
    notes : list of str
        Paragraphs under the tables: disagreements and their likely reasons.
    captions : dict from str to str
        Name of a table or figure -> what its columns, marks and repeats are, shown under its heading.
    headline : list of str
        What was found, in sentences that can be quoted: the first thing on the page.
    """

    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    figures: dict[str, Callable[[Any], None]] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    captions: dict[str, str] = field(default_factory=dict)
    headline: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Done:
    """A finished cell: its place in the study, and what came out of it, or why nothing did."""

    block: str
    problem: str
    method: str
    repeat: int
    outcome: Outcome | None = None
    failure: str = ""
    seconds: float = 0.0  # of the whole cell, tuning included
    data: str = ""  # hash of the data
    seed: str = ""  # of the split: the words of numpy's SeedSequence
    kind: str = ""  # hash of the definition, the algorithm's code among it, but for repeat and data

    def number(self, name: str) -> float:
        """Return one of the outcome's numbers; NaN for a failure, and for what is missing or no number."""
        value = self.outcome.numbers.get(name) if self.outcome else None
        return float(value) if isinstance(value, int | float) else float("nan")


class Results:
    """The finished cells of one study, failures among them: what `report` is given.

    Parameters
    ----------
    blocks : sequence of Block
        The study's blocks; they give the order of problems and methods.
    done : iterable of Done
        The finished cells.
    repeats : mapping from str to int
        How many repeats of each block were asked for.
    absent : mapping from str to str
        Problems whose data are not at hand, each with the sentence that says so.

    Examples
    --------
    >>> Results([], [Done("errors", "twonorm", "AdaBoost", 0, Outcome({"test_error": 0.05}))]).rows("errors")[0].method
    'AdaBoost'
    """

    def __init__(
        self,
        blocks: Iterable[Block],
        done: Iterable[Done],
        repeats: Mapping[str, int] | None = None,
        absent: Mapping[str, str] | None = None,
    ) -> None:
        self.blocks = {block.name: block for block in blocks}
        self.repeats = dict(repeats or {})
        self.absent = dict(absent or {})
        self._done = list(done)

    def rows(self, block: str | None = None) -> list[Done]:
        """Return the finished cells, failures too; of one block, or all."""
        return [one for one in self._done if block is None or one.block == block]

    def matrix(self, block: str, value: str = "test_error") -> tuple[list[str], list[str], Array]:
        """Return one number of every cell of a block.

        Parameters
        ----------
        block : str
            Name of the block.
        value : str, default="test_error"
            A key of the outcome's numbers, or "cell_seconds" for the seconds of the whole cell.

        Returns
        -------
        problems : list of str
            Those with at least one finished cell, in the order of the block.
        methods : list of str
            All methods of the block, in its order.
        values : array of shape (n_problems, n_methods, n_repeats)
            NaN where a cell is missing or failed.
        """
        rows = self.rows(block)
        seen = {one.problem for one in rows}
        problems = [p.name for p in self.blocks[block].problems if p.name in seen]
        methods = [m.name for m in self.blocks[block].methods]
        repeats = max((one.repeat + 1 for one in rows), default=0)
        values = np.full((len(problems), len(methods), repeats), np.nan)
        at_problem = {name: i for i, name in enumerate(problems)}
        at_method = {name: i for i, name in enumerate(methods)}
        for one in rows:
            number = one.seconds if value == "cell_seconds" and not one.failure else one.number(value)
            values[at_problem[one.problem], at_method[one.method], one.repeat] = number
        return problems, methods, values


@dataclass(frozen=True)
class Study:
    """A study as it is asked for by name.

    Parameters
    ----------
    name : str
        What `boostlab reproduce` calls it: "vadaboost-table1".
    title : str
        Heading of its page.
    source : str
        Paper and table.
    blocks : tuple of Block
        What is computed; their names are different.
    assumptions : tuple of str
        Every reading where the paper is silent; listed on the page.
    report : callable
        Makes tables, figures and verdicts of the results, of few of them too: it must work with missing cells.
    missing : tuple of str
        What cannot be run, and why.
    splits_first : bool
        Whether all methods get their first repeat before any gets its second, so that a run that is stopped has
        something to say of each; else cells that share their parts are computed together by one worker.
    reads : mapping from str to int or None
        Arrays of the outcomes that the report reads ("margins_*": all that begin so), and of how many repeats (None: of
        all): the file of cells beside the page has them.
    leaves_out : tuple of str
        Numbers of the outcomes that the report does not read and that would fill the file: curves.
    pooled : tuple of str
        Arrays of which the report reads only how often each value occurs over the repeats, place by place: the file has
        them sorted over the repeats of a method, which packs well and keeps these counts.
    """

    name: str
    title: str
    source: str
    blocks: tuple[Block, ...]
    assumptions: tuple[str, ...]
    report: Callable[[Results], Report]
    missing: tuple[str, ...] = ()
    splits_first: bool = False
    reads: Mapping[str, int | None] = field(default_factory=dict)
    leaves_out: tuple[str, ...] = ()
    pooled: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [block.name for block in self.blocks]
        if len(set(names)) < len(names):
            raise ValueError(f"The blocks of {self.name} must have different names; got {', '.join(names)}.")

    def repeats(self, asked: str | int) -> dict[str, int]:
        """Return how often each block is repeated, in a tier ("quick", "full") or up to a number of repeats.

        A number is taken as it is, but a block that never repeats (one repeat in full) is not repeated then either, and
        one that the full tier leaves out is left out.
        """
        if isinstance(asked, str):
            return {block.name: _tier(block.repeats, asked) for block in self.blocks}
        full = {block.name: _tier(block.repeats, "full") for block in self.blocks}
        return {name: asked if most > 1 else min(asked, most) for name, most in full.items()}


def _tier(repeats: Mapping[str, int], tier: str) -> int:
    """Return the repeats of a tier; what a block does not say is its full tier, or the largest it has."""
    return repeats.get(tier, repeats.get("full", max(repeats.values(), default=1)))
