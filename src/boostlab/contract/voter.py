"""Voters: what a learner returns and an ensemble sums up, and how model files hold them.

A file that defines a learner also says here how its voters are stored (`voter_kind`) and that its parameters may be
(`stored_learner`), so that nothing else needs to know of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from boostlab.contract.rule import Rule

Array = npt.NDArray[Any]
Arrays = Mapping[str, Array]
Layout = Mapping[str, tuple[str, tuple[str | int, ...]]]
VoterClass = TypeVar("VoterClass", bound="type[Voter]")
Class = TypeVar("Class", bound=type)

LARGEST_SCORE = 1e100  # scores and votes beyond it are no model's, and could overflow
VOTE = "K"  # the letter of a layout for the numbers in one vote

KINDS: dict[str, type[Voter]] = {}  # the kinds of voters that model files know
LEARNERS: dict[str, type[Any]] = {}  # the learners whose parameters model files know


LABELS = (1.0, -1.0, 0.0)
FEW = 16  # votes, up to which NumPy takes longer than Python


def compact(votes: Array) -> Array:
    """Return labels -1 and +1 as int8, other votes as they are; integers are numbers of classes."""
    return votes.astype(np.int8) if votes.dtype.kind == "f" and (np.abs(votes) == 1.0).all() else votes


def of_labels(votes: Array) -> Array:
    """Return a few votes on labels, -1, 0 and +1, as int8; others as they are."""
    return votes.astype(np.int8) if all(vote in LABELS for vote in votes.reshape(-1).tolist()) else votes


def magnitude(votes: Any) -> float:
    """Return the largest magnitude of some votes; one that names a class by its number has the magnitude 1."""
    votes = np.asarray(votes)
    if votes.dtype.kind != "f":
        return 1.0
    return float(np.abs(votes).max()) if votes.size > FEW else max(map(abs, votes.reshape(-1).tolist()))


def votes_of(voter: Any, table: Any) -> Array:
    """Return the votes of a voter, or of a tuple of them as columns."""
    if isinstance(voter, tuple):
        return np.stack([v.votes(table) for v in voter], axis=1)
    return voter.votes(table)


class Voter:
    """One function of a row.

    A subclass says `bound` and `votes`; whatever else it knows of itself, it says by the other methods.

    Examples
    --------
    >>> import numpy as np
    >>> from boostlab.contract import Voter
    >>> class Always(Voter):
    ...     bound = 1.0
    ...
    ...     def votes(self, table):
    ...         return np.ones(table.n_rows)
    >>> Always().in_words(None)
    'Always'
    """

    __slots__ = ()

    layout: ClassVar[Layout] = {}  # its arrays in a model file: type and shape, a letter for a length (see `VOTE`)
    holds: ClassVar[str] = ""  # the kind of the voter inside it, if there is one

    @property
    def bound(self) -> float:
        """The largest magnitude of a vote."""
        raise NotImplementedError

    @property
    def only_column(self) -> int | None:
        """The one column that it looks at; None where there are others."""
        return None

    def by_slot(self, width: int) -> Array | None:
        """Return the votes on the slots, so many, of its one column, where it votes by these; else None."""
        return None

    def cuts(self) -> tuple[Sequence[int], Sequence[float]] | None:
        """Return the columns and thresholds that its votes depend on; None where they depend on numbers otherwise."""
        return None

    def votes(self, table: Any) -> Array:
        """Return the votes on all rows, of shape (n_rows,) or (n_rows, n_classes).

        Where there is one score a class, a single vote a row is an integer: the number of the class it is for.
        """
        raise NotImplementedError

    def key(self) -> tuple[Hashable, float]:
        """Return what tells it from others, the same for its complement, and the sign that tells these two apart."""
        return id(self), 1.0

    def importances(self, n_features: int) -> tuple[list[int], list[float]]:
        """Return the features it uses, and how much each matters to it (half the distance between its votes)."""
        return [], []

    def in_words(self, names: Any) -> str:
        """Return it as a rule that a person reads; `names` (of `learners.words`) knows columns and classes."""
        return type(self).__name__

    # -- model files -------------------------------------------------------------------------------------------------

    @property
    def vote_ndim(self) -> int:
        """0 where a vote is one number, 1 where it is one a class."""
        return 0

    @property
    def inside(self) -> Voter:
        """The voter of the kind `holds`."""
        raise NotImplementedError

    @property
    def stored_as(self) -> str:
        """The name of its kind in a model file; empty where a file cannot hold it."""
        return next((name for name, cls in KINDS.items() if cls is type(self)), "")

    @property
    def shown_kind(self) -> str:
        """What messages call its kind."""
        return type(self).__name__

    @classmethod
    def pack(cls, voters: Sequence[Any]) -> dict[str, Any]:
        """Return voters of this kind as the arrays of `layout`, or as lists of what these hold."""
        raise NotImplementedError

    @classmethod
    def unpack(cls, arrays: Arrays, setting: Setting) -> Iterable[Any]:
        """Return the voters (functions of the voter inside, where there is one), after checking (`need`) all arrays.

        Types and shapes have been compared with `layout`.
        """
        raise NotImplementedError

    def check(self, setting: Setting) -> None:
        """Refuse (`need`) what no training makes, where it is a voter and not inside another."""


class Unfit(ValueError):
    """Content of a model file that no voter has."""


def need(holds: Any, cause: str) -> None:
    """Refuse content of which something does not hold."""
    if not holds:
        raise Unfit(cause)


@dataclass
class Setting:
    """What the voters of a model file must fit to."""

    rule: Rule
    n_classes: int
    n_features: int
    n_categories: Mapping[int, int]  # of the categorical columns
    single: bool = True  # whether every vote is one number rather than one a class

    @property
    def by_class(self) -> bool:
        """Whether there is one score a class."""
        return self.rule.n_outputs != "one"

    @property
    def names_classes(self) -> bool:
        """Whether a vote is the number of a class."""
        return self.rule.needs == "labels"

    def sane(self, numbers: Array, what: str) -> None:
        """Refuse numbers that are none, or too large."""
        need((np.abs(numbers) <= LARGEST_SCORE).all(), f"{what} is not a number, or too large")

    def named(self, votes: Array) -> Array:
        """Return votes as integers where they are numbers of classes."""
        if not self.names_classes:
            return votes
        need(np.isin(votes, np.arange(self.n_classes)).all(), "a vote for a class that does not exist")
        return votes.astype(np.min_scalar_type(-self.n_classes))


def voter_kind(name: str) -> Callable[[VoterClass], VoterClass]:
    """Let model files know a class of voters by a name (a decorator, above `dataclass`).

    Examples
    --------
    >>> from boostlab.contract import Voter, voter_kind
    >>> from boostlab.contract.voter import KINDS
    >>> @voter_kind("nothing")
    ... class Nothing(Voter):
    ...     pass
    >>> Nothing().stored_as
    'nothing'
    >>> KINDS.pop("nothing") is Nothing
    True
    """

    def register(cls: VoterClass) -> VoterClass:
        taken = {array for kind, other in KINDS.items() if kind != name for array in other.layout}
        if taken & cls.layout.keys():
            raise ValueError(f"Other voters have arrays named {sorted(taken & cls.layout.keys())}; rename them.")
        KINDS[name] = cls
        return cls

    return register


def stored_learner(cls: Class) -> Class:
    """Let model files hold a learner's parameters (a decorator).

    Examples
    --------
    >>> from boostlab.contract import Learner, stored_learner
    >>> from boostlab.contract.voter import LEARNERS
    >>> @stored_learner
    ... class Mine(Learner):
    ...     pass
    >>> LEARNERS.pop("Mine") is Mine
    True
    """
    LEARNERS[cls.__name__] = cls
    return cls
