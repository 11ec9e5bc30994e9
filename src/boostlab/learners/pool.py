"""An explicit finite set of voters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isfunction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from boostlab.backend import CpuSample
from boostlab.contract import (
    Found,
    Learner,
    Session,
    Stop,
    Task,
    Voter,
    residual_moments,
    stored_learner,
    voter_kind,
)
from boostlab.contract.voter import Arrays, Layout, Setting, need
from boostlab.data.matrix import extremes
from boostlab.data.table import Table
from boostlab.learners.criteria import SampleVariancePenalty
from boostlab.learners.fitted_stump import Stump

Array = npt.NDArray[Any]

FRESH = 1000  # rounds between full recomputations of correlations, against drift


@voter_kind("pool_stump")
@dataclass(slots=True)
class PoolVoter(Voter):
    """Member number `index` of a pool, its complement (sign -1), or, fitted by least squares, a multiple (sign)."""

    index: int
    sign: float
    member: Any
    bound: float = 1.0

    layout: ClassVar[Layout] = {"pool_index": ("<i8", ("P",)), "pool_sign": ("<f8", ("P",))}
    holds: ClassVar[str] = "stump"

    def votes(self, table: Table) -> Array:
        """Return the votes on all rows of a table."""
        return self.sign * _member_votes(self.member, table)

    def predict(self, X: Array) -> Array:
        """Return the votes on the rows of a plain array."""
        return self.votes(Table.raw(X))

    def key(self) -> tuple[Hashable, float]:
        """By the member."""
        return ("pool", self.index), self.sign

    def importances(self, n_features: int) -> tuple[list[int], list[float]]:
        """Those of a stump; a callable does not say."""
        return self.member.importances(n_features) if isinstance(self.member, Stump) else ([], [])

    @property
    def inside(self) -> Voter:
        """The member, where it is a stump."""
        return self.member

    @property
    def stored_as(self) -> str:
        """A file holds members that are stumps."""
        plain = type(self.member) is Stump and self.bound == abs(self.sign) * self.member.bound
        return "pool_stump" if plain else ""

    @property
    def shown_kind(self) -> str:
        """That of the member: of a function its name."""
        return self.member.__qualname__ if isfunction(self.member) else type(self.member).__name__

    @classmethod
    def pack(cls, voters: Sequence[PoolVoter]) -> dict[str, Any]:
        """Return the places in the pool; the members are stumps like others."""
        return {"pool_index": [v.index for v in voters], "pool_sign": [v.sign for v in voters]}

    @classmethod
    def unpack(cls, arrays: Arrays, setting: Setting) -> Iterator[Callable[[Voter], PoolVoter]]:
        """Return what makes a member of a pool of each stump."""
        index, sign = arrays["pool_index"], arrays["pool_sign"]
        need((index >= 0).all(), "a pool member has no number")
        setting.sane(sign, "a pool member's sign")
        need((sign != 0).all(), "a pool member has no sign")
        for i, s in zip(index.tolist(), sign.tolist(), strict=True):
            yield partial(cls._of, i, s)

    @classmethod
    def _of(cls, index: int, sign: float, member: Voter) -> PoolVoter:
        return cls(index, sign, member, abs(sign) * member.bound)


def _member_votes(member: Any, table: Table) -> Array:
    if isinstance(member, Stump):
        return member.votes(table)
    out = np.asarray(member(table.floats), dtype=np.float64)
    if out.shape != (table.n_rows,):
        raise ValueError(f"A pool voter must return one number a row; {member!r} returned the shape {out.shape}.")
    if not np.isfinite(out).all():
        raise ValueError(f"A pool voter must return finite numbers; {member!r} returned NaN or infinity.")
    return out


@stored_learner
class VoterPool(Learner, BaseEstimator):
    """A finite pool of voters as a weak learner: each round takes the best of them.

    Parameters
    ----------
    voters : sequence of callables, optional
        Each maps an array of shape (n_rows, n_features), or a CSR matrix where the table is sparse, to n_rows numbers
        (-1 and +1, or real).  By default the pool holds `stumps_per_feature` stumps on every column.
    stumps_per_feature : int, default=10
        Number of evenly spaced thresholds inside every column's training range, when `voters` is None.
    complements : bool, default=True
        Whether the negative of every voter belongs to the pool as well.

    Examples
    --------
    >>> import numpy as np
    >>> from boostlab import AdaBoostClassifier, VoterPool
    >>> signs = [lambda X, j=j: np.sign(X[:, j] - 0.5) for j in range(2)]
    >>> AdaBoostClassifier(VoterPool(signs)).fit([[0, 1], [1, 1]], [0, 1]).predict([[1, 0]])
    array([1])
    """

    excludes = True

    def __init__(
        self,
        voters: Sequence[Callable[[Array], Array]] | None = None,
        stumps_per_feature: int = 10,
        complements: bool = True,
    ) -> None:
        self.voters = voters
        self.stumps_per_feature = stumps_per_feature
        self.complements = complements

    def searches(self) -> frozenset[str]:
        """Return the criteria it can search."""
        return frozenset(["edge", "svp", "risk", "coordinate", "least_squares"])

    def begin(self, rows: CpuSample, rng: np.random.Generator) -> PoolSession:
        """Start work on a sample."""
        if not isinstance(self.complements, bool | np.bool_):
            raise ValueError(f"complements={self.complements!r} of VoterPool must be True or False.")
        members = self._stumps(rows.table.X) if self.voters is None else self._given(self.voters)
        return PoolSession(members, rows, self.complements)

    def _given(self, voters: Any) -> list[Any]:
        members = list(voters) if isinstance(voters, Iterable) else [None]
        if not all(callable(m) or isinstance(m, Stump) for m in members):
            raise ValueError(
                f"voters={voters!r} of VoterPool must be a list of callables, each from a table to one number a row."
            )
        if not members:
            raise ValueError("The pool is empty: give VoterPool at least one voter, or none for stumps.")
        return members

    def _stumps(self, X: Any) -> list[Stump]:
        k = self.stumps_per_feature
        if not (isinstance(k, int | np.integer) and k >= 1):
            raise ValueError(f"stumps_per_feature={k!r} must be a whole number of at least 1.")
        low, high = extremes(X)
        return [
            Stump(j, None, float(low[j] * (1 - i / (k + 1)) + high[j] * (i / (k + 1))), -1.0, 1.0)  # no overflow
            for j in range(X.shape[1])
            if high[j] > low[j]
            for i in range(1, k + 1)
        ]


class PoolSession(Session):
    """Search of a pool on one sample, with a memory for residual tasks.

    When the task is linear in the scores, adding alpha * h_k lowers every member's correlation with the residual by
    alpha * <h_j, h_k>: a cached Gram row instead of a pass over the rows, O(pool) a round.

    It also knows the coefficients that its members have by now.  For "coordinate" a member's complement is no candidate
    while the member has a positive coefficient, and the other way round: of the two at most one votes.
    """

    def __init__(self, members: list[Any], rows: CpuSample, complements: bool) -> None:
        votes = np.array([_member_votes(m, rows.table) for m in members]).reshape(len(members), rows.n_rows)
        self.labels = bool(np.isin(votes, (-1.0, 1.0)).all())
        self.votes = votes.astype(np.int8) if self.labels else votes
        self.bounds = np.abs(votes).max(axis=1, initial=0.0)
        self.members, self.rows, self.complements = members, rows, complements
        self.gram: dict[int, Array] = {}
        self.correlations: Array | None = None
        self.age, self.fresh = 0, FRESH  # rounds since, and between, full recomputations
        self.coefficients = np.zeros(len(members))  # negative where it is the complement's
        self.squares = np.ones(len(members))
        if not self.labels:
            self.squares = np.array([rows.total(v * v) for v in votes]) / rows.n

    def best(self, task: Task) -> Found | Stop:
        """Return the member (or complement) that is worth most; of equals the first."""
        if not self.members:
            return Stop("no_edge", "every column is constant, so there is no stump in the pool")
        if task.criterion == "svp":
            return self._least_variance(task)
        if task.criterion == "least_squares":
            return self._least_squares(task)
        if not task.linear or task.counts is not None:
            edges = self._edges(task.weight * task.target, task.counts)
        else:
            if self.correlations is None or self.age >= self.fresh:
                self.correlations, self.age = self._edges(task.weight * task.target, None), 0
            edges = self.correlations
            self.age += 1
        signs = np.where(edges < 0, -1.0, 1.0) if self.complements else np.ones(len(edges))
        standing = self.coefficients if task.criterion == "coordinate" else np.zeros(len(edges))
        signs = np.where(standing == 0, signs, np.sign(standing))
        barred = np.zeros(len(edges), bool)
        if task.without is not None:
            barred = self._same(task.without, signs)
            if self.complements:  # the complement of a barred voter may still be chosen, unless it is the same
                signs = np.where(barred, -signs, signs)
                barred = self._same(task.without, signs)
        worth = np.where(barred, -np.inf, self._worth(task, signs * edges, signs * standing))
        k = int(worth.argmax())
        if worth[k] == -np.inf:
            return Stop("no_edge", "the pool holds no other voter than the one to leave out")
        sums: dict[Any, tuple[float, float]] = {}
        if task.linear and task.counts is None:
            sums = {residual_moments: (float(signs[k] * edges[k]), float(self.squares[k] * self.rows.n))}
        return self._found(k, float(signs[k]), float(self.bounds[k]), sums)

    def _least_variance(self, task: Task) -> Found | Stop:
        """Return the label voter whose best step lowers EBBoost's cost most."""
        svp, w = SampleVariancePenalty(), self.rows.tame(task.weight)
        signed = np.array([self._edges(x * task.target, task.counts) for x in (w, w * w)])
        gross = np.array([self.rows.sums(x, task.counts)[1] for x in (w, w * w)])
        sums = -signed / 2, signed / 2, gross, svp.numbers(task.params)  # a voter and its complement share the cost
        up = svp.upright(*sums)
        cost = np.where(up | self.complements, svp.cost(*sums), np.inf)
        k = int(cost.argmin())
        if cost[k] == np.inf:
            return Stop("no_edge", "no voter of the pool lowers the penalised cost")
        return self._found(k, 1.0 if up[k] else -1.0, float(self.bounds[k]))

    def _least_squares(self, task: Task) -> Found | Stop:
        """Return the member whose best multiple is nearest to the targets, times it."""
        top = self._edges(task.weight * task.target, task.counts)
        square = self.rows.sums(task.weight, task.counts)[0] if self.labels else self._squares(task)
        factor = np.divide(top, square, out=np.zeros(len(top)), where=square > 0)
        gain = np.where((factor > 0) | self.complements, factor * top, 0.0)
        k = int(gain.argmax())
        if gain[k] <= 0.0:
            return Stop("no_edge", "no multiple of a voter of the pool is nearer to the targets than nothing")
        return self._found(k, float(factor[k]), float(abs(factor[k]) * self.bounds[k]))

    def _squares(self, task: Task) -> Array:
        """Return the weighted sums of the members' squared votes."""
        return np.array([self.rows.sums(task.weight * v * v, task.counts)[0] for v in self.votes])

    def _same(self, votes: Array, signs: Array) -> Array:
        """Return which candidates vote like these votes."""
        up, down = ((self.votes == v.astype(self.votes.dtype)).all(axis=1) for v in (votes, -votes))
        return np.where(signs > 0, up, down)

    def _worth(self, task: Task, edges: Array, coefficients: Array) -> Array:
        """Return what the candidates are worth: the edge, or what the rule says."""
        if task.gain is None:
            return edges
        n = self.rows.n if task.counts is None else float(task.counts.sum())
        return task.gain(edges / n, self.squares, coefficients)

    def _found(self, k: int, sign: float, bound: float, sums: Mapping[Any, Any] | None = None) -> Found:
        """Return a multiple of a member, whose votes on the training rows are known."""
        kind = self.votes.dtype.type if abs(sign) == 1.0 else np.float64
        return Found(PoolVoter(k, sign, self.members[k], bound), self.votes[k] * kind(sign), sums or {})

    def added(self, voter: PoolVoter | tuple[Any, ...], alpha: float) -> None:
        """Follow the coefficients, and a residual through the Gram matrix."""
        if isinstance(voter, tuple):  # of several scores none is the residual to follow
            self.forget()
            return
        self.coefficients[voter.index] += voter.sign * alpha
        if self.correlations is not None:
            k = voter.index
            if k not in self.gram:
                self.gram[k] = self._edges(self.votes[k].astype(np.float64), None)
            self.correlations = self.correlations - (alpha * voter.sign) * self.gram[k]

    def forget(self) -> None:
        """Look at the rows again."""
        self.correlations = None

    def _edges(self, x: Array, counts: Array | None) -> Array:
        if self.labels:  # integer votes times integer rows: exact
            return self.rows.label_sums(self.votes, x, counts)
        return np.array([self.rows.sums(v * x, counts)[0] for v in self.votes])
