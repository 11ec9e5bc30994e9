"""AdaBoost.MH: multiclass boosting of one yes-or-no question a label (Schapire & Singer 1999).

The joint form with votes of -1 and +1 or real ones, and one AdaBoost a class, each against the rest (Zhou 2012, section
2.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_expit, softmax

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.labelwise import Labelwise
from boostlab.boosters.params import one_of, param
from boostlab.boosters.registry import booster
from boostlab.contract import (
    NEGLIGIBLE,
    Array,
    Each,
    LabelRound,
    Retry,
    Row,
    Rule,
    State,
    Step,
    Stop,
    Task,
    error_sums,
    exp,
    formula,
    log,
    perfect,
)


@formula
def first(l: int) -> float:
    """D for F = 0."""
    return 1.0


@formula
def log_weight_after(F: Row, h: Row, k: int, l: int, alpha: float) -> float:
    """-Y (F + alpha h)."""
    score = F[l] + alpha * h[l]
    return -score if l == k else score


@formula
def disagreement(h: Row, k: int, l: int) -> float:
    """1 - Y h."""
    vote = 1.0 * h[l]
    return 1.0 - (vote if l == k else -vote)


@formula
def lost(D: Row, h: Row, k: int, l: int) -> float:
    """D (1 - Y h)."""
    return D[l] * disagreement(h, k, l)


@formula
def is_wrong_label(Y: Row, h: Row, l: int) -> float:
    """Whether a vote on a label has the wrong sign, or none."""
    return 0.0 if Y[l] * h[l] > 0.0 else 1.0


@formula
def weight_of_wrong(D: Row, Y: Row, h: Row, l: int) -> float:
    """D where a vote on a label has the wrong sign, or none."""
    return 0.0 if Y[l] * h[l] > 0.0 else D[l]


@dataclass(frozen=True)
class AdaBoostMH(Labelwise):
    """Voters h(x, l) in [-1, 1] say of every label whether it is the right one; Y(i, l) is 1 for it, else -1.

    1. D(i, l) proportional to exp(-Y(i, l) F(x_i, l)).
    2. h = the voter with the largest edge r = sum D(i, l) Y(i, l) h(x_i, l), of the form v_l phi(x): one function phi
       of -1 and +1 for all labels, and a sign a label.
    3. Stop if r <= 0.
    4. alpha = (1/2) ln((1 + r) / (1 - r)); F(x, l) += alpha h(x, l).

    The share of rows and labels with Y F <= 0, the Hamming loss, is at most the product of the normalisers Z, and Z =
    sqrt(1 - r^2) for votes -1 and +1.  Two classes: AdaBoost.
    """

    needs: ClassVar[str] = "factored"

    first: ClassVar[Any] = staticmethod(first)
    log_weight_after: ClassVar[Any] = staticmethod(log_weight_after)
    disagreement: ClassVar[Any] = staticmethod(disagreement)
    lost: ClassVar[Any] = staticmethod(lost)

    def task(self, s: State) -> Task:
        """Step 2."""
        return Task(self.needs, s.column("D"), s.column("Y"), {"no": -1.0})

    def usual(self, s: State) -> LabelRound | None:
        """All steps; voters without an edge, and perfect ones, are unusual."""
        return self.label_round(s, {"no": -1.0})

    def probability(self, F: Array) -> Array:
        """Every label's own link 1 / (1 + exp(-2 F)), to sum 1; with two classes AdaBoost's."""
        P: Array = softmax(log_expit(2.0 * F), axis=1)
        return P


@dataclass(frozen=True)
class AdaBoostMHFree(AdaBoostMH):
    """AdaBoost.MH whose voters' leaves say yes or no to every label as they like."""

    needs: ClassVar[str] = "hamming"

    def usual(self, s: State) -> LabelRound | None:
        """All steps, with leaves of this kind; a rule that changes what a voter is says so anew."""
        return super().usual(s)


@dataclass(frozen=True)
class AdaBoostMHReal(AdaBoostMH):
    """AdaBoost.MH with voters that say how sure they are of every label.

    1. D(i, l) proportional to exp(-Y(i, l) F(x_i, l)).
    2. h = the voter whose leaves vote (1/2) ln(W+ / W-) on every label and have the smallest Z = 2 sum over leaves and
       labels of sqrt(W+ W-), W+ and W- the weights of the leaf's rows that are and are not of the label.
    3. Stop if Z >= 1.
    4. F += h.

    Leaves are smoothed by 1/(2 n K) of the weight.  Where another learner's votes are too sure, the step is halved
    until Z < 1, as in Real AdaBoost, which this is for two classes.
    """

    needs: ClassVar[str] = "hamming_z"

    def task(self, s: State) -> Task:
        """Steps 1 and 2."""
        return Task(self.needs, s.column("D"), s.column("Y"), {"smoothing": 0.5 / (s.size * s.n_classes)})

    def step(self, s: State, task: object, h: Array) -> Step | Stop:
        """Steps 3 and 4."""
        alpha, before, whole, D = 1.0, s.own.log_loss, s.own.whole, s.column("D")
        wrong = s.total(weight_of_wrong)
        stop = perfect(s, is_wrong_label) if wrong == 0 else None
        for _ in range(12):
            self._weigh(s, alpha)
            Z = exp(min(s.own.log_loss - before, 700.0))
            if Z < 1 - NEGLIGIBLE:
                loss = exp(min(s.own.log_loss - s.own.log_first, 700.0))
                facts = {"error": wrong / whole, "Z": Z, "objective": loss}
                return Step(alpha, facts, stop)
            alpha /= 2.0
        s.keep("D", D)
        s.own.whole, s.own.log_loss = whole, before
        return Stop("no_edge", f"the best voter's normaliser Z is {Z:.6g} at its smallest step, and it must be below 1")


@formula
def is_class(k: int, j: float) -> float:
    """Whether a row is of the class j."""
    return 1.0 if k == j else 0.0


@formula
def label_of(k: int, j: float) -> float:
    """1 for the rows of the class j, -1 for the rest."""
    return 1.0 if k == j else -1.0


@formula
def log_weight_of(F: Row, k: int, j: float, scale: float) -> float:
    """-Y_j F_j."""
    return -scale * F[int(j)] if k == j else scale * F[int(j)]


@formula
def is_wrong_on(h: Row, k: int, j: float) -> float:
    """Whether the voter of the class j is wrong."""
    return 1.0 if (h[int(j)] > 0.0) != (k == j) else 0.0


@formula
def error_sums_of(weight: float, h: Row, k: int, j: float) -> tuple[float, float]:
    """The weight of the sample for the class j, and of the rows where its voter is wrong."""
    return weight, weight if (h[int(j)] > 0.0) != (k == j) else 0.0


@dataclass(frozen=True)
class AdaBoostMHOneVersusRest(AdaBoostMH):
    """K independent AdaBoosts, a voter and a coefficient a class every round; the class with the largest score wins.

    A class whose booster stops keeps its score: for good after a voter without error, else for the round.  One that has
    no edge in the first round scores half the log odds of its share of the sample.

    Parameters
    ----------
    normalise : {"none", "sum_alpha", "probability"}
        A class's score is the sum of alpha h; that divided by the sum of alpha; or it is shown as the logarithm of its
        link 1 / (1 + exp(-2 F)), which is the same order as "none".
    """

    normalise: str = "none"

    needs: ClassVar[str] = "edge"
    labels_only: ClassVar[bool] = True
    each_alone: ClassVar[bool] = True

    def begin(self, s: State) -> None:
        """No class has a voter, and the mean of exp(-Y F) is 1."""
        s.own.alphas, s.own.log_losses = np.zeros(s.n_classes), np.zeros(s.n_classes)
        s.own.done, s.own.silent = np.zeros(s.n_classes, bool), np.zeros(s.n_classes, bool)

    def task(self, s: State) -> list[Task | float]:  # type: ignore[override]
        """Ask for the smallest error of every class under its own exp(-Y F)."""
        scales = s.own.alphas if self.normalise == "sum_alpha" else np.ones(s.n_classes)
        asked: list[Task | float] = []
        for j, (scale, done, silent) in enumerate(zip(scales, s.own.done, s.own.silent, strict=True)):
            share = s.total(is_class, j) / s.n if silent else 0.5
            if done or silent:
                asked.append(0.5 * log(share / (1 - share)))
            else:
                asked.append(Task("edge", s.weigh(log_weight_of, j, scale), s.each(label_of, j)))
        return asked

    def step(self, s: State, task: list[Task | float], h: Array) -> Step | Retry | Stop:  # type: ignore[override]
        """Let every class's voter join by its own error."""
        new, errors, done = np.zeros(s.n_classes), np.full(s.n_classes, 0.5), s.own.done.copy()
        for k, asked in enumerate(task):
            if isinstance(asked, Task):
                s.keep("weight", asked.weight)
                whole, wrong = s.found[k].sums.get(error_sums) or s.total(error_sums_of, k)
                if wrong / whole < 0.5 - NEGLIGIBLE:
                    errors[k] = wrong / whole
                    floored = errors[k] or 0.5 / s.size
                    new[k], done[k] = 0.5 * log((1 - floored) / floored), s.largest(is_wrong_on, k) == 0.0
        if not new.any():
            return Stop("no_edge", "no class has a voter whose weighted error is below 0.5")
        if s.t == 0 and (~s.own.silent & (new == 0)).any():
            s.own.silent = new == 0
            return Retry("a class has no voter with an edge, and the log odds of its share take its place")
        s.own.log_losses += np.log((1 - errors) * np.exp(-new) + errors * np.exp(new))
        voted = new > 0
        new[s.own.silent & ~done], s.own.done = 1.0, done | s.own.silent
        before, s.own.alphas = s.own.alphas, s.own.alphas + new
        decays = np.ones(s.n_classes)
        if self.normalise == "sum_alpha":
            new, decays = new / s.own.alphas, before / s.own.alphas
        error, loss = errors[voted].mean(), np.exp(s.own.log_losses).mean()
        facts = {"error": error, "edge": 1 - 2 * error, "objective": loss, "classes": voted.sum()}
        over = Stop("perfect", "every class has a voter that makes no error") if s.own.done.all() else None
        return Step(float(new.mean()), facts, over, each=Each(new, decays))

    def shown(self, F: Array) -> Array:
        """Return the scores, or the logarithms of their links."""
        return log_expit(2.0 * F) if self.normalise == "probability" else F


@booster(
    "Schapire & Singer 1999",
    "there are three or more classes and each is a yes-or-no question of its own",
    family="multiclass",
    variants=dict(
        free=dict(votes="free"),
        real=dict(votes="real"),
        ovr=dict(form="ovr"),
        sum_alpha=dict(form="ovr", normalise="sum_alpha"),
    ),
    grid=dict(votes=("free", "real")),
)
@dataclass(eq=False, repr=False)
class AdaBoostMHClassifier(BoostingClassifier):
    """AdaBoost.MH: AdaBoost on all pairs of a row and a label, is it the row's label or not.

    The share of pairs that are wrong (the Hamming loss) falls as AdaBoost's training error does.  The joint form has
    one voter a round, which answers for all labels; the one-versus-rest form is one AdaBoost a class, and a round has a
    voter and a coefficient a class (`estimators_` holds tuples, `estimator_weights_` a column a class).  The largest
    score wins.  `predict_proba` takes every class's score through AdaBoost's link and scales the sum to 1.

    Parameters
    ----------
    form : {"joint", "ovr"}, default="joint"
        One voter a round for all labels, or one AdaBoost for every class against the rest.
    votes : {"factored", "free", "real"}, default="factored"
        What a stump or tree of the joint form says of the labels: one function of -1 and +1 for all, with a sign a
        label; yes or no in every leaf to every label; or in every leaf how sure it is of every label.  Two classes:
        "factored" is AdaBoost, "real" is Real AdaBoost.  A tree of "free" votes does not learn XOR by itself (see
        `AdaBoostM2Classifier`).
    normalise : {"none", "sum_alpha", "probability"}, default="none"
        How the scores of the one-versus-rest form are compared: as they are, each divided by the sum of its
        coefficients, or as logarithms of probabilities (which decide as "none" does).
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from boostlab import AdaBoostMHClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostMHClassifier(n_estimators=30).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    >>> hamming = ((model.decision_function(X[::2]) > 0) != (y[::2, None] == model.classes_)).mean()
    >>> bool(hamming <= model.history_["objective"][-1])
    True
    """

    form: str = param("joint", one_of("joint", "ovr"))
    votes: str = param("factored", one_of("factored", "free", "real"))
    normalise: str = param("none", one_of("none", "sum_alpha", "probability"))

    _multiclass: ClassVar[bool] = True

    def _rule(self) -> Rule:
        if self.form == "ovr":
            if self.votes != "factored":
                raise ValueError('votes is for form="joint"; with form="ovr" every class has a voter: leave it out.')
            return AdaBoostMHOneVersusRest(self.normalise)
        if self.normalise != "none":
            raise ValueError('normalise is for form="ovr"; in the joint form all scores have one scale: leave it out.')
        return {"factored": AdaBoostMH, "free": AdaBoostMHFree, "real": AdaBoostMHReal}[self.votes]()
