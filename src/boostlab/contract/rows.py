"""Where rows live: the few operations by which everything else in the library reaches them.

Whether rows lie in this process, on a GPU or on forty machines is known to a backend only.  What comes back is small:
a few numbers, one histogram, a count.  A column is whatever a backend hands out for one value a row; others keep it
and hand it back, and do not look inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from boostlab.contract.criterion import Criterion, Residual, Separable
from boostlab.contract.growth import Strategy
from boostlab.contract.rule import Column, Formula, Plain
from boostlab.contract.slots import Slots
from boostlab.contract.step import Reweigh, Step
from boostlab.contract.task import Task

Array = npt.NDArray[Any]
Place = tuple[int, int, int, int]  # feature, cut, side of missing values, edge


class Channels(Protocol):
    """What a criterion sums over rows, as integers; `LearnerRows` has an example."""

    slots: Array  # of shape (channels, n_slots): over the whole sample
    total: Array
    gross: Array  # the sums of magnitudes, as numbers
    scale: Array  # what a unit is worth

    def weight(self, criterion: Separable, gross: Array, /) -> float:
        """Return the weight of the sample, given the gross sums of the channels that the criterion sees."""

    def errors(self, criterion: Any, leaves: list[Array], /) -> tuple[float, float]:
        """Return the weight of the sample and of the rows that are wrong, given the leaves' integer sums."""

    def turned(self, votes: Column, /) -> Array:
        """Return the sums over the sample of a column a label, with rows' signs turned where votes are -1."""

    def release(self) -> None:
        """Let go of what only further sums over rows would need."""


class Channel(Protocol):
    """One channel, whose sums are compared as the integers they are; `LearnerRows` has an example."""

    slots: Array  # of shape (1, n_slots)
    power: int  # a unit is worth 2^-power

    @property
    def total(self) -> int:
        """The sum over the sample."""

    @property
    def gross(self) -> int:
        """The sum of magnitudes."""


class Node(Protocol):
    """Some of the rows, kept where they are; `LearnerRows` has an example."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""


class Cut(NamedTuple):
    """The cheapest cut of a column of numbers, and what lies on both sides of it.

    Examples
    --------
    >>> from boostlab.contract import Cut
    >>> Cut(0, cut=7, side=1, below=(6, 2), above=(2, 8), scale=(0.5, 0.5), gross=(4.0, 5.0), leaves=(-1.0, 1.0)).left
    (3.0, 1.0)
    """

    feature: int
    cut: int
    side: int  # 1 if missing values are below
    below: tuple[int, int]  # the channels' integer sums
    above: tuple[int, int]
    scale: tuple[float, float]  # what a unit is worth
    gross: tuple[float, float]  # the sums of magnitudes over all rows, in numbers as they are
    leaves: tuple[float, float] | None  # what both sides vote, where the criterion `says` so

    @property
    def left(self) -> tuple[float, float]:
        """The sums below, in numbers as they are."""
        return self.below[0] * self.scale[0], self.below[1] * self.scale[1]

    @property
    def right(self) -> tuple[float, float]:
        """The sums above."""
        return self.above[0] * self.scale[0], self.above[1] * self.scale[1]


class NodeHalves(NamedTuple):
    """The two sides of a node, and the channels' integer sums over one of them."""

    low: Node
    high: Node
    summed: int  # which: 0 is low
    slots: Array | None  # None where they were not asked for
    total: Array


class LearnerRows(Protocol):
    """Rows as learners see them.

    ==========================  =========================================  ==================
    operation                   what it gives                              what travels
    ==========================  =========================================  ==================
    channels, largest_edge      integer sums a channel and slot            d × bins integers
    root, part                  nodes, kept where the rows are             a split
    halves                      the same of some nodes, and their sums     d × bins integers
    leaf_votes, votes           a column of votes                          a voter
    tame, centred, total, ...   a column or a few numbers                  numbers
    ==========================  =========================================  ==================

    Examples
    --------
    >>> import numpy as np
    >>> from boostlab import AdaBoostClassifier, DecisionStump
    >>> from boostlab.datasets import twonorm
    >>> class Look(DecisionStump):
    ...     def begin(self, rows, rng):
    ...         channel, (feature, _, _, edge) = rows.largest_edge(np.ones(rows.n_rows), rows.y, None, 0)
    ...         print(rows.root().n_rows, feature, edge / 2**channel.power)
    ...         return super().begin(rows, rng)
    >>> X, y = twonorm(100, random_state=0)
    >>> model = AdaBoostClassifier(Look(), n_estimators=1).fit(X, y)
    100 5 54.0
    """

    n_rows: int
    n: float  # the sum of the masses: what formulas call n
    n_sample: int  # the number of examples, where masses are counts; else of rows
    threads: int  # of the process that asks

    @property
    def mass(self) -> Column:
        """The mass of every row."""

    @property
    def slots(self) -> Slots:
        """The slots of the histogram."""

    @property
    def strategies(self) -> Sequence[type[Strategy]]:
        """Ways to grow trees that may be faster here than node by node."""

    def channels(
        self, criterion: Criterion, weight: Column, target: Column, counts: Column | None = None, census: bool = False
    ) -> Channels:
        """Round a criterion's channels, each to a scale of its own, and sum them; `census` counts examples as well."""

    def largest_edge(self, weight: Column, target: Column, counts: Column | None, sides: int) -> tuple[Channel, Place]:
        """Sum weight * target, and find the stump with the largest edge."""

    def cheapest_cut(self, criterion: Criterion, weight: Column, target: Column, numbers: Array) -> Cut | None:
        """Return the cheapest cut under a criterion of two channels, where there is a shorter way than `channels`."""

    def n_named(self, target: Column) -> int:
        """Return the number of classes that a target names."""

    def root(self) -> Node:
        """Return the node of all rows."""

    def part(self, node: Any, feature: int, low: Array) -> tuple[Node, Node]:
        """Part a node's rows: those in the column's low slots, and the others."""

    def leaves_at_once(self, left: float) -> int:
        """Return how many of the leaves that lead are worth to be parted at once, if so many splits are left."""

    def halves(self, channels: Any, cuts: Sequence[tuple[Any, int, Array]]) -> list[NodeHalves]:
        """Part some nodes' rows (see `part`) and sum a side of each."""

    def n_examples(self, node: Any, counts: Column | None) -> float:
        """Return the number of examples that a node's rows stand for."""

    def largest_residual(
        self, node: Any, residual: Residual, weight: Column, target: Column, counts: Column | None, sums: Array
    ) -> float:
        """Return the largest residual(w, t, sums) of a node's rows."""

    def leaf_votes(self, leaves: Sequence[Any], values: Array) -> Column:
        """Return the votes of a tree, given its leaves' rows and what these vote."""

    def look_up(self, feature: int, values: Array) -> Column:
        """Return for every row the value of its slot in a column."""

    def cut_votes(self, feature: int, cut: int, left: float, right: float, missing: float) -> Column | None:
        """Return the votes of a numeric cut, where that is faster than to ask the voter."""

    def votes(self, voter: Any) -> Column:
        """Return a voter's votes."""

    def values(self, what: Formula, columns: Mapping[str, Column], /, *numbers: Any) -> tuple[Column, ...]:
        """Return a formula's values for every row, given its columns by name."""

    def side_by_side(self, columns: Sequence[Column]) -> Column:
        """Return columns as those of one."""

    def tame(self, weight: Column) -> Column:
        """Return weights whose squares can be formed: scaled by a power of two if the largest is extreme."""

    def centred(self, weight: Column, target: Column, counts: Column | None) -> tuple[Column, float]:
        """Return the target less its weighted mean, and the mean."""

    def sums(self, x: Column, counts: Column | None = None) -> tuple[float, float]:
        """Return the sums of x and of |x| over the sample, or over a draw."""


class Rows(LearnerRows, Protocol):
    """The rows of a training sample, as the engine and, through `State`, rules see them.

    ==========================  =========================================  ==================
    operation                   what it gives                              what travels
    ==========================  =========================================  ==================
    each, keep, weigh           a column, kept where the rows are          numbers
    total, largest, smallest    exact sums, extremes                       a few integers
    advance                     scores moved by a vote                     a voter
    draw                        counts a row, in the canonical order       integers
    ==========================  =========================================  ==================

    `LearnerRows` has an example of what learners ask, `State` one of what rules ask.
    """

    y: Column  # labels -1 and +1, or numbers to predict
    k: Column  # class indices, or numbers to predict
    n_classes: int  # 0 where there are numbers to predict
    turn: int  # which of a round's tasks is at hand
    scores: Any  # the running vote
    masses: Any  # how much every row counts, and sums of columns

    def each(self, what: Formula, /, *numbers: Any) -> Column:
        """Return a formula's value for every row."""

    def each_label(self, what: Formula, /, *numbers: Any) -> list[tuple[Column, ...]]:
        """Return for every label the values of a formula of rows and labels, a column each."""

    def keep(self, name: str, what: Formula | Column | float, /, *numbers: Any) -> None:
        """Remember a column by name."""

    def column(self, name: str, /) -> Column:
        """Return a column by its name."""

    def weigh(self, what: Formula | Column, /, *numbers: Any) -> Column:
        """Return the exponentials of a formula, scaled so that the largest is 1."""

    def scaled_exp(self, what: Formula | Column, /, *numbers: Any) -> tuple[Column, float]:
        """Return w and t with exp(formula) = e^t w, the largest w being 1."""

    def exp_and_sum(self, what: Formula, /, *numbers: Any) -> tuple[Column, float, float]:
        """Return w and t with exp(formula) = e^t w, the largest w being 1, and the sum of w."""

    def total(self, what: Formula | Column, /, *numbers: Any) -> Any:
        """Return exact sums over the sample."""

    def largest(self, what: Formula | Column, /, *numbers: Any) -> float:
        """Return the largest value."""

    def smallest(self, what: Formula | Column, /, *numbers: Any) -> float:
        """Return the smallest value."""

    def advance(self, answer: Step | Reweigh, h: Column, voter: Any = None) -> None:
        """Let a voter with these votes join the scores."""

    def draw(self, weight: Column, size: int | None, rng: np.random.Generator, systematic: bool = False) -> Column:
        """Return how often each row is picked in so many draws (by default the examples), in a canonical order."""

    def look_at(self, task: Any, h: Column, known: Mapping[Formula, Any]) -> None:
        """Let formulas see a task and the votes of the voter in question; take note of the sums that are known."""

    def exponentials(self) -> Column:
        """Return exp(-y F) or exp(-F_k) up to a common factor."""

    def keep_shifted(self, shifts: bool) -> None:
        """Keep exponentials up to a shift of the scores, or up to a common factor only (see `ShiftedTask`)."""

    def shifted(self, task: Task) -> Task:
        """Return a task whose weights are the exponentials with what is kept of them, where that is up to a shift."""

    def canonical_order(self) -> Column:
        """Return an order of the rows that depends on their content only."""

    def watch(self, table: Any) -> Watched:
        """Return other rows whose scores are to be followed."""

    def fused(self, plain: Plain | None, criterion: Criterion, sides: int) -> Any:
        """Return many rounds of stumps in one call, for a rule whose step is a formula, or else whose usual round is in
        formulas; None if there is no way.
        """


class Watched(Protocol):
    """Rows that are not trained on, and their scores."""

    table: Any
    scores: Any

    def advance(self, answer: Step | Reweigh, voter: Any) -> None:
        """Let a voter join the scores."""
