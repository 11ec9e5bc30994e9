"""VadaBoost: boosting that penalises the variance of the loss (Shivaswamy & Jebara 2011).

Two classes are the paper's; three or more are ours, in SAMME's coding, derived in docs/multiclass_vadaboost.md.
With `FixedPoint` the penalty is estimated anew every round, from the current training losses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

from boostlab.boosters.fixed_point import FixedPoint, fixed_point
from boostlab.boosters.params import one_of, param
from boostlab.boosters.plurality import Plurality
from boostlab.boosters.registry import booster
from boostlab.boosters.shrinkage import SHARE
from boostlab.boosters.variance_penalised import (
    NOTICED,
    Rules,
    VariancePenalised,
    both_sides,
    deviation_after,
    facts_of,
    loss_after,
    quarter_log_odds,
    squared_mixture,
)
from boostlab.contract import (
    TAKEN,
    Array,
    Facts,
    MixedTask,
    Row,
    Rule,
    State,
    Step,
    Stop,
    Sums,
    Task,
    UsualRound,
    exp,
    formula,
    is_other_class,
    log,
    loss_sum,
    perfect,
    squared_error_sums,
)


@formula
def fixed_mixture(sums: Sums, numbers: list[float]) -> int:
    """Step 2 with the penalty of `fixed_point`."""
    said = fixed_point(sums, numbers)
    numbers[5] = 1 - numbers[1]
    mixes(sums, numbers)
    return said


@formula
def mixes(sums: Sums, numbers: list[float]) -> int:
    """Step 2, up to a common factor: numbers 1, 2, 5 and 6 are lambda, n, a and b."""
    numbers[6] = numbers[1] * (numbers[2] / sums[0])
    return TAKEN


@dataclass(frozen=True)
class VadaBoost(Rule):
    """Minimise (sum e)^2 + lambda (n sum e^2 - (sum e)^2), e = exp(-y F), through a bound that any learner can serve.

    1. w_i proportional to exp(-y_i F(x_i)), sum 1.
    2. u_i = lambda n w_i^2 + (1 - lambda) w_i.
    3. h = the voter with the smallest error under u.
    4. alpha = (1/4) ln(sum of u where h is right / sum of u where it is wrong); stop if alpha <= 0.
    5. F += alpha h.

    Parameters
    ----------
    variance_penalty : float
        lambda in [0, 1]; any lambda >= 0 with `exact`.
    exact : bool
        Instead of step 4, minimise the cost itself along h: alpha = (1/4) ln(A / B).  For lambda > 1 some u are
        negative (rows that should lose margin), and the learner sees |u| and y sign(u).
    learning_rate : float
        nu in (0, 1]: F += nu alpha h.  Cost and bound are convex in alpha, so that every nu lowers the cost.
    """

    variance_penalty: float = 0.5
    exact: bool = False
    learning_rate: float = 1.0

    labels_only: ClassVar[bool] = True

    def begin(self, s: State) -> None:
        """The cost of F = 0, divided by n^2, is 1."""
        s.own.log_cost = 0.0

    def penalty(self, s: State) -> float:
        """Return lambda for this round."""
        return self.variance_penalty

    def task(self, s: State) -> Task:
        """Steps 1 to 3."""
        s.own.lam = lam = self.penalty(s)
        e = s.exponentials()
        return MixedTask(e, s.y, 1 - lam, lam * (s.n / s.total(e)))  # step 2 up to a common factor

    def usual(self, s: State) -> UsualRound:
        """All steps."""
        rule = quarter_log_odds, self.numbers(s), squared_error_sums, self._facts
        return UsualRound(*rule, before=loss_sum, plan=mixes, after=squared_mixture, criterion="mixed")

    def numbers(self, s: State, a: float | None = None, b: float = 0.0) -> dict[str, float]:
        """Return the numbers of a round."""
        lam, exact = self.variance_penalty, float(self.exact)
        numbers = {"alpha": 0.0, "variance_penalty": lam, "n": s.n, "exact": exact, "nu": self.learning_rate}
        return numbers | {"a": 1 - lam if a is None else a, "b": b}

    def step(self, s: State, task: Any, h: Array) -> Step | Stop:
        """Steps 4 and 5, from the sums of w (W) and of w^2 (S) where h is right (I) and wrong (J)."""
        sums, lam = s.total(squared_error_sums), s.own.lam
        W_I, W_J, S_I, S_J, A, B = both_sides(sums, lam, s.n)
        up, down = (A, B) if self.exact else ((1 - lam) * W_I + lam * S_I, (1 - lam) * W_J + lam * S_J)
        if down >= up * NOTICED:
            return Stop("no_edge", f"the voter is right on {up:.4g} and wrong on {down:.4g} of the penalised weight")
        floor = 0.5 / s.size  # for a perfect voter, as in AdaBoost
        alpha = self.learning_rate * (0.25 * log(up / down) if down > 0 else 0.5 * log((1 - floor) / floor))
        numbers = alpha, lam, s.n, 0.0, 0.0, task.a, task.b
        facts = self._facts(s, numbers, sums, (s.total(squared_mixture, task.a, task.b),))
        return Step(alpha, facts, perfect(s) if W_J == 0 else None)

    def _facts(self, s: State, numbers: Sums, sums: Sums, after: Sums) -> Facts:
        return facts_of(s, numbers, sums, after)

    loss_after: ClassVar[Any] = staticmethod(loss_after)  # and its squared distance from the mean
    deviation_after: ClassVar[Any] = staticmethod(deviation_after)

    def after(self, s: State, alpha: float) -> tuple[float, ...]:
        """Return the numbers of `loss_after`."""
        return (alpha,)

    def probability(self, F: Array) -> Array:
        """AdaBoost's link is exact for lambda = 0; for lambda = 1 the loss is exp(-2 y F); in between it is a guess."""
        return super().probability(2 * F if self.variance_penalty == 1 else F)


@formula
def mixture(e: float, a: float, b: float) -> float:
    """|u|, up to a common factor."""
    return abs((b * e + a) * e)


@formula
def class_to_name(F: Row, e: float, k: int, a: float, b: float) -> float:
    """The row's class, or, where u is negative, the wrong one with the highest score."""
    if (b * e + a) * e >= 0.0:
        return float(k)
    best = 0 if k != 0 else 1
    for j in range(len(F)):
        if j != k and F[j] > F[best]:
            best = j
    return float(best)


@formula
def class_penalty_sums(w: float, e: float, h: int, k: int) -> tuple[float, float, float, float, float]:
    """The sums of e over the sample and where the voter is wrong, those of e^2, and that of u^2."""
    wrong = e if h != k else 0.0
    return e, wrong, e * e, wrong * wrong, w * w


@formula
def class_loss_after(F: Row, h: int, k: int, alpha: float, mean_score: float) -> float:
    """exp(mean F - F_k) after the step."""
    return exp(min(mean_score - (F[k] + (alpha if h == k else 0.0)), 300.0))


@formula
def class_deviation_after(F: Row, h: int, k: int, alpha: float, mean_score: float, mean: float) -> float:
    """The squared distance of that from the mean."""
    d = class_loss_after(F, h, k, alpha, mean_score) - mean
    return d * d


@dataclass(frozen=True)
class VadaBoostOfClasses(VadaBoost, Plurality):
    """VadaBoost's cost (sum e)^2 + lambda (n sum e^2 - (sum e)^2) with SAMME's losses e = exp(-y'f / K).

    With F_k the sum of alpha over the voters for class k, e_i = exp(mean F - F_c(x_i)), c the right class.

    1. w_i proportional to e_i, sum 1.
    2. u_i = lambda n w_i^2 + (1 - lambda) w_i.
    3. h = the voter with the smallest error under u; stop if it errs on (K-1)/K of u, as a random guess does.
    4. alpha = (1/2) (ln(sum of u where h is right / sum of u where it is wrong) + ln(K - 1)).

    lambda = 1 is SAMME with half its alpha.  Two classes: VadaBoost, with coefficients twice as large.

    Parameters
    ----------
    variance_penalty : float
        lambda in [0, 1]; any lambda >= 0 with `exact`.
    exact : bool
        Instead of step 4, minimise the cost itself along h: e^alpha is the positive root of a quadratic (see `step`),
        and lambda = 0 is SAMME.  For lambda > 1 some u are negative (rows that should lose margin): the learner sees
        |u|, and as the class of such a row the wrong one with the highest score.
    learning_rate : float
        nu in (0, 1]: alpha is multiplied by it.
    """

    labels_only: ClassVar[bool] = False  # votes are the numbers of classes

    def task(self, s: State) -> Task:
        """Steps 1 to 3."""
        s.own.lam = lam = self.penalty(s)
        a, b = 1 - lam, lam * (s.n / s.total(s.exponentials()))
        target = s.codes if lam <= 1 else s.each(class_to_name, a, b).astype(s.codes.dtype)
        return Task(self.needs, s.each(mixture, a, b), target)

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 3 and 4, from the sums of w (W) and of w^2 (S) where h is right (I) and wrong (J)."""
        K, lam = s.n_classes, s.own.lam
        W, W_J, S, S_J, spread = s.total(class_penalty_sums)
        spread = (W * (1 - lam) + lam * s.n * S / W) ** 2 / spread  # how many equal u would be as spread
        W_I, W_J, S_I, S_J = (W - W_J) / W, W_J / W, s.n * (S - S_J) / W**2, s.n * S_J / W**2
        A, B, C = (1 - lam) * W_I**2 + lam * S_I, (1 - lam) * W_J**2 + lam * S_J, (1 - lam) * W_I * W_J
        up, down, limit = A + C, B + C, (K - 1) / K  # the sums of u
        if down >= (K - 1) * up * NOTICED:
            error = down / (up + down)
            return Stop("no_edge", f"penalised weighted error {error:.4g}, and the rule needs less than {limit:.4g}")
        a, b, c = ((K - 1) * A, B, (K - 2) * C) if self.exact else ((K - 1) * up, down, 0.0)
        if b > 0:  # x = e^alpha solves b x^2 - c x - a = 0; of the two ways to write the root, the one that adds
            root = sqrt(c * c + 4 * a * b)
            x = (c + root) / (2 * b) if c >= 0 else 2 * a / (root - c)
        else:
            x = (K - 1) * (2 * s.size - 1)  # a perfect voter: SAMME's floor, an error of 1/(2n)
        x = x**self.learning_rate
        alpha, right, false = log(x), x**-limit, x ** (1 / K)  # what e is multiplied by where h is right, and where not
        s.own.log_cost += math.log((A * right**2 + B * false**2 + 2 * C * right * false) / (up + down))
        facts = {"error": W_J, "edge": 1 - W_J / limit, "penalised_error": down / (up + down)}
        facts |= {"bound_gap": C * (false - right) ** 2, "objective": math.exp(s.own.log_cost)}
        facts |= {"variance_penalty": lam, "effective_size": spread}
        return Step(alpha, facts, perfect(s, is_other_class) if W_J == 0 else None)

    loss_after: ClassVar[Any] = staticmethod(class_loss_after)
    deviation_after: ClassVar[Any] = staticmethod(class_deviation_after)

    def after(self, s: State, alpha: float) -> tuple[float, ...]:
        """Return the numbers of `loss_after`."""
        return alpha, float(s.alphas.sum() + alpha) / s.n_classes


@dataclass(frozen=True)
class FixedPointVadaBoost(FixedPoint, VadaBoost):
    """VadaBoost with `FixedPoint`'s penalty."""

    patience: int = 10
    delta: float = 0.05

    def usual(self, s: State) -> UsualRound:
        """All steps."""
        return self.estimated(s, fixed_mixture, criterion="mixed")


@dataclass(frozen=True)
class FixedPointVadaBoostOfClasses(FixedPoint, VadaBoostOfClasses):
    """`FixedPoint`'s penalty for several classes: it looks at the losses only, whatever they are losses of."""

    patience: int = 10
    delta: float = 0.05


@booster(
    "Shivaswamy & Jebara 2011",
    "you want lower variance of the loss with any weak learner",
    family="variance_penalising",
    variants=dict(fixed_point=dict(variance_penalty="fixed_point")),
    grid=dict(variance_penalty=(0.1, 0.5), learning_rate=(1.0, 0.1)),
    stronger=dict(variance_penalty="larger"),
)
@dataclass(eq=False, repr=False)
class VadaBoostClassifier(VariancePenalised):
    """VadaBoost: penalises the variance of the exponential loss, with any weighted weak learner.

    `predict_proba` uses the link 1 / (1 + exp(-2 F)), which is AdaBoost's and exact for `variance_penalty=0`, and
    1 / (1 + exp(-4 F)) for `variance_penalty=1`, where the loss is exp(-2 y F).  In between, and beyond, it is a score:
    set `calibrate="sigmoid"` where probabilities matter.

    Three or more classes: the same cost of SAMME's losses (see `SAMMEClassifier`; derived in
    `docs/multiclass_vadaboost.md`).  Voters name classes and need only beat a random guess, the scores of the classes
    sum to zero in every row, and `predict_proba` is the softmax of the votes, or of twice the votes for
    `variance_penalty=1`.  With many classes use trees (`max_leaf_nodes`).

    Parameters
    ----------
    variance_penalty : float or str, default=0.5
        lambda: in [0, 1]; with step="exact" any number of at least 0.  A word leaves it to the data:

        - "auto" or "cv_bernstein" takes it from the grid 0, 0.1, ..., 1 (with step="exact" also 2, 5, 10) by five-fold
          cross-validation of the clipped exponential loss: the lowest empirical Bernstein bound wins.  The number of
          rounds (at most 100) is chosen inside the training folds and has nothing to do with `n_estimators`.  It takes
          110 to 140 short fits, which share the bins.
        - "validation" takes the value of the same grid with the fewest errors on the validation set (or on
          `validation_fraction` of the rows, which are then trained on like the others).
        - "fixed_point" estimates it anew before every round from the current training losses, and stops when mean loss
          + tau * its standard error has seen no new minimum for `n_iter_no_change` rounds.
    step : {"bound", "exact"}, default="bound"
        The paper's step, or the one that minimises the cost itself.
    learning_rate : float in (0, 1], default=1.0
        Shrinkage: every voter's coefficient is multiplied by it.  Any share of a step lowers the cost.
    {shared}
    variance_penalty_ : float
        The penalty used; with "fixed_point" the last round's (all of them are in `history_["variance_penalty"]`).
    variance_penalty_curve_ : dict of arrays
        Where the penalty was taken from a grid, one entry a value: loss, error, rounds (and for "auto" variance and
        bound); else empty.

    Notes
    -----
    The defaults are the paper's: in the repository's lambda-study (studies/lambda-study/README.md, 46 problems)
    lambda = 5 with exact steps errs less than AdaBoost by 0.19 points (95 % 0.02 to 0.34), which does not survive the
    correction for ten hypotheses, and no less than a tuned learning rate; "auto" is surely better than neither.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import VadaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = VadaBoostClassifier(variance_penalty=0.3).fit(X, y)
    >>> bool((model.history_["objective"][1:] < model.history_["objective"][:-1]).all())
    True
    >>> chosen = VadaBoostClassifier(variance_penalty="fixed_point", n_estimators=20).fit(X, y)
    >>> 0 < chosen.variance_penalty_ <= 1
    True
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> VadaBoostClassifier(max_leaf_nodes=4, n_estimators=20).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    step: str = param("bound", one_of("bound", "exact"))
    learning_rate: float = param(1.0, SHARE)

    _multiclass: ClassVar[bool] = True

    @property
    def _rules(self) -> Rules:
        if self._several:
            return VadaBoostOfClasses, FixedPointVadaBoostOfClasses
        return VadaBoost, FixedPointVadaBoost

    @property
    def _exact(self) -> bool:
        return self.step == "exact"

    def _rule(self) -> Rule:
        if self.step == "bound" and self._number("variance_penalty", meanwhile=0.5) > 1:
            raise ValueError(
                f'variance_penalty={self.variance_penalty} must lie in [0, 1] with step="bound", whose bound fails '
                'beyond; use step="exact" for larger penalties.'
            )
        return super()._rule()
