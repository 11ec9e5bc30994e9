"""The fitted vote: scores, staged scores, margins, importances."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract import Rule
from boostlab.contract.voter import votes_of as votes_of
from boostlab.data.evaluation import add_weighted, scores_after
from boostlab.data.matrix import is_sparse
from boostlab.data.table import Table
from boostlab.ensemble.flat_trees import FlatTrees
from boostlab.ensemble.leaf_masks import LeafMasks
from boostlab.ensemble.lookup import LookupTable
from boostlab.ensemble.rounds import ManyRounds, Round, Rounds, coefficients, joined, key_of
from boostlab.learners.fitted_stump import CategoryStump, Stump, Stumps
from boostlab.learners.together import votes_of_each

Array = npt.NDArray[Any]


class VoteBound:
    """The largest magnitude a score can have, sum of |alpha| max|h|, round by round.

    Parameters
    ----------
    comes_back : bool
        Whether equal voters are one voter, whose coefficient is the sum of theirs.
    """

    def __init__(self, comes_back: bool = False) -> None:
        self.value = 0.0
        self.comes_back = comes_back
        self._largest: list[float] = []  # max|h| of every voter
        self._sums: dict[Hashable, float] = {}  # coefficients of voters that may come back
        self._classes: Array | float = 0.0  # the bound of every class, where they have their own coefficients

    def standing(self, voter: Any) -> float:
        """Return the coefficient that a voter which may come back has already."""
        return self._sums.get(key_of(voter), 0.0) if self.comes_back else 0.0

    def add(self, r: Round) -> float:
        """Take in one more round and return the bound after it."""
        if self.comes_back:
            before = self.standing(r.voter)
            self._sums[key_of(r.voter)] = after = before + r.alpha
            self.value = max(0.0, self.value + (abs(after) - abs(before)) * _bound(r.voter))
            return self.value
        self._largest.append(_bound(r.voter))
        if r.each is not None:
            largest = np.array([v.bound for v in r.voter])
            self._classes = np.abs(r.each.decays) * self._classes + np.abs(r.each.alphas) * largest
            self.value = float(np.max(self._classes))
        elif r.alphas is not None:
            self.value = float(np.abs(r.alphas) @ np.array(self._largest))
        else:
            self.value = abs(r.decay) * self.value + abs(r.alpha) * self._largest[-1]
        return self.value

    def add_many(
        self, largest: Sequence[float], alphas: Sequence[float], decays: Sequence[float] | None = None
    ) -> None:
        """Take in rounds of voters that vote numbers, so large, and do not come back."""
        self._largest += largest
        if decays is not None:
            for size, alpha, decay in zip(largest, alphas, decays, strict=True):
                self.value = abs(decay) * self.value + abs(alpha) * size
            return
        rises = np.abs(alphas) * np.array(largest)
        self.value = float(np.add.accumulate(np.append(self.value, rises))[-1])  # one after the other, as `add` does


def constant(vote: float) -> Stump:
    """Return a voter that says the same of every row."""
    return Stump(0, None, np.inf, vote, vote, vote)


def settle(F: Array, bound: float) -> Array:
    """Make ties exact: scores that differ by less than rounding can tell (1e-12 of the largest possible) become equal.

    So the lookup table, the stages and the monitors, which add the same votes in different orders, decide alike.
    """
    return settle_within(F, tie_of(bound))


def tie_of(bound: float) -> float:
    """Return how near to each other scores of at most this magnitude are a tie."""
    return 1e-12 * bound


def settle_within(F: Array, tie: float) -> Array:
    """Make scores equal that are so near to each other: one score and 0, or the largest of several and others."""
    if F.ndim == 1:
        return np.where(np.abs(F) <= tie, 0.0, F)
    top = F.max(axis=1, keepdims=True)
    return np.where(top - tie <= F, top, F)


def decide(F: Array) -> Array:
    """Return class indices: 1 where a single score is positive, else 0; of several scores the first largest."""
    return (F > 0).astype(np.intp) if F.ndim == 1 else F.argmax(axis=1)


def shown(rule: Rule, F: Array) -> Array:
    """Return scores as scikit-learn expects them: of two classes one number, class 1 over class 0."""
    if F.ndim == 1:
        return F
    return F[:, 1] - F[:, 0] if F.shape[1] == 2 else rule.shown(F)


def probabilities(rule: Rule, F: Array) -> Array:
    """Return the rule's class probabilities, whose largest is always the class `decide` names."""
    P = rule.probability(F)
    if F.ndim == 1:
        # A score too small to move a float away from 1/2 must still win its row.
        P = np.where(F > 0, np.maximum(P, np.nextafter(0.5, 1.0)), np.minimum(P, 0.5))
        return np.stack([1.0 - P, P], axis=1)
    rows, best = np.arange(len(F)), F.argmax(axis=1)
    top = P.max(axis=1)
    lost = P.argmax(axis=1) != best  # only where scores differ by less than the link can show
    P[rows[lost], best[lost]] = np.nextafter(top[lost], 2.0)
    return P


class Ensemble:
    """A weighted vote.

    Parameters
    ----------
    rule : Rule
        Says how voters combine.
    rounds : sequence of Round
        The voters and their coefficients, in order.
    n_classes : int
        Number of classes.
    """

    def __init__(self, rule: Rule, rounds: Sequence[Round], n_classes: int) -> None:
        self.rule, self.rounds, self.n_classes = rule, Rounds(rounds), n_classes
        self._shares: tuple[Array, Array] | None = None
        self.alphas = joined(self.rounds)[1] if rule.comes_back else coefficients(self.rounds)

    @cached_property
    def voters(self) -> list[Any]:
        """The voters, each once if they may come back, else one a round."""
        return joined(self.rounds)[0] if self.rule.comes_back else self.rounds.voters

    @property
    def first_voter(self) -> Any:
        """The first voter, or one that is equal; None if there is none."""
        for part in self.rounds.parts:
            return part.voters[0] if isinstance(part, ManyRounds) else part[0].voter
        return None

    @property
    def width(self) -> int:
        """Number of scores of a row."""
        return 1 if self.rule.n_outputs == "one" else self.n_classes

    @cached_property
    def table(self) -> LookupTable | None:
        """The vote as one step function a feature, where that is what it is."""
        if not self._collapses():
            return None
        return LookupTable.of(self.voters, self.alphas, self.bound, self.width)

    @cached_property
    def trees(self) -> LeafMasks | FlatTrees | None:
        """The vote as one list of trees, where that is what it is."""
        if self.rule.gathered(np.zeros((0, self.width))) is None:
            return None
        what = self.voters, self.alphas, self.width
        return LeafMasks.of(*what) or FlatTrees.of(*what)

    @cached_property
    def bound(self) -> float:
        """The largest magnitude a score can have."""
        bound = VoteBound(self.rule.comes_back)
        for r in self.rounds:
            bound.add(r)
        return bound.value

    @cached_property
    def cuts(self) -> tuple[Array, Array] | None:
        """The columns and thresholds that the votes depend on; None where a voter looks at numbers otherwise."""
        each = [v.cuts() for voter in self.voters for v in (voter if isinstance(voter, tuple) else (voter,))]
        known = [cuts for cuts in each if cuts is not None]
        if len(known) < len(each):
            return None
        features, thresholds = ([x for cuts in known for x in cuts[i]] for i in (0, 1))
        return np.array(features, np.intp), np.array(thresholds, np.float64)

    def _collapses(self) -> bool:
        return self.rule.additive and all(isinstance(v, Stump | CategoryStump) for v in self.voters)

    def __len__(self) -> int:
        return len(self.rounds)

    def nothing(self, table: Table) -> Array:
        """Return the scores before the first round."""
        return np.zeros(table.n_rows if self.rule.n_outputs == "one" else (table.n_rows, self.n_classes))

    def scores(self, table: Table) -> Array:
        """Return the scores of all rows, of shape (n_rows,) or (n_rows, n_classes)."""
        F = self.nothing(table)
        if self.table is not None:
            F = self.table.scores(table).reshape(F.shape)
        elif self.trees is not None and not is_sparse(table.X):
            gathered = self.rule.gathered(self.trees.scores(table, self.width).reshape(F.shape))
            assert gathered is not None
            F = gathered
        else:
            for alpha, voter in zip(self.alphas, self.voters, strict=True):
                if np.ndim(alpha) > 0:
                    F = F + alpha * votes_of(voter, table)
                elif alpha != 0.0:
                    F = scores_after(self.rule, F, float(alpha), votes_of(voter, table), table)
        return settle(F, self.bound)

    def staged_scores(self, table: Table) -> Iterator[Array]:
        """Yield the scores after every round, in one pass over the voters."""
        F = self.nothing(table)
        kept: list[Array] = []
        looks_back = any(r.alphas is not None for r in self.rounds)
        bound = VoteBound(self.rule.comes_back)
        for r, h in zip(self.rounds, votes_of_each([r.voter for r in self.rounds], table), strict=True):
            if looks_back:
                kept.append(h)
            if r.alphas is not None:
                F = np.zeros(table.n_rows)
                for alpha, votes in zip(r.alphas, kept, strict=True):
                    add_weighted(votes, float(alpha), F)
            elif r.each is not None:
                F = r.each.decays * F + r.each.alphas * h
            else:
                F = scores_after(self.rule, F if r.decay == 1.0 else r.decay * F, r.alpha, h, table)
            yield settle(F, bound.add(r))

    def shown(self, F: Array) -> Array:
        """Return scores as scikit-learn expects them."""
        return shown(self.rule, F)

    def decide(self, F: Array) -> Array:
        """Return class indices."""
        return decide(F)

    def probabilities(self, F: Array) -> Array:
        """Return class probabilities, whose largest is that of the class decided for."""
        return probabilities(self.rule, F)

    def margins(self, F: Array, codes: Array) -> Array:
        """Return how clearly the scores favour the true classes: y F, or the true class's less the best other.

        They are divided by the largest magnitude a score can have.
        """
        if F.ndim == 1:
            margins = np.where(codes == 1, F, -F)
        else:
            rows = np.arange(len(F))
            others = F.copy()
            others[rows, codes] = -np.inf
            margins = (F[rows, codes] - others.max(axis=1)) / self.rule.apart
        return margins / self.bound if self.bound > 0 else margins

    def importances(self, n_features: int) -> Array:
        """Return every feature's share of the vote: |alpha| times half the distance between the leaves, to sum 1."""
        out = np.zeros(n_features)
        used, shares = self.shares_of_used(n_features)
        out[used] = shares
        return out

    def shares_of_used(self, n_features: int) -> tuple[Array, Array]:
        """Return the features that voters use, each once, and their importances; others cost nothing."""
        if self._shares is None:
            features, amounts = self._amounts(n_features)
            used, place = np.unique(np.array(features, np.intp), return_inverse=True)
            shares = np.bincount(place, amounts, len(used))
            whole = shares.sum()
            self._shares = used, shares / whole if whole > 0 else shares
        return self._shares

    def _amounts(self, n_features: int) -> tuple[Any, Any]:
        """Return the features that voters use, in their order, and by how much."""
        sizes = np.abs(self.alphas)
        parts = self.rounds.parts
        stumps = [part.voters for part in parts if isinstance(part, ManyRounds) and isinstance(part.voters, Stumps)]
        if len(stumps) == len(parts) > 0 and not self.rule.comes_back:
            rises = np.concatenate([s.right - s.left for s in stumps])
            return np.concatenate([s.feature for s in stumps]), sizes * (np.abs(rises) / 2)
        if self.voters and sizes.ndim == 1 and all(type(v) is Stump for v in self.voters):  # mostly all at once
            left, right = np.array([v.left for v in self.voters]), np.array([v.right for v in self.voters])
            features, kinds = [v.feature for v in self.voters], {left.dtype.kind, right.dtype.kind}
            if kinds == {"f"} and left.ndim == right.ndim < 3:
                rise = np.abs(right - left)
                return features, sizes * ((rise if rise.ndim == 1 else rise.sum(axis=1)) / 2)
            if kinds <= {"i", "u"} and left.ndim == right.ndim == 1:  # numbers of classes
                return features, sizes * (left != right)
        features, amounts = list[int](), list[float]()
        for alpha, voter in zip(sizes.tolist(), self.voters, strict=True):
            several = voter if isinstance(voter, tuple) else (voter,)
            for a, v in zip(alpha if isinstance(alpha, list) else [alpha] * len(several), several, strict=True):
                own, shares = v.importances(n_features)
                features += own
                amounts += [a * share for share in shares]
        return features, amounts


def _bound(voter: Any) -> float:
    return float(max(v.bound for v in voter)) if isinstance(voter, tuple) else float(voter.bound)
