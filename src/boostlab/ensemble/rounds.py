"""What rounds left behind: one after the other, or many of a compiled call as columns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import itemgetter
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from boostlab.contract import Each

Array = npt.NDArray[Any]


@dataclass(slots=True)
class Round:
    """What one round left behind."""

    voter: Any  # one voter, or a tuple of them (one per class)
    alpha: float
    decay: float = 1.0  # what the round multiplied all earlier coefficients by
    alphas: Array | None = None  # all coefficients so far, where the rule set them anew
    facts: dict[str, float] = field(default_factory=dict)
    each: Each | None = None  # coefficients of the classes, where they have their own


class ManyRounds:
    """Rounds that differ in voter, coefficient, decay and facts only, as columns.

    The first look at one of them makes a `Round` of each, which is then what counts: its facts may be changed.

    Parameters
    ----------
    voters : sequence
        A voter a round.
    alphas : sequence of floats
        Their coefficients.
    facts : mapping of names to sequences of floats
        A column a fact.
    decays : sequence of floats, optional
        What they multiplied earlier coefficients by.
    """

    __slots__ = ("_made", "alphas", "decays", "facts", "voters")

    def __init__(
        self,
        voters: Sequence[Any],
        alphas: Sequence[float],
        facts: Mapping[str, Any],
        decays: Sequence[float] | None = None,
    ) -> None:
        self.voters, self.alphas, self.decays = voters, alphas, decays
        self.facts = {name: np.asarray(column, np.float64) for name, column in facts.items()}
        self._made: list[Round] | None = None

    def __len__(self) -> int:
        return len(self.alphas)

    @property
    def now(self) -> ManyRounds | list[Round]:
        """These columns, or what was made of them."""
        return self if self._made is None else self._made

    @property
    def made(self) -> list[Round]:
        """The rounds."""
        if self._made is None:
            columns = [column.tolist() for column in self.facts.values()]
            told = (dict(zip(self.facts, values, strict=True)) for values in zip(*columns, strict=True))
            each = zip(self.voters, self.alphas, self.decays or repeat(1.0, len(self)), told, strict=True)
            self._made = [Round(v, a, d, facts=f) for v, a, d, f in each]
        return self._made


Part = ManyRounds | list[Round]


class Rounds(Sequence[Round]):
    """Rounds in their order, some of them as columns.

    Parameters
    ----------
    rounds : iterable of Round
        The first of them; those of other `Rounds` stay as they are.

    Examples
    --------
    >>> rounds = Rounds([Round("h", 0.5)])
    >>> rounds.join(ManyRounds(["g", "h"], [0.25, 1.0], {"error": [0.4, 0.3]}))
    >>> [r.voter for r in rounds], rounds[-1].facts, len(rounds[:2])
    (['h', 'g', 'h'], {'error': 0.3}, 2)
    """

    def __init__(self, rounds: Iterable[Round] = ()) -> None:
        self._parts: list[tuple[int, Part]] = []  # where each starts; lists are this object's own
        for part in parts_of(rounds):
            self._add(list(part) if isinstance(part, list) else part)

    def _add(self, part: Part) -> None:
        if len(part) > 0:
            self._parts.append((len(self), part))

    def append(self, new: Round) -> None:
        """Add a round, at once: an interrupt leaves whole rounds only."""
        if self._parts and isinstance(self._parts[-1][1], list):
            self._parts[-1][1].append(new)
        else:
            self._add([new])

    def join(self, new: ManyRounds) -> None:
        """Add many rounds, at once."""
        self._add(new)

    @property
    def parts(self) -> list[Part]:
        """The rounds as lists and columns."""
        return [part if isinstance(part, list) else part.now for _, part in self._parts]

    def ends_with_last_of(self, other: Rounds) -> bool:
        """Return whether the last round is the same object as another's; none is made to see it."""
        if not self or not other:
            return False
        (start, mine), (its_start, its) = self._parts[-1], other._parts[-1]
        if isinstance(mine, ManyRounds) and mine is its:
            return len(self) - start == len(other) - its_start
        return self[-1] is other[-1]

    def __len__(self) -> int:
        if not self._parts:
            return 0
        start, last = self._parts[-1]
        return start + len(last)

    def __iter__(self) -> Iterator[Round]:
        for _, part in self._parts:
            yield from part if isinstance(part, list) else part.made

    @overload
    def __getitem__(self, at: int) -> Round: ...
    @overload
    def __getitem__(self, at: slice) -> Rounds: ...
    def __getitem__(self, at: int | slice) -> Round | Rounds:
        if isinstance(at, slice):
            return self._between(at)
        place = at + len(self) if at < 0 else at
        if not 0 <= place < len(self):
            raise IndexError(f"there are {len(self)} rounds, and no round {at}")
        start, part = self._parts[bisect_right(self._parts, place, key=itemgetter(0)) - 1]
        return (part if isinstance(part, list) else part.made)[place - start]

    def _between(self, bounds: slice) -> Rounds:
        """Return some of the rounds; columns of which all are wanted stay as they are."""
        first, last, step = bounds.indices(len(self))
        if step != 1:
            return Rounds(list(self)[bounds])
        some = Rounds()
        for start, part in self._parts:
            a, b = max(first - start, 0), min(last - start, len(part))
            if isinstance(part, ManyRounds) and (a, b) == (0, len(part)):
                some._add(part)
            elif a < b:
                some._add((part if isinstance(part, list) else part.made)[a:b])
        return some

    def __add__(self, more: Sequence[Round]) -> Rounds:
        both = Rounds(self)
        for part in Rounds(more)._parts:
            both._add(part[1])
        return both

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rounds | list) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # rounds may be added

    def __repr__(self) -> str:
        return repr(list(self))

    @property
    def voters(self) -> list[Any]:
        """The voter of every round."""
        out: list[Any] = []
        for part in self.parts:
            out += part.voters if isinstance(part, ManyRounds) else [r.voter for r in part]
        return out


def parts_of(rounds: Iterable[Round]) -> list[Part]:
    """Return rounds as lists and columns."""
    return [part for _, part in rounds._parts] if isinstance(rounds, Rounds) else [list(rounds)]


def coefficients(rounds: Sequence[Round]) -> Array:
    """Return the coefficients of all voters after these rounds, decay and re-weighting applied; T x K if `each`."""
    parts = Rounds(rounds).parts
    singles = (r for part in parts if isinstance(part, list) for r in part)
    own = next((r.each for r in singles if r.each is not None), None)
    alphas, t = np.zeros(len(rounds) if own is None else (len(rounds), len(own.alphas))), 0
    for part in parts:
        if isinstance(part, ManyRounds):
            alphas[t : t + len(part)] = np.reshape(part.alphas, (-1, *[1] * (alphas.ndim - 1)))
            for at, decay in enumerate(part.decays or (), t):
                alphas[:at] *= decay
            t += len(part)
            continue
        for r in part:
            if r.alphas is not None:
                alphas[: t + 1] = r.alphas
            elif r.each is not None:
                alphas[:t] *= r.each.decays
                alphas[t] = r.each.alphas
            else:
                if r.decay != 1.0:
                    alphas[:t] *= r.decay
                alphas[t] = r.alpha
            t += 1
    return alphas


def key_of(voter: Any) -> tuple[Hashable, float]:
    """Return what tells a voter from others (see `Voter.key`); a tuple of voters is like no other."""
    return (id(voter), 1.0) if isinstance(voter, tuple) else voter.key()


def joined(rounds: Sequence[Round]) -> tuple[list[Any], Array]:
    """Return every voter once, in the order they first came, and the sum of what all its rounds gave it."""
    voters: dict[Hashable, Any] = {}
    sums: dict[Hashable, float] = {}
    for r in rounds:
        key = key_of(r.voter)
        voters.setdefault(key, r.voter)
        sums[key] = sums.get(key, 0.0) + r.alpha
    return list(voters.values()), np.array(list(sums.values()))


def history(rounds: Sequence[Round]) -> dict[str, Any]:
    """Return the rounds' facts as columns of equal length (NaN where a round has no such fact)."""
    parts = Rounds(rounds).parts
    told = [part.facts if isinstance(part, ManyRounds) else columns([r.facts for r in part]) for part in parts]
    names = dict.fromkeys(["alpha", *(name for its in told for name in its)])

    def column(name: str) -> Array:
        if not told:
            return np.empty(0)
        each = [its[name] if name in its else np.full(len(part), np.nan) for part, its in zip(parts, told, strict=True)]
        return np.concatenate(each)

    return {name: column(name) for name in names}


def columns(facts: Sequence[Mapping[str, float]]) -> dict[str, Array]:
    """Return what is said of some rounds as a column a fact (NaN where a round has no such fact)."""
    first = tuple(facts[0])
    if all(tuple(told) == first for told in facts):
        table = np.array([list(told.values()) for told in facts], np.float64)
        return dict(zip(first, table.T.copy(), strict=True))
    names = dict.fromkeys(name for told in facts for name in told)
    return {name: np.array([told.get(name, np.nan) for told in facts]) for name in names}
