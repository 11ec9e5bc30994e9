"""Who is ahead, how sure that is, and what to choose: read off the finished cells alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from statistics import fmean, median
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from boostlab.comparison.protocol import NestedCV
from boostlab.studies.packing import to_text
from boostlab.studies.plan import Block
from boostlab.studies.statistics import holm, paired_t_test
from boostlab.studies.study import Done, Results

Array = npt.NDArray[Any]

LEVEL = 0.05  # of the tests; intervals are of 95 percent


@dataclass(frozen=True)
class Standing:
    """One booster at one level of noise.

    Attributes
    ----------
    name, booster : str
        What to call it, and its name in the registry.
    error, low, high : float
        Mean share of test rows predicted wrongly, and its 95 % interval; NaN where there is too little.
    p : float
        Whether it differs from the best: the p-value of Nadeau and Bengio's corrected test, Holm's correction for the
        number of boosters included; 1 for the best itself.
    splits, failed : int
        How many outer splits are finished, and how many of them failed; one that ever failed is not ranked.
    rounds, seconds : float
        Median number of rounds chosen, and mean time of one training with it.
    chosen : dict
        The values chosen most often.
    at_limit : int
        How many splits chose more than nine tenths of the rounds that were allowed.
    failure : str
        The first thing that went wrong.
    """

    name: str
    booster: str
    error: float = nan
    low: float = nan
    high: float = nan
    p: float = nan
    splits: int = 0
    failed: int = 0
    rounds: float = nan
    seconds: float = nan
    chosen: Mapping[str, Any] = field(default_factory=dict)
    at_limit: int = 0
    failure: str = ""

    @property
    def ranked(self) -> bool:
        """Whether it has a result that no failure has thinned out."""
        return self.splits > 0 and self.failed == 0

    @property
    def near(self) -> bool:
        """Whether it is not distinguishable from the best; nobody is known to be, as long as there is one split."""
        return self.ranked and (isnan(self.p) or self.p > LEVEL)


@dataclass(frozen=True)
class Ranking:
    """All boosters at one level of noise, the lowest error first, those that failed last.

    Attributes
    ----------
    noise : float
        Share of the training labels that were flipped.
    standings : list of Standing
    splits : int
        Number of splits that errors and tests are over.
    fair : bool
        Whether these are the same splits for all boosters.
    baseline : float
        Error of always answering the class that is most frequent in training.
    baseline_p : float
        Whether the best differs from that.
    planned : int
        Number of splits asked for.
    """

    noise: float
    standings: list[Standing]
    splits: int
    fair: bool
    baseline: float
    baseline_p: float
    planned: int = 0

    @property
    def early(self) -> bool:
        """Whether it is too early to judge: some boosters wait for their first split, or all for most of theirs."""
        waiting = any(not one.splits for one in self.standings)
        return self.splits < self.planned and (waiting or 2 * self.splits < self.planned)

    @property
    def ranked(self) -> list[Standing]:
        """Those with a result."""
        return [one for one in self.standings if one.ranked]

    @property
    def near(self) -> list[Standing]:
        """The best, and those that are not distinguishable from it."""
        return [one for one in self.ranked if one.near]

    def places(self) -> dict[str, int]:
        """Return ranks from 1; equal errors share one."""
        errors = {one.name: round(one.error, 12) for one in self.ranked}
        return {name: 1 + sum(other < error for other in errors.values()) for name, error in errors.items()}


def rank(results: Results, block: Block) -> Ranking:
    """Rank the boosters of one block.

    Errors are compared over the splits that all boosters have finished, if there are two or more; else over what every
    booster has.  Outer training parts overlap, so variances are Nadeau and Bengio's: (1/n + test rows / training rows)
    times the variance over the n splits.

    Parameters
    ----------
    results : Results
        The finished cells.
    block : Block
        Boosters on one table under one `NestedCV`.

    Returns
    -------
    Ranking
    """
    assert isinstance(block.protocol, NestedCV)
    folds, n_rows = block.protocol.folds, sum(len(problem.data().y) for problem in block.problems)
    ratio = 1.0 / (folds - 1)
    cells = {
        method.name: {one.repeat: one for one in results.rows(block.name) if one.method == method.name}
        for method in block.methods
    }
    good = {name: of for name, of in cells.items() if of and not any(one.failure for one in of.values())}
    common = sorted(set.intersection(*(set(of) for of in good.values()))) if good else []
    fair = len(common) >= 2 or all(len(of) == len(common) for of in good.values())
    standings = []
    for method in block.methods:
        of = cells[method.name]
        used = common if fair and method.name in good else sorted(of)
        done = [of[i] for i in used]
        tested = n_rows if len(done) >= folds else n_rows * len(done) // folds  # rows, each once
        standings.append(_standing(method.name, method.booster, done, ratio, tested, block.protocol.rounds))
    standings.sort(key=lambda one: (not one.ranked, round(one.error, 12) if one.ranked else 0.0))
    ps = []
    for one in standings:
        if one.ranked:
            both = sorted(
                set(good[one.name]) & set(good[standings[0].name]) & (set(common) if fair else set(good[one.name]))
            )
            a, b = ([good[name][i].number("test_error") for i in both] for name in (one.name, standings[0].name))
            ps.append(paired_t_test(a, b, test_ratio=ratio).p)
    ps[1:] = list(holm(ps[1:])) if len(ps) > 1 else []
    standings = [_with(one, p=p) for one, p in zip(standings, ps, strict=False)] + standings[len(ps) :]
    base, base_p, splits = nan, nan, 0
    if ps:
        best = good[standings[0].name]
        used = common if fair else sorted(best)
        chance = [best[i].number("baseline") for i in used]
        base, splits = fmean(chance), len(used)
        base_p = paired_t_test([best[i].number("test_error") for i in used], chance, test_ratio=ratio).p
    return Ranking(block.protocol.noise, standings, splits, fair, base, base_p, block.repeats["full"])


def _with(one: Standing, **changes: Any) -> Standing:
    return Standing(**{**one.__dict__, **changes})


def _standing(name: str, booster: str, cells: Sequence[Done], ratio: float, tested: int, limit: int) -> Standing:
    failures = [one.failure for one in cells if one.failure]
    if failures or not cells:
        return Standing(name, booster, splits=len(cells), failed=len(failures), failure=failures[0] if failures else "")
    error, low, high = interval([one.number("test_error") for one in cells], ratio, tested)
    rounds = [one.number("rounds") for one in cells]
    picks = Counter(to_text(_chosen(one)) for one in cells)
    most = next(_chosen(one) for one in cells if to_text(_chosen(one)) == picks.most_common(1)[0][0])
    return Standing(
        *(name, booster, error, low, high),
        splits=len(cells),
        rounds=median(rounds),
        seconds=fmean(one.number("seconds") for one in cells),
        chosen=most,
        at_limit=sum(number > 0.9 * limit for number in rounds),
    )


def _chosen(one: Done) -> dict[str, Any]:
    return dict(one.outcome.numbers["chosen"]) if one.outcome else {}


def interval(errors: Sequence[float], ratio: float, tested: int = 0) -> tuple[float, float, float]:
    """Return the mean of errors over splits, and its 95 % interval by Nadeau and Bengio's variance.

    If all splits have the same error, say none, there is no variance to go by, and no certainty either: the interval
    is then the exact binomial one of so many errors among the rows tested.

    Parameters
    ----------
    errors : sequence of float
        One a split.
    ratio : float
        Test rows divided by training rows.
    tested : int, default=0
        Number of different rows that were tested.

    Returns
    -------
    mean, low, high : float
        The interval is cut off at 0 and 1; NaN for a single split, and where nothing is to be known.

    Examples
    --------
    >>> [round(number, 3) for number in interval([0.1, 0.2, 0.3, 0.2], 0.25)]
    [0.2, 0.016, 0.384]
    >>> [round(number, 3) for number in interval([0.0, 0.0, 0.0], 0.5, tested=120)]
    [0.0, 0.0, 0.03]
    """
    test = paired_t_test(errors, np.zeros(len(errors)), test_ratio=ratio)
    if test.n < 2:
        return test.difference, nan, nan
    if test.standard_error == 0.0:
        if not tested:
            return test.difference, nan, nan
        exact = stats.binomtest(round(test.difference * tested), tested).proportion_ci(1.0 - LEVEL, "exact")
        return test.difference, float(exact.low), float(exact.high)
    reach = float(stats.t.ppf(1.0 - LEVEL / 2.0, test.n - 1)) * test.standard_error
    return test.difference, max(0.0, test.difference - reach), min(1.0, test.difference + reach)
