"""AdaBoost_Reg: slack for the examples that keep getting large weights (Rätsch, Onoda & Müller 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.params import number, one_of, param, whole
from boostlab.boosters.registry import booster
from boostlab.boosters.shrinkage import SHARE
from boostlab.contract import (
    AGAIN,
    NEGLIGIBLE,
    TAKEN,
    UNUSUAL,
    Array,
    Facts,
    Rule,
    State,
    Step,
    Stop,
    Sums,
    Task,
    UsualRound,
    error_sums,
    exp,
    formula,
    log,
    perfect,
)
from boostlab.solvers.line_search import FARTHEST, LEAST, MOST, MOST_LOOKS, Line, slopes, toward_valley

SQUARE, LITERAL = 2.0, 4.0  # forms of slack; the others are 1 and 3, see `SoftMargin.form`

# The numbers of a usual round, and their places.
NUMBERS = (
    *("alpha", "unit", "S", "C", "form", "level", "log_sum", "more", "n", "nu"),
    *("hard", "low", "high", "guess", "looks", "shortened"),
)
ALPHA, UNIT, S, C, FORM, LEVEL, LOG_SUM, MORE, N, NU, HARD, LOW, HIGH, GUESS, LOOKS, SHORTENED = range(16)


@formula
def slack(V: float, S: float, u: float, form: float) -> tuple[float, float, float]:
    """Step 3's slack, how fast it grows with alpha, and how fast that grows."""
    if form == 1.0:
        return V, u, 0.0
    if form == SQUARE:
        average = V / S if S > 0.0 else u
        return V * average, average * (2.0 * u - average), 2.0 * (u - average) * (u - average) / max(S, 1e-300)
    return V * V, 2.0 * u * V, 2.0 * u * u


@formula
def log_weight(y: float, F: float, V: float, S: float, C: float, form: float) -> float:
    """-y F - C slack."""
    return -y * F - C * slack(V, S, V, form)[0]


@formula
def influence(h: float, w: float, V: float, alpha: float, unit: float, form: float) -> tuple[float, float]:
    """V after the step, and u."""
    u = h if form == LITERAL else unit * w
    return V + alpha * u, u


@formula
def influence_after(h: float, w: float, V: float, alpha: float, unit: float, form: float) -> float:
    """V after the step."""
    return influence(h, w, V, alpha, unit, form)[0]


@formula
def log_after(
    y: float, F: float, h: float, w: float, V: float, alpha: float, unit: float, S: float, C: float, form: float
) -> float:
    """-y F - C slack after the step."""
    after, u = influence(h, w, V, alpha, unit, form)
    return -y * (F + alpha * h) - C * slack(after, S + alpha, u, form)[0]


@formula
def loss_slopes(
    y: float, F: float, h: float, w: float, V: float,
    alpha: float, level: float, unit: float, S: float, C: float, form: float,
) -> tuple[float, float, float, float, float]:  # fmt: skip
    """The loss after the step in units of exp(level), and its slopes."""
    after, u = influence(h, w, V, alpha, unit, form)
    lost, growth, bend = slack(after, S + alpha, u, form)
    return slopes(-y * (F + alpha * h) - C * lost - level, y * h + C * growth, C * bend)


@formula
def begin_step(sums: Sums, numbers: list[float]) -> int:
    """Step 2, and where step 4 begins."""
    whole, error = sums[0], sums[1] / sums[0]
    if error <= 0.0 or error >= 0.5 - NEGLIGIBLE:
        return UNUSUAL
    numbers[HARD] = 0.5 * log((1.0 - error) / error)
    numbers[GUESS] = max(numbers[HARD] + numbers[MORE], 0.1 * numbers[HARD])
    numbers[UNIT], numbers[LEVEL] = numbers[N] / whole, numbers[LOG_SUM] - log(whole)
    numbers[LOW], numbers[HIGH], numbers[LOOKS], numbers[SHORTENED] = 0.0, inf, 0.0, 0.0
    falls = numbers[FORM] == 1.0 or numbers[FORM] == 3.0
    numbers[ALPHA] = min(numbers[GUESS], FARTHEST) if falls else 0.0
    return TAKEN


@formula
def end_step(after: Sums, numbers: list[float]) -> int:
    """Step 4: one look at a time; a shortened step has one more, at its end."""
    whole, a = after[0], numbers[ALPHA]
    numbers[LOOKS] += 1.0
    if not LEAST < whole < MOST or numbers[LOOKS] >= MOST_LOOKS:
        return UNUSUAL
    if numbers[SHORTENED] == 0.0:
        seen = after[1], after[2], after[3], after[4]
        said, a, numbers[LOW], numbers[HIGH] = toward_valley(a, numbers[LOW], numbers[HIGH], numbers[GUESS], *seen)
        numbers[ALPHA] = a
        if said != TAKEN:
            return said
        if a <= NEGLIGIBLE:
            return UNUSUAL
        numbers[MORE] = a - numbers[HARD]
        if numbers[NU] < 1.0:
            numbers[ALPHA], numbers[SHORTENED] = numbers[NU] * a, 1.0
            return AGAIN
    numbers[LOG_SUM] = log(whole) + numbers[LEVEL]
    numbers[S] += numbers[ALPHA]
    return TAKEN


def usual_round(numbers: dict[str, float]) -> UsualRound:
    """Return the round that begins with these numbers."""
    return UsualRound(
        begin_step,
        numbers,
        error_sums,
        remembered,
        log_weight,
        logarithms=True,
        after=loss_slopes,
        check=end_step,
        keeps=("V", influence_after),
    )


def remembered(s: State, numbers: Sums, sums: Sums, after: Sums) -> Facts:
    """Remember in the state what a round has left in its numbers; return its facts."""
    s.own.S, s.own.log_sum, s.own.more = numbers[S], numbers[LOG_SUM], numbers[MORE]
    return facts(s, sums[1] / sums[0], numbers[LOOKS])


def facts(s: State, error: float, looks: float) -> Facts:
    """Return what is told of a round."""
    objective = exp(min(s.own.log_sum - log(s.n), 700.0))
    return {"error": error, "edge": 1 - 2 * error, "objective": objective, "evaluations": looks}


@dataclass(frozen=True)
class SoftMargin(Rule):
    """Minimise the mean of exp(-y F - C slack), where slack grows with the weight an example has received.

    1. w_i proportional to exp(-y_i F(x_i) - C slack_i); u = n w, the weights to mean 1.
    2. h = the voter with the smallest weighted error; stop if it is not below 1/2.
    3. V = the sum of alpha u over the rounds, this one too; S = the sum of the alphas; slack = V (influence, power 1),
       V^2 / S (influence, power 2) or V^2 (cumulative).  With penalty="literal" u is the vote h itself, so that V = F
       and the slack is F^2: as AR-Boost's paper prints it, by what seems a slip for the weights.
    4. alpha = the first minimum of the loss along h and u; F += alpha h.  Where the loss falls for ever (no error, or
       less than its slack), alpha is AdaBoost's for a perfect voter, and the last.

    Parameters
    ----------
    C : float
        Not negative; 0 is AdaBoost.  The paper's C, for weights that sum to 1, is this one times n^power.
    power, penalty
        Which slack.
    learning_rate : float
        nu in (0, 1]: F += nu alpha h, and V += nu alpha u.  Up to its first minimum the loss falls, so that every nu
        lowers it.
    """

    C: float = 0.05
    power: int = 1
    penalty: str = "influence"
    learning_rate: float = 1.0
    labels_only: ClassVar[bool] = True

    @property
    def form(self) -> float:
        """Which slack, as formulas know it."""
        return {"cumulative": 3.0, "literal": LITERAL}.get(self.penalty, float(self.power))

    def begin(self, s: State) -> None:
        """Set the slack of every row to 0."""
        s.keep("V", 0.0)
        s.own.S, s.own.log_sum, s.own.more = 0.0, log(s.n), 0.0

    def usual(self, s: State) -> UsualRound:
        """All steps; one that leads beyond what floats hold, or to no valley, is unusual."""
        known = {"S": s.own.S, "C": self.C, "form": self.form, "log_sum": s.own.log_sum, "more": s.own.more}
        return usual_round(dict.fromkeys(NUMBERS, 0.0) | known | {"n": s.n, "nu": self.learning_rate})

    def task(self, s: State) -> Task:
        """Step 1."""
        return Task("edge", s.weigh(log_weight, s.own.S, self.C, self.form), s.y)

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 2 to 4."""
        own, stop = s.own, None
        whole, wrong = s.total(error_sums)
        error, unit = wrong / whole, s.n / whole
        if error >= 0.5 - NEGLIGIBLE:
            return Stop("no_edge", f"weighted error {error:.4g}, and the rule needs less than 0.5")

        line = Line(s, log_after, loss_slopes, (unit, own.S, self.C, self.form), own.log_sum - log(whole))
        alpha, hard = None, 0.0
        if wrong > 0:
            hard = 0.5 * log((1 - error) / error)
            alpha, own.log_sum = line.first_valley(max(hard + own.more, 0.1 * hard), falls=self.form in (1.0, 3.0))
        if alpha is None:
            floor, code = 0.5 / s.size, "given_up" if perfect(s) is None else "perfect"
            alpha, stop = (
                0.5 * log((1 - floor) / floor),
                Stop(code, f"round {s.t + 1} has no error that costs anything"),
            )
        elif alpha <= NEGLIGIBLE:
            return Stop("no_edge", f"weighted error {error:.4g}, and no step lowers the loss")
        own.more, alpha = alpha - hard, self.learning_rate * alpha
        if stop is not None or self.learning_rate < 1:
            own.log_sum = log(line.at(alpha)[0]) + line.level
        s.keep("V", influence_after, alpha, unit, self.form)
        own.S += alpha
        return Step(alpha, facts(s, error, float(line.evaluations)), stop)


@booster(
    "Rätsch, Onoda & Müller 2001",
    "some labels are wrong: examples that stay hard get slack",
    family="adaptive_regularised",
    variants=dict(power2=dict(power=2), literal=dict(penalty="literal", C=0.01)),
    grid=dict(C=(0.01, 0.05), learning_rate=(1.0, 0.1)),
    stronger=dict(C="larger"),
)
@dataclass(eq=False, repr=False)
class SoftMarginBoostClassifier(BoostingClassifier):
    """AdaBoost_Reg: the more weight an example has received, the less its margin matters.

    `C` does not depend on the sample size: it multiplies weights whose mean is 1.  (The paper's C, for weights that sum
    to 1, is C n with power 1 and C n^2 otherwise.)  Choose it small: a voter is paid for the slack it hands out, after
    which its complement looks good, so that from about 0.3 on neighbouring stumps undo one another; from 1 on the
    first voter stays alone ("given_up").  `predict_proba` is a score (AdaBoost's link), not a calibrated probability.

    Parameters
    ----------
    C : float, default=0.05
        How much slack; 0 is AdaBoost.
    power : {1, 2}, default=1
        Of an example's influence, its average weight, in its slack; with penalty="influence" only.
    penalty : {"influence", "cumulative", "literal"}, default="influence"
        Slack by the influence times the sum of the coefficients, or by the square of all weight received, which grows
        with the rounds and wants a C of about 0.001.  "literal" is F^2, as AR-Boost's paper prints it (a slip, it
        seems, for the weights): it forgives every score that is far from 0, right or wrong, and wants a C of about
        0.01; the sample size has no part in it.
    learning_rate : float in (0, 1], default=1.0
        Shrinkage: every voter's coefficient, and the slack that it hands out, is multiplied by it.
    {shared}

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier, SoftMarginBoostClassifier
    >>> from boostlab.datasets import flip_labels, twonorm
    >>> X, y = twonorm(400, random_state=0)
    >>> X_test, y_test = twonorm(4000, random_state=1)
    >>> noisy = flip_labels(y, 0.2, random_state=2)
    >>> hard, soft = AdaBoostClassifier(), SoftMarginBoostClassifier(C=0.1)
    >>> soft.fit(X, noisy).score(X_test, y_test) > hard.fit(X, noisy).score(X_test, y_test) + 0.03
    True
    """

    C: float = param(0.05, number(0, 1e6))
    power: int = param(1, whole(1, 2))
    penalty: str = param("influence", one_of("influence", "cumulative", "literal"))
    learning_rate: float = param(1.0, SHARE)

    def _rule(self) -> Rule:
        return SoftMargin(float(self.C), int(self.power), self.penalty, self._rate)
