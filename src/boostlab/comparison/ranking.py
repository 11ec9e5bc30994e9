"""Who is ahead, how sure that is, and what to choose: read off the finished cells alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isnan, nan
from statistics import fmean, median
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from boostlab.comparison.metrics import METRICS, Metric, together
from boostlab.comparison.peers import is_peer
from boostlab.comparison.protocol import NestedCV
from boostlab.studies.packing import to_text
from boostlab.studies.plan import Block, Method
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
    cost, low, high : float
        Mean cost on the test parts, and its 95 % interval; NaN where there is too little.  Better when smaller: the
        metric's `show` returns it as people know it.
    p : float
        Whether it differs from the best booster: the p-value of Nadeau and Bengio's corrected test, Holm's correction
        for the number of methods included; 1 for the best itself.
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
    is_peer : bool
        Whether it is a yardstick, which is not ranked among boosters.
    costs : dict from str to float
        Its mean cost by every metric.

    Examples
    --------
    >>> from boostlab.studies import Standing
    >>> one = Standing("AdaBoost", "AdaBoostClassifier", cost=0.1, splits=5, p=1.0)
    >>> one.ranked, one.near
    (True, True)
    """

    name: str
    booster: str
    cost: float = nan
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
    is_peer: bool = False
    costs: Mapping[str, float] = field(default_factory=dict)

    @property
    def error(self) -> float:
        """Mean share of test rows predicted wrongly; NaN where numbers are predicted."""
        return self.costs.get("error", nan)

    @property
    def ranked(self) -> bool:
        """Whether it has a result that no failure has thinned out."""
        return self.splits > 0 and self.failed == 0

    @property
    def near(self) -> bool:
        """Whether it is not distinguishable from the best; with one split this is not known."""
        return self.ranked and (isnan(self.p) or self.p > LEVEL)


@dataclass(frozen=True)
class Ranking:
    """All boosters, and the yardsticks, at one level of noise, the lowest cost first, those that failed last.

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
        Cost of the best constant answer: the most frequent class, the classes' shares, the mean.
    baseline_p : float
        Whether the best booster is better than that: one-sided, by a test on the rows of the first division.
    planned : int
        Number of splits asked for.
    metric : Metric
        What costs are measured by.

    Examples
    --------
    >>> from boostlab.studies import Ranking, Standing
    >>> costs = {"AdaBoost": 0.12, "LogitBoost": 0.10}
    >>> standings = [Standing(name, f"{name}Classifier", cost, splits=5, p=0.3) for name, cost in costs.items()]
    >>> ranking = Ranking(0.0, standings, splits=5, fair=True, baseline=0.5, baseline_p=0.001)
    >>> ranking.places()
    {'AdaBoost': 2, 'LogitBoost': 1}
    """

    noise: float
    standings: list[Standing]
    splits: int
    fair: bool
    baseline: float
    baseline_p: float
    planned: int = 0
    metric: Metric = METRICS["error"]

    @property
    def early(self) -> bool:
        """Whether it is too early to judge: some boosters wait for their first split, or all for most of theirs."""
        waiting = any(not one.splits for one in self.standings)
        return self.splits < self.planned and (waiting or 2 * self.splits < self.planned)

    @property
    def ranked(self) -> list[Standing]:
        """The boosters with a result."""
        return [one for one in self.standings if one.ranked and not one.is_peer]

    @property
    def peers(self) -> list[Standing]:
        """The yardsticks with a result."""
        return [one for one in self.standings if one.ranked and one.is_peer]

    @property
    def near(self) -> list[Standing]:
        """The best, and those that are not distinguishable from it."""
        return [one for one in self.ranked if one.near]

    def places(self) -> dict[str, int]:
        """Return ranks of the boosters from 1; equal costs share one."""
        costs = {one.name: _rounded(one.cost) for one in self.ranked}
        return {name: 1 + sum(other < cost for other in costs.values()) for name, cost in costs.items()}


def _rounded(cost: float) -> float:
    """Return a cost of which equal ones are equal: twelve digits of it."""
    return float(f"{cost:.12g}")


def rank(results: Results, block: Block) -> Ranking:
    """Rank the boosters of one block.

    Costs are compared over the splits that all boosters have finished, if there are two or more; else over what every
    booster has.  Outer training parts overlap, so variances are Nadeau and Bengio's: (1/n + test rows / training rows)
    times the variance over the n splits.

    Parameters
    ----------
    results : Results
        The finished cells.
    block : Block
        Boosters and yardsticks on one table under one `NestedCV`.

    Returns
    -------
    Ranking
    """
    protocol = block.protocol
    assert isinstance(protocol, NestedCV)
    metric, ratio = METRICS[protocol.metric], 1.0 / (protocol.folds - 1)
    n_rows = sum(len(problem.data().y) for problem in block.problems)
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
        tested = n_rows if len(done) >= protocol.folds else n_rows * len(done) // protocol.folds  # rows, each once
        standings.append(_standing(method, done, ratio, tested, protocol.rounds, metric))
    standings.sort(key=lambda one: (not one.ranked, _rounded(one.cost) if one.ranked else 0.0, one.is_peer))
    best = next((one for one in standings if one.ranked and not one.is_peer), None)
    if best is None:
        return Ranking(protocol.noise, standings, 0, fair, nan, nan, block.repeats["full"], metric)
    ours = good[best.name]
    ps = {}
    for one in standings:
        if one.ranked and one is not best:
            both = sorted(set(good[one.name]) & set(ours) & (set(common) if fair else set(good[one.name])))
            a, b = ([good[name][i].number("cost") for i in both] for name in (one.name, best.name))
            ps[one.name] = paired_t_test(a, b, test_ratio=ratio).p
    ps = {best.name: 1.0 if len(ours) > 1 else nan, **dict(zip(ps, holm(list(ps.values())), strict=True))}
    standings = [_with(one, p=float(ps[one.name])) if one.name in ps else one for one in standings]
    used = common if fair else sorted(ours)
    once = [ours[i].number("z") for i in used if i < protocol.folds]
    return Ranking(
        *(protocol.noise, standings, len(used), fair, fmean(ours[i].number("baseline") for i in used)),
        *(together(once), block.repeats["full"], metric),
    )


def _with(one: Standing, **changes: Any) -> Standing:
    return Standing(**{**one.__dict__, **changes})


def _standing(method: Method, cells: Sequence[Done], ratio: float, tested: int, limit: int, metric: Metric) -> Standing:
    name, booster, peer = method.name, method.booster, is_peer(method)
    failures = [one.failure for one in cells if one.failure]
    if failures or not cells:
        failure = failures[0] if failures else ""
        return Standing(name, booster, splits=len(cells), failed=len(failures), failure=failure, is_peer=peer)
    cost, low, high = interval(
        [one.number("cost") for one in cells], ratio, tested if metric.name == "error" else 0, metric.bounded
    )
    rounds = [one.number("rounds") for one in cells]
    picks = Counter(to_text(_chosen(one)) for one in cells)
    most = next(_chosen(one) for one in cells if to_text(_chosen(one)) == picks.most_common(1)[0][0])
    every = [dict(one.outcome.numbers.get("costs", {})) for one in cells if one.outcome]
    return Standing(
        *(name, booster, cost, low, high),
        splits=len(cells),
        rounds=median(rounds),
        seconds=fmean(one.number("seconds") for one in cells),
        chosen=most,
        at_limit=sum(number > 0.9 * limit for number in rounds),
        is_peer=peer,
        costs={name: fmean(own[name] for own in every) for name in every[0]} if every else {},
    )


def _chosen(one: Done) -> dict[str, Any]:
    return dict(one.outcome.numbers["chosen"]) if one.outcome else {}


def interval(
    errors: Sequence[float], ratio: float, tested: int = 0, bounded: bool = True
) -> tuple[float, float, float]:
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
    bounded : bool, default=True
        Whether costs are at most 1.

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
    return test.difference, max(0.0, test.difference - reach), min(1.0 if bounded else inf, test.difference + reach)
