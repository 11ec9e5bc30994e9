"""What is known, here, of masses, scores and weights whose rows are held by parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostlab.backend.cpu.kernels.vote_update import exp_of
from boostlab.backend.cpu.shifted_weights import ScoreShift
from boostlab.backend.partitioned.answers import Answer, Call
from boostlab.backend.partitioned.column import PartedColumn
from boostlab.contract import Reweigh, Step

if TYPE_CHECKING:
    from boostlab.backend.partitioned.rows import PartitionedRows


class PartedMasses:
    """How much every row counts, as far as it can be said without the rows."""

    def __init__(self, rows: PartitionedRows) -> None:
        self.n, self.n_rows, self.n_examples = rows.n, rows.n_rows, rows.n_sample
        self.uniform, self.as_arrays = rows.whole.uniform, ()
        self.total, self.sums, self._rows = rows.total, rows.sums, rows

    def map(self, function: Callable[..., Any], *columns: Any) -> PartedColumn:
        """Return a function of columns, evaluated where the rows are."""
        return self._rows.compute("mapped", function, columns)

    def on(self, threads: int) -> PartedMasses:
        """Return the same: the rows' sums are the parts' work."""
        return self

    def values_of(self, what: Callable[..., Any], columns: Mapping[str, Any], *numbers: Any) -> tuple[Any, ...]:
        """Return a formula's values for every row, a column each, given its columns by name."""
        return self._rows.values(what, columns, *numbers)

    def sums_of(self, what: Callable[..., Any], columns: Mapping[str, Any], *numbers: Any) -> tuple[float, ...]:
        """Return the sum of each of a formula's values, given its columns by name."""
        found = self.total(*self._rows.values(what, columns, *numbers))
        return found if isinstance(found, tuple) else (found,)

    def largest_size(self, x: Any) -> float:
        """Return the largest magnitude."""
        return float(np.abs(x).max())

    def totals_of(self, function: Callable[..., Any], n_values: int, *columns: Any) -> list[float]:
        """Return the sum of each of a function's values, one column a value."""
        return [self.total(x) for x in self.map(function, *columns).T]


class PartedScores:
    """The running vote."""

    def __init__(self, rows: PartitionedRows) -> None:
        self._rows = rows

    @property
    def F(self) -> PartedColumn:
        """The scores now."""
        return self._rows.column("F")

    @property
    def now(self) -> PartedColumn:
        """The same."""
        return self.F

    def map(self, function: Callable[..., Any], *numbers: Any) -> PartedColumn:
        """Return a function of the scores and of numbers, evaluated where the rows are."""
        return self._rows.compute("mapped", function, (self.F, *numbers))


class PartedWatched:
    """Rows in parts that are not trained on, and their scores.

    Parameters
    ----------
    rows : PartitionedRows
        The rows, for the same rule.
    """

    def __init__(self, rows: PartitionedRows) -> None:
        self.table, self.scores = rows, rows.scores

    def advance(self, answer: Step | Reweigh, voter: Any) -> None:
        """Let a voter join the scores."""
        self.table.order("advance", answer, self.table.votes(voter))


class PartedExponentials:
    """exp(-y F) up to a common factor, as `Exponentials` keeps it: which side changes is decided by all parts."""

    FAR = 40.0

    def __init__(self, rows: PartitionedRows) -> None:
        self.rows, self.labels = rows, rows.rule.n_outputs == "one"
        self.gap = 2.0 if self.labels else 1.0
        self.masses: Any = None  # of the labels, per slot, once they are asked for
        self.wrong = True  # which side was scaled last
        self.renew()

    def renew(self) -> None:
        """Compute all weights from the scores, the largest 1."""
        self.up = self.down = 0.0
        self.kept = self.rows.compute("renew_weights", self.rows.ask("largest_log")[0])

    @property
    def w(self) -> PartedColumn:
        """The weights."""
        return self.kept

    def follows(self, h: PartedColumn) -> bool:
        """Return whether these votes are labels, or numbers of classes."""
        return h.dtype == np.int8 if self.labels else h.ndim == 1

    def advance(self, alpha: float, h: PartedColumn, voter: Any) -> None:
        """Follow a vote of alpha * h."""
        apart = self.gap * alpha
        if abs(apart) < self.FAR:
            known = self._known_mass(h)
            if known is None and max(self.up, self.down) + abs(apart) < self.FAR:
                self._suppose(apart, h)
                return
            mass = self.rows.ask("wrong_mass", h, self.labels)[0] if known is None else known
            self._scale(self._few(mass), apart, h, True)
            if self.up < self.FAR and self.down < self.FAR:
                return
        self.renew()

    def _few(self, wrong_mass: int) -> bool:
        """Return whether the examples that a vote is wrong on are the fewer."""
        return 2 * wrong_mass <= self.rows.n_sample

    def _scaling(self, wrong: bool, apart: float, h: PartedColumn, surely: bool) -> Call:
        """Return the order that scales one side, and take note of it."""
        power = apart if wrong else -apart
        self.wrong, self.up, self.down = wrong, self.up + max(power, 0.0), self.down + max(-power, 0.0)
        return "scale_side", (h, self.labels, wrong, exp_of(power), surely)

    def _scale(self, *args: Any) -> None:
        operation, given = self._scaling(*args)
        self.rows.order(operation, *given)

    def _suppose(self, apart: float, h: PartedColumn) -> None:
        """Scale the side that was scaled last, and find out with the next exchange whether it is the right one."""
        supposed, before = self.wrong, (self.up, self.down)

        def mend(answer: Answer) -> list[Call]:
            if self._few(answer[0]) == supposed:
                self.rows.order("sure")
                return []
            self.up, self.down = before
            return [("unscale", ()), self._scaling(not supposed, apart, h, True)]

        self._scale(supposed, apart, h, False)
        self.rows.exchanges.suppose(("wrong_mass", (h, self.labels)), mend)

    def _known_mass(self, h: PartedColumn) -> int | None:
        """Return how many examples a vote is wrong on, where it goes by the slots of one column; else None."""
        said = self._by_slot(h)
        if said is None:
            return None
        masses, votes = said
        named = (votes > 0).astype(np.intp) if self.labels else votes.astype(np.intp)
        return int(masses.sum() - masses[named, np.arange(len(named))].sum())

    def _by_slot(self, h: PartedColumn) -> tuple[Any, Any] | None:
        """Return the examples of each label in the slots of a column, and the votes on them; None if votes do not go by
        the slots of one.
        """
        said = None if h.voter is None else self.rows.votes_by_slot(h.voter)
        if said is None:
            return None
        mine, votes = said
        if self.masses is None:
            (self.masses,) = self.rows.ask("label_masses", self.labels, 2 if self.labels else self.rows.n_classes)
        return self.masses[:, mine], votes


class PartedShiftedExponentials(PartedExponentials):
    """The same up to a shift of the scores, as `ShiftedExponentials` keeps it, for labels -1 and +1."""

    def renew(self) -> None:
        """Compute all weights from the scores, the largest 1."""
        super().renew()
        self.at, self._whole = ScoreShift(), list[PartedColumn]()

    @property
    def v(self) -> PartedColumn:
        """The weights without the shift."""
        return self.kept

    @property
    def w(self) -> PartedColumn:
        """The weights, the same column until the next vote."""
        if not self._whole:
            self._whole.append(self.rows.compute("of_both_labels", self.kept, *self.at.factors))
        return self._whole[0]

    def advance(self, alpha: float, h: PartedColumn, voter: Any) -> None:
        """Follow a vote of alpha * h, of this voter."""
        if self.at.serves(alpha):
            said = self._by_slot(h)
            voted = self.rows.ask("mass_voted", h)[0] if said is None else int(said[0][:, said[1] > 0].sum())
            side = ScoreShift.side(voted, self.rows.n_sample, voter.above)
            self.rows.order("scale_voted", h, side, *ScoreShift.moves(alpha))
            self._whole.clear()
            if self.at.follow(alpha, side):
                return
        self.renew()
