"""LogitBoost (Friedman, Hastie & Tibshirani 2000)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from scipy.special import softmax

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.params import flag, number, param
from boostlab.boosters.registry import booster
from boostlab.boosters.shrinkage import RATE, Shrinking
from boostlab.contract import (
    AGAIN,
    TAKEN,
    UNUSUAL,
    Array,
    Facts,
    Retry,
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
    largest_over_labels,
    log,
    softplus,
    sum_over_labels,
)

W_MIN = 1e-10  # the smallest weight, and the loss at which training ends


@formula
def newton(y: float, F: float, z_max: float, careful: float) -> tuple[float, float]:
    """Step 1's w and y z / 2, and with `careful` the raised w."""
    t = exp(-2.0 * abs(F))  # in (0, 1], whatever F
    w = max(t / ((1.0 + t) * (1.0 + t)), W_MIN)
    z = 1.0 + exp(min(-2.0 * y * F, 700.0))  # 1 / P(the true label)
    if careful > 0.0:
        w = max(w, (1.0 - 1.0 / z) / z_max)
    return w, y * min(z, z_max) / 2.0


@formula
def loss_after(y: float, F: float, h: float, nu: float) -> float:
    """ln(1 + exp(-2 y (F + nu h)))."""
    return softplus(-2.0 * y * (F + nu * h))


@formula
def losses_after(y: float, F: float, h: float, nu: float) -> tuple[float, float, float, float]:
    """The same after nu, nu/2, nu/4 and nu/8: one look at the rows for four halvings."""
    return (
        softplus(-2.0 * y * (F + nu * h)),
        softplus(-2.0 * y * (F + nu / 2.0 * h)),
        softplus(-2.0 * y * (F + nu / 4.0 * h)),
        softplus(-2.0 * y * (F + nu / 8.0 * h)),
    )


@formula
def magnitude(h: float) -> float:
    """|h|."""
    return abs(h)


@formula
def lower_loss(sums: Sequence[float], numbers: list[float]) -> int:
    """Step 3 with halving: numbers are nu, the first nu, n and the loss before."""
    loss, before = sums[0] / numbers[2], numbers[3]
    if before <= W_MIN:
        return UNUSUAL
    if loss < before:
        numbers[3] = loss
        return TAKEN
    numbers[0] /= 2.0
    return UNUSUAL if numbers[0] * 2048.0 < numbers[1] else AGAIN


@formula
def loss_and_size(y: float, F: float, h: float, nu: float) -> tuple[float, float]:
    """The loss after the step, and |h|."""
    return loss_after(y, F, h, nu), magnitude(h)


@formula
def any_fit(sums: Sums, numbers: list[float]) -> int:
    """Step 3 as printed, of any fit that is not 0."""
    before, numbers[3] = numbers[3], sums[0] / numbers[2]
    return UNUSUAL if before <= W_MIN or sums[1] <= 0.0 else TAKEN


@dataclass(frozen=True)
class LogitBoost(Rule):
    """Newton steps on the logistic loss mean ln(1 + exp(-2 y F)), each fitted by weighted least squares.

    1. p_i = 1 / (1 + exp(-2 F(x_i))); w_i = p_i (1 - p_i); z_i = 1/p_i where y_i = +1, else -1/(1 - p_i), clipped to
       [-z_max, z_max].
    2. f = the weighted least-squares fit of z.
    3. F += (1/2) f.

    The voter holds f/2, so that its coefficient is the learning rate.  A full Newton step may overshoot: with `safe`
    the step is halved until the loss falls.  Where a clipped response no longer points downhill, the round is asked
    again with w raised where z was cut, and so are all rounds after it: w z is then the whole gradient, the fit points
    downhill, and votes stay bounded.  Without `safe` every round is the printed one, and the loss may rise.

    Parameters
    ----------
    z_max : float
        Bound on the working response; Friedman et al. advise 2 to 4.
    learning_rate : float
        nu in (0, 1]: F += (nu/2) f.
    safe : bool
        Whether steps are halved, and clipped responses asked for again, so that the loss falls in every round.
    """

    z_max: float = 4.0
    learning_rate: float = 1.0
    safe: bool = True

    needs: ClassVar[str] = "least_squares"

    def begin(self, s: State) -> None:
        """The loss of F = 0 is ln 2."""
        s.own.loss, s.own.careful = log(2.0), False

    def usual(self, s: State) -> UsualRound:
        """Steps 1 and 3; where the loss must fall, it does."""
        nu = self.learning_rate
        numbers = {"nu": nu, "first": nu, "n": s.n, "loss": s.own.loss, "z_max": self.z_max, "careful": s.own.careful}
        if not self.safe:
            return UsualRound(any_fit, numbers, loss_and_size, self._facts, newton)
        return UsualRound(lower_loss, numbers, loss_after, self._facts, newton)

    def _facts(self, s: State, numbers: Sums, sums: Sums, after: Sums) -> Facts:
        s.own.loss = sums[0] / s.n
        return {"objective": s.own.loss}

    def task(self, s: State) -> Task | Stop:
        """Step 1."""
        if s.own.loss <= W_MIN:
            return Stop("perfect", "the mean logistic loss is below 1e-10")
        return Task("least_squares", *s.each(newton, self.z_max, s.own.careful))

    def step(self, s: State, task: Task, h: Array) -> Step | Retry | Stop:
        """Step 3; with halving, if it must be safe."""
        for nu, loss in self._losses(s):
            if loss < s.own.loss or (not self.safe and s.largest(magnitude) > 0.0):
                s.own.loss = loss
                return Step(nu, {"objective": loss})
        if self.safe and not s.own.careful:
            s.own.careful = True
            return Retry("no step along the fit of the clipped response lowers the logistic loss")
        return Stop("no_edge", "no step along the best fit lowers the logistic loss")

    def _losses(self, s: State) -> Iterator[tuple[float, float]]:
        """Yield twelve steps, each half of the last, and the mean loss after them."""
        nu = self.learning_rate
        yield nu, s.total(loss_after, nu) / s.n
        while True:
            for loss in s.total(losses_after, nu / 2.0):
                nu /= 2.0
                if nu * 2048.0 < self.learning_rate:
                    return
                yield nu, loss / s.n


@formula
def newton_of_label(F: Row, k: int, log_sum: float, l: int, z_max: float, careful: float) -> tuple[float, float]:
    """Step 1's w and z of a label, and with `careful` the raised w."""
    p = exp(F[l] - log_sum)
    w = max(p * (1.0 - p), W_MIN)
    said = max(p if l == k else 1.0 - p, 1e-300)  # the probability of what is so
    if careful > 0.0:
        w = max(w, (1.0 - said) / z_max)
    z = min(1.0 / said, z_max)
    return w, z if l == k else -z


@sum_over_labels
def sum_of_votes(h: Row, l: int) -> float:
    """The sum of h."""
    return h[l]


@formula
def score_after(F: Row, h: Row, sum_of_votes: float, l: int, nu: float) -> float:
    """Step 3."""
    return F[l] + nu * (1.0 - 1.0 / len(F)) * (h[l] - sum_of_votes / len(F))


@largest_over_labels
def top(F: Row, h: Row, sum_of_votes: float, l: int, nu: float) -> float:
    """The largest score after step 3."""
    return score_after(F, h, sum_of_votes, l, nu)


@sum_over_labels
def partition(F: Row, h: Row, sum_of_votes: float, top: float, l: int, nu: float) -> float:
    """The sum of exp(F_l - top) after step 3."""
    return exp(score_after(F, h, sum_of_votes, l, nu) - top)


@formula
def log_sum_after(top: float, partition: float) -> float:
    """ln of the sum of exp(F_l) after step 3."""
    return top + log(partition)


@formula
def class_loss_after(F: Row, h: Row, sum_of_votes: float, log_sum_after: float, k: int, nu: float) -> float:
    """-ln p_k after step 3."""
    return log_sum_after - score_after(F, h, sum_of_votes, k, nu)


@formula
def magnitude_of_label(h: Row, l: int) -> float:
    """|h_l|."""
    return abs(h[l])


@dataclass(frozen=True)
class LogitBoostOfClasses(Rule):
    """Newton steps on the mean of -ln p_c, p = softmax(F) and c the right class; one least-squares voter a class.

    1. For every class j: w_ij = p_ij (1 - p_ij); z_ij = 1/p_ij for i's class, else -1/(1 - p_ij), but |z| <= z_max.
    2. f_j = the weighted least-squares fit of z_j.
    3. F_j += ((J-1)/J) (f_j - mean of all f): the scores of a row sum to zero.

    With `safe` steps are halved, and clipped responses asked for again, as with two classes (see `LogitBoost`).

    Parameters
    ----------
    z_max : float
        Bound on the working response.
    learning_rate : float
        nu in (0, 1]: step 3 is multiplied by it.
    safe : bool
        Whether the loss must fall.
    """

    z_max: float = 4.0
    learning_rate: float = 1.0
    safe: bool = True

    needs: ClassVar[str] = "least_squares"
    n_outputs: ClassVar[str] = "class"
    apart: ClassVar[float] = 2.0
    additive: ClassVar[bool] = False
    joins: ClassVar[Any] = staticmethod(score_after)
    softmax: ClassVar[bool] = True

    def begin(self, s: State) -> None:
        """The loss of F = 0 is ln J."""
        s.own.loss, s.own.careful = log(s.n_classes), False
        s.keep("log_sum", s.own.loss)

    def task(self, s: State) -> list[Task] | Stop:
        """Step 1."""
        if s.own.loss <= W_MIN:
            return Stop("perfect", "the mean logistic loss is below 1e-10")
        return [Task(self.needs, w, z) for w, z in s.each_label(newton_of_label, self.z_max, s.own.careful)]

    def step(self, s: State, task: object, h: Array) -> Step | Retry | Stop:
        """Step 3; with halving, if it must be safe."""
        nu = self.learning_rate
        s.keep("sum_of_votes", sum_of_votes)
        for _ in range(12):
            s.keep("top", top, nu)
            s.keep("partition", partition, nu)
            s.keep("log_sum_after", log_sum_after)
            loss = s.total(class_loss_after, nu) / s.n
            if loss < s.own.loss or (not self.safe and s.largest(magnitude_of_label) > 0.0):
                s.own.loss = loss
                s.keep("log_sum", s.column("log_sum_after"))  # of the scores that the next task sees
                return Step(nu, {"objective": loss})
            nu /= 2.0
        if self.safe and not s.own.careful:
            s.own.careful = True
            return Retry("no step along the fits of the clipped responses lowers the logistic loss")
        return Stop("no_edge", "no step along the best fits lowers the logistic loss")

    def combine(self, F: Array, alpha: float, h: Array) -> Array:
        """Step 3; votes are added one after the other, as `sum_of_votes` does, whatever their layout."""
        J = h.shape[1]
        return F + alpha * (1 - 1 / J) * (h - (sum(h.T) / J)[:, None])

    def gathered(self, sums: Array) -> Array:
        """Step 3 of all rounds at once."""
        return self.combine(0.0 * sums, 1.0, sums)

    def probability(self, F: Array) -> Array:
        """Softmax."""
        P: Array = softmax(F, axis=1)
        return P


@booster(
    "Friedman, Hastie & Tibshirani 2000",
    "you want probabilities and milder weights than AdaBoost's",
    family="statistical_view",
    variants=dict(printed=dict(safe=False)),
    grid=dict(learning_rate=(0.1, 1.0)),
    grid_of_large=dict(learning_rate=(0.1,)),  # a round grows a tree a class: only the rate that suits trees
)
@dataclass(eq=False, repr=False)
class LogitBoostClassifier(Shrinking, BoostingClassifier):
    """LogitBoost: Newton steps on the logistic loss.

    Three or more classes: a round has one voter a class (`estimators_` holds tuples), the scores of a row sum to zero,
    and `predict_proba` is their softmax.

    A full Newton step may overshoot, above all on noisy labels, and the bound on the response may make it point the
    wrong way.  `safe=True` halves such a step until the loss falls, and where no step along the fit lowers it asks
    the round again with raised weights, which it keeps to: the loss falls in every round, and `estimator_weights_` may
    be below the learning rate.  `safe=False` is the printed algorithm: every coefficient is the learning rate, and the
    loss may rise.

    Parameters
    ----------
    z_max : float, default=4.0
        Bound on the working response.
    learning_rate : float in (0, 1] or "auto", default="auto"
        Shrinkage; "auto" is 1 for stumps and 0.1 for trees.  What was used is `learning_rate_`.
    safe : bool, default=True
        Whether a step that would raise the loss is halved.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import LogitBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogitBoostClassifier(n_estimators=30).fit(X, y)
    >>> bool((model.predict(X) == model.predict_proba(X).argmax(axis=1)).all())
    True
    """

    z_max: float = param(4.0, number(1, 1e6))
    learning_rate: float | str = param("auto", RATE)
    safe: bool = param(True, flag())

    _multiclass: ClassVar[bool] = True
    _smooth: ClassVar[str] = "log_loss"

    def _rule(self) -> Rule:
        rule = LogitBoostOfClasses if self._several else LogitBoost
        return rule(self.z_max, self._rate, bool(self.safe))
