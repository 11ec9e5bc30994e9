"""AdaBoost's voters with the weights of a program: RLP-Boost and RQP-Boost."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from boostlab.contract import Rule, Stop
from boostlab.data.matrix import canonical_order
from boostlab.data.table import Table
from boostlab.data.threads import count_threads
from boostlab.ensemble import Ensemble, settle, votes_of
from boostlab.estimators.base import BoostingClassifier
from boostlab.estimators.corrective import LIMIT, NU
from boostlab.estimators.params import check_params, number, one_of, param
from boostlab.estimators.registry import booster
from boostlab.estimators.sample import check_sample
from boostlab.estimators.selection import MOST_ROUNDS, Bench, mean, mistakes, parted, run
from boostlab.rules.reweighed import Reweighed
from boostlab.rules.rlpboost import RLPBoost
from boostlab.rules.rqpboost import RQPBoost

Array = npt.NDArray[Any]

NUS = (0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01)  # of equals the first: the softer margin
PRICES = tuple(10.0 ** (k / 2) for k in range(-4, 8))


@dataclass(eq=False, repr=False)
class ReweighedClassifier(BoostingClassifier):
    """AdaBoost whose voters are weighed anew by a program with one parameter, for which a grid is cheap."""

    time_limit: float | None = param(None, LIMIT)

    _knob: ClassVar[str]  # the program's parameter
    _grid: ClassVar[tuple[float, ...]]

    def _weighing(self, value: float) -> Reweighed:
        """Return the rule for a value of the program's parameter."""
        raise NotImplementedError

    def _rule(self) -> Rule:
        return self._weighing(self._number(self._knob, meanwhile=1.0))

    def _settle(self, bench: Bench) -> dict[str, Any]:
        if not isinstance(getattr(self, self._knob), str):
            return {}
        train, judge = parted(bench, self._knob)
        rule = self._weighing(1.0)
        training = bench.training(rule, train, judge, int(bench.rng.integers(2**62)))
        run(training, MOST_ROUNDS)
        s, watched = training.state, training.watched_scores
        if not s.rounds or watched is None:
            return {self._knob: self._grid[0]}
        order = s.canonical_order()
        opened = rule.open((s.y * s.votes)[:, order], s.mass[order])
        errors: dict[float, float] = {}
        for value in self._grid:
            if self._knob == "nu" and value * s.size < 1:
                continue
            answer = self._weighing(value).weigh(*opened, s.t)
            if not isinstance(answer, Stop):
                F = settle(answer.alphas @ watched.votes, float(np.abs(answer.alphas).sum()))
                errors[value] = mean(judge.sample, mistakes(judge.sample, F))
        if not errors:
            return {self._knob: self._grid[0]}
        curve = {self._knob: np.array(list(errors)), "error": np.array(list(errors.values()))}
        return {self._knob: min(errors, key=errors.__getitem__), f"{self._knob}_curve": curve}

    def _keep(self, ensemble: Ensemble, history: dict[str, Any], stop_reason: str) -> None:
        super()._keep(ensemble, history, stop_reason)
        setattr(self, f"{self._knob}_", self._number(self._knob, meanwhile=1.0))
        curve: Mapping[str, Array] = self._settled.get(f"{self._knob}_curve", {})
        setattr(self, f"{self._knob}_curve_", curve)

    def path(self, X: Any, y: Any, values: Iterable[float], sample_weight: Any = None) -> list[Self]:
        """Return models with the same voters, weighed for other values of the program's parameter.

        The voters are not trained again, and every program starts from the last one's solution: give the values in
        order.

        Parameters
        ----------
        X, y : table and labels
            The rows to weigh the voters by: those of `fit`.
        values : iterable of floats
            Of `nu`, or of `C`.
        sample_weight : array-like, optional
            As in `fit`.

        Returns
        -------
        list of fitted models
        """
        check_is_fitted(self, "n_estimators_")
        if len(self.classes_) > 2:
            raise ValueError(
                "A path is of one binary problem, and there are several; ask each of estimators_ for its own."
            )
        X, y = self._numbers(X, (y,), sample_weight=sample_weight)
        sample = check_sample(X, y, sample_weight, self.classes_, "y", self.class_weight)
        table = Table(sample.X, threads=count_threads(self.n_jobs))
        order, rounds = canonical_order(sample.X, sample.codes, sample.rows.masses), self._ensemble.rounds
        signs = np.where(sample.codes == 1, np.int8(1), np.int8(-1))
        U = np.array([(signs * votes_of(r.voter, table))[order] for r in rounds])
        models: list[Self] = []
        opened: Any = None
        for value in values:
            model = copy.copy(self)
            setattr(model, self._knob, float(value))
            model._settled = {}
            check_params(model)
            rule = self._weighing(float(value))
            kept, history, reason = rounds, self.history_, self.stop_reason_
            if rounds:
                opened = opened or rule.open(U, sample.rows.masses[order])
                program, members = opened
                answer = rule.weigh(program, members, len(rounds))
                if isinstance(answer, Stop):
                    reason = str(answer)
                else:
                    facts = {**rounds[-1].facts, **answer.facts}
                    kept = [*rounds[:-1], replace(rounds[-1], alphas=answer.alphas, facts=facts)]
                    history = {name: column.copy() for name, column in history.items()}
                    history["program"][len(rounds) - 1] = answer.facts["program"]
            model._keep(Ensemble(rule, kept, len(self.classes_)), history, reason)
            model.feature_importances_ = model._ensemble.importances(self.n_features_in_)
            models.append(model)
        return models


@booster(
    "Rätsch, Onoda & Müller 2001",
    "you want AdaBoost's voters with soft-margin weights, and many values of nu at the price of one",
)
@dataclass(eq=False, repr=False)
class RLPBoostClassifier(ReweighedClassifier):
    """RLP-Boost (LP_Reg-AdaBoost): AdaBoost's voters with the weights that maximise the soft margin.

    AdaBoost's rounds are in `history_` and in staged output; only the last stage has the program's weights.
    `history_["program"]` is the soft margin of AdaBoost's vote, and in the last round that of the program's.  `path`
    gives models for other values of `nu` without training again.  The scores lie in [-1, 1]; `predict_proba` is a score
    (AdaBoost's link), not a calibrated probability.

    Parameters
    ----------
    nu : float in (0, 1] or "validation", default=0.1
        At most this share of the sample falls short of the margin.  "validation" takes the value of a grid with the
        fewest errors on the validation set (or on `validation_fraction` of the rows, which are then trained on like the
        others); the grid costs one fit of at most 100 rounds.
    time_limit : float, optional
        The longest that the program may take, in seconds; if it fails, AdaBoost's weights stay.
    {shared}
    nu_ : float
        The value used.
    nu_curve_ : dict of arrays
        With "validation" the errors of the grid; else empty.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import RLPBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RLPBoostClassifier(nu=0.1).fit(X, y)
    >>> softer, softest = model.path(X, y, [0.2, 0.4])
    >>> bool((model.estimator_weights_ > 0).sum() > (softest.estimator_weights_ > 0).sum())
    True
    """

    nu: float | str = param(0.1, NU | one_of("validation"))

    _settles: ClassVar[tuple[str, ...]] = ("nu", "nu_curve")
    _knob: ClassVar[str] = "nu"
    _grid: ClassVar[tuple[float, ...]] = NUS

    def _weighing(self, value: float) -> Reweighed:
        return RLPBoost(seconds=self.time_limit, nu=value)


@booster(
    "Rätsch, Onoda & Müller 2001",
    "you want AdaBoost's voters weighed like a support vector machine's features",
)
@dataclass(eq=False, repr=False)
class RQPBoostClassifier(ReweighedClassifier):
    """RQP-Boost (QP_Reg-AdaBoost): AdaBoost's voters with the weights of a quadratic program.

    Minimises half the sum of the squared weights + C times the mean of max(0, 1 - y F) over weights that are not
    negative.  (The paper's C is 2 C / n: it adds up the slack of all examples and does not halve the squares.)
    AdaBoost's rounds are in `history_` and in staged output; only the last stage has the program's weights.
    `history_["program"]` is the program's cost of AdaBoost's vote, and in the last round that of its own.  `path` gives
    models for other values of `C` without training again.  `predict_proba` is a score (AdaBoost's link), not a
    calibrated probability.

    Parameters
    ----------
    C : float or "validation", default=3.0
        The price of slack: near 0 the weights are the voters' plain edges, a large C is a hard margin.  "validation"
        takes it from a grid, as for `RLPBoostClassifier`.
    time_limit : float, optional
        The longest that the program may take, in seconds; if it fails, AdaBoost's weights stay.
    {shared}
    C_ : float
        The value used.
    C_curve_ : dict of arrays
        With "validation" the errors of the grid; else empty.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import RQPBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RQPBoostClassifier(C="validation", random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    C: float | str = param(3.0, number(0, 1e6, "(]") | one_of("validation"))

    _settles: ClassVar[tuple[str, ...]] = ("C", "C_curve")
    _knob: ClassVar[str] = "C"
    _grid: ClassVar[tuple[float, ...]] = PRICES

    def _weighing(self, value: float) -> Reweighed:
        return RQPBoost(seconds=self.time_limit, C=value)
