"""What can be promised about a fitted vote: one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import numpy as np

from boostlab.ensemble.rounds import key_of
from boostlab.learners import DecisionStump, VoterPool, as_learner
from boostlab.learners.fitted_stump import CategoryStump, Stump
from boostlab.theory import margin_bounds as by_margins
from boostlab.theory import training
from boostlab.theory.bound import Array, Bound, bound, check_delta
from boostlab.theory.complexity import Complexity, measure
from boostlab.theory.concentration import Interval, empirical_bernstein_interval, exact_interval
from boostlab.theory.margins import margin_statistics, normalised_margins
from boostlab.theory.models import vote_of
from boostlab.theory.promises import Certificate, Promise
from boostlab.theory.quadboost import theorem1_as_stated, theorem1_safe
from boostlab.theory.variance import svp_cost
from boostlab.theory.vc import stump_vc_dimension, vc_bound

TRAINING, TRUE = "training error", "error on new rows"


def certificate(
    model: Any,
    X: Any,
    y: Any,
    delta: float = 0.05,
    *,
    X_test: Any = None,
    y_test: Any = None,
    n_voters: float | None = None,
    vc_dimension: float | None = None,
    draws: int = 100,
    random_state: int | None = 0,
) -> Certificate:
    """Return what can be promised about a fitted vote: training error, margins, every bound that applies.

    Parameters
    ----------
    model : fitted booster
    X : array-like of shape (n_rows, n_features)
        The training rows: bounds on the error on new rows are about them.
    y : array-like of shape (n_rows,)
        Their labels.
    delta : float, default=0.05
        Probability of failure of every single bound.
    X_test, y_test : optional
        Held-out rows, which give the sharpest statement: an interval for the error.
    n_voters : float, optional
        The number of voters the weak learner could have chosen from, if they were fixed before the data were seen;
        known for a `VoterPool` of given voters.
    vc_dimension : float, optional
        The VC dimension of the voters; known for stumps on numbers.
    draws : int, default=100
        Random sign vectors for the Rademacher complexity; 0 leaves out the bounds that need it.
    random_state : int or None, default=0
        Their seed.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(2000, random_state=0)
    >>> found = (
    ...     AdaBoostClassifier(n_estimators=20)
    ...     .fit(X[:1000], y[:1000])
    ...     .certificate(X[:1000], y[:1000], X_test=X[1000:], y_test=y[1000:])
    ... )
    >>> found["product of 2 sqrt(eps (1 - eps)) (2.16)"].value >= found.training_error
    True
    >>> [interval.method for interval in found.held_out]
    ['empirical Bernstein', 'exact binomial']
    """
    case = _Case(model, X, y, check_delta(delta), n_voters, vc_dimension, draws, random_state)
    promises = tuple(case.promises())
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test go together: give both or neither.")
    held_out: tuple[Interval, ...] = ()
    if X_test is not None:
        guesses = model.predict(X_test)
        wrong = guesses != model.classes_[model._codes(y_test, len(guesses))]
        held_out = (exact_interval(wrong, delta),)
        if len(wrong) > 1:
            held_out = (empirical_bernstein_interval(wrong, delta), *held_out)
    else:
        case.left_out.append("interval for the error: give X_test and y_test, rows that training has not seen")
    return Certificate(
        type(model).__name__,
        len(case.margins),
        delta,
        case.error,
        margin_statistics(case.margins),
        promises,
        case.complexity,
        held_out,
        tuple(case.left_out),
    )


class _Case:
    """One model on one sample: which theorems apply."""

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        delta: float,
        n_voters: float | None,
        vc_dimension: float | None,
        draws: int,
        random_state: int | None,
    ) -> None:
        self.model, self.delta, self.draws, self.seed = model, delta, draws, random_state
        exact = normalised_margins(model, X, y)
        self.margins = exact.clip(-1.0, 1.0)
        self.error = float(np.mean(self.margins <= 0))
        self.ensemble = vote_of(model)
        self.rule = self.ensemble.rule
        self.learner = as_learner(
            model.estimator, self.rule, type(model).__name__, model.max_depth, model.max_leaf_nodes
        )
        self.n_voters, self.vc_dimension = n_voters, vc_dimension
        self.complexity: Complexity | None = None
        self.left_out: list[str] = []
        self.X = X
        self.binary = self.rule.n_outputs == "one"
        if self.binary:
            raw = exact if self.rule.additive else np.asarray(model.margins(X, y))
            self.scores = raw * self.ensemble.bound  # y F

    def promises(self) -> Iterator[Promise]:
        """Yield all promises."""
        if not self.binary:
            self.left_out.append("bounds: they are for two classes and one score a row")
            return
        if not len(self.ensemble):
            self.left_out.append("bounds: the model kept no voter")
            return
        yield from self._training()
        if not self.rule.additive:
            self.left_out.append("bounds on new rows: the vote is not a plain weighted sum")
            return
        yield from self._new_rows()

    # -- the training sample -------------------------------------------------------------------------------------

    def _training(self) -> Iterator[Promise]:
        loss = float(np.mean(np.exp(np.minimum(-self.scores, 700.0))))
        yield Promise("exponential loss", TRAINING, self.error, bound(loss, {"loss": loss}))
        history = self.model.history_
        if "error" in history and self.rule.additive:
            yield from self._products(np.asarray(history["error"]), np.asarray(history["alpha"]), loss)
        lam = getattr(self.model, "variance_penalty_", None)
        if lam is not None:
            cost = svp_cost(self.scores, np.ones(len(self.scores)), lam)
            yield Promise("variance-penalised cost, sqrt(J) / n", TRAINING, self.error, cost)
        if "risk" in history:
            risk = training.quadratic_risk(self.scores, np.ones(len(self.scores)))
            yield Promise("quadratic risk", TRAINING, self.error, risk)

    def _products(self, errors: Array, alphas: Array, loss: float) -> Iterator[Promise]:
        """Products over rounds; which theorem applies is seen in the steps, alpha = (1/2) ln(rho (1 - eps) / eps)."""
        n_rounds = len(self.ensemble)
        errors, alphas = errors[:n_rounds], alphas[:n_rounds]
        product = training.normaliser_product(errors, alphas).value
        if not np.isclose(product, loss, rtol=1e-6):
            self.left_out.append(
                "products over rounds: the rounds' weights are not exp(-y F) on these rows, equally weighted"
            )
            return
        with np.errstate(divide="ignore", invalid="ignore"):
            rho = np.exp(2 * alphas) * errors / (1 - errors)
        if not (np.isfinite(rho).all() and np.allclose(rho, rho[0], rtol=1e-6) and rho[0] > 1 - 1e-6):
            found = training.normaliser_product(errors, alphas)
            yield Promise("product of normalisers", TRAINING, self.error, found)
            return
        name = "share of margins <= 0.1"
        low = float(np.mean(self.margins <= 0.1))
        if np.isclose(rho[0], 1.0, rtol=1e-6):
            error = training.adaboost_training_error(errors)
            yield Promise("product of 2 sqrt(eps (1 - eps)) (2.16)", TRAINING, self.error, error)
            yield Promise("margin form of (2.16)", name, low, training.adaboost_margin_bound(errors, 0.1))
        else:
            ratio = float(rho[0])
            error = training.arboost_training_error(errors, ratio)
            yield Promise("AR-Boost Theorem 1", TRAINING, self.error, error)
            yield Promise("AR-Boost Theorem 2", name, low, training.arboost_margin_bound(errors, ratio, 0.1))

    # -- new rows ------------------------------------------------------------------------------------------------

    def _new_rows(self) -> Iterator[Promise]:
        labels = self._labels()
        # The default pool's thresholds follow the data, so it is no fixed class; all stumps are one, and hold it.
        stumps = isinstance(self.learner, DecisionStump) or (
            isinstance(self.learner, VoterPool) and self.learner.voters is None
        )
        yield from self._vc(labels, stumps)
        yield from self._finite(labels)
        if not (labels or stumps):
            self.left_out.append("Rademacher bounds: the voters say other numbers than -1 and +1 and are not stumps")
        elif not (stumps or isinstance(self.learner, VoterPool)):
            self.left_out.append(
                "Rademacher bounds: only for stumps and pools is the complexity more than a lower estimate"
            )
        elif self.draws < 2:
            self.left_out.append("Rademacher bounds: draws is below 2")
        else:
            yield from self._rademacher(labels, stumps)

    def _labels(self) -> bool:
        """Return whether every voter says -1 or +1."""
        table, leaves = None, np.empty(0)
        for voter in self.ensemble.voters:
            if isinstance(voter, Stump):
                leaves = np.array([voter.left, voter.right, voter.right if voter.missing is None else voter.missing])
            elif isinstance(voter, CategoryStump):
                leaves = voter.leaves
            else:
                table = self.model._table(self.X) if table is None else table
                leaves = voter.votes(table)
            if not (np.abs(leaves) == 1.0).all():
                return False
        return True

    def _vc(self, labels: bool, stumps: bool) -> Iterator[Promise]:
        d = self.vc_dimension
        numbers = self.model._columns is None or not self.model._columns.n_categories
        if d is None and stumps and numbers and not _gaps(self.model, self.X):
            d = stump_vc_dimension(self.model.n_features_in_)
        if d is None or not labels:
            why = "the voters must say -1 or +1" if not labels else "give vc_dimension (known for stumps on numbers)"
            self.left_out.append(f"VC bound: {why}")
            return
        rounds = max(self.model.n_estimators, len(self.ensemble))  # what was fixed in advance is the limit
        yield Promise(
            "VC bound (2.18)", TRUE, self.error, vc_bound(self.error, len(self.margins), rounds, d, self.delta)
        )

    def _finite(self, labels: bool) -> Iterator[Promise]:
        size, pool = self.n_voters, self.learner
        if size is None and isinstance(pool, VoterPool) and pool.voters is not None:
            size = len(pool.voters) * (2 if pool.complements else 1)
        if size is None or not labels:
            why = "the voters must say -1 or +1" if not labels else "give n_voters, if they were fixed before the data"
            self.left_out.append(f"bounds for finite classes: {why}")
            return
        theorems: dict[str, Callable[..., Bound]] = {
            "Schapire et al. (2.20)": by_margins.schapire,
            "Breiman, minimum margin": by_margins.breiman,
            "Emargin": by_margins.emargin,
            "k-th margin": by_margins.kth_margin,
            "Gao and Zhou": by_margins.gao_zhou,
            "Gao and Zhou, average margin": by_margins.gao_zhou_average,
        }
        for name, theorem in theorems.items():
            yield Promise(name, TRUE, self.error, theorem(self.margins, size, delta=self.delta))

    def _rademacher(self, labels: bool, stumps: bool) -> Iterator[Promise]:
        whole = DecisionStump() if stumps else self.learner
        columns = self.model._columns
        X = self.model._table(self.X).X
        R = measure(
            whole, X, {} if columns is None else columns.n_categories, self.draws, np.random.default_rng(self.seed)
        )
        self.complexity = R
        found = by_margins.koltchinskii_panchenko(self.margins, R, self.delta)
        yield Promise("Koltchinskii and Panchenko", TRUE, self.error, found)
        if not labels:
            self.left_out.append("QuadBoost Theorem 1: the voters must say -1 or +1")
            return
        sums: dict[Any, float] = {}
        for voter, alpha in zip(self.ensemble.voters, self.ensemble.alphas, strict=True):
            key, sign = key_of(voter)
            sums[key] = sums.get(key, 0.0) + sign * float(alpha)
        sizes = np.array(list(sums.values()))
        for p in (1.0, 2.0, inf):
            given = (self.scores, sizes, R, p, self.delta)
            yield Promise(f"QuadBoost Theorem 1, safe, p = {p:g}", TRUE, self.error, theorem1_safe(*given))
            if "risk" in self.model.history_:
                stated = theorem1_as_stated(*given)
                yield Promise(f"QuadBoost Theorem 1, as stated, p = {p:g}", TRUE, self.error, stated)


def _gaps(model: Any, X: Any) -> bool:
    """Return whether a table has missing values."""
    X = model._table(X).X
    values = X.data if hasattr(X, "indptr") else X
    return bool(np.isnan(values).any()) if values.dtype.kind == "f" else False
