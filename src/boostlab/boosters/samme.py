"""SAMME: multiclass AdaBoost as stagewise additive modelling (Zhu, Zou, Rosset & Hastie 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.params import number, one_of, param
from boostlab.boosters.plurality import Plurality
from boostlab.boosters.registry import booster
from boostlab.contract import Rule, State, log


@dataclass(frozen=True)
class SAMME(Plurality):
    """Stagewise minimisation of the mean of exp(-y'f / K), in which y and the voters have the codes 1 and -1/(K-1).

    1. w_i proportional to exp(sum of alpha over the voters that are wrong on i).
    2. H = the voter with the smallest weighted error eps.
    3. Stop if eps >= (K-1)/K, the error of a random guess.
    4. alpha = ln((1 - eps) / eps) + ln(K - 1).

    The minimiser has f = (K-1) (F - mean F) and P = softmax(f / (K-1)) = softmax(F).  Two classes: AdaBoost, with
    coefficients twice as large.

    A textbook prints alpha = (1/2) ln((1 - eps) / eps) + ln(K - 1) for weights that change by exp(+-alpha).  In the
    convention of step 1, which has twice that, it is ln((1 - eps) / eps) + 2 ln(K - 1): the steps of AR-Boost with
    rho = K - 1, after which the voter errs on (K-1)^2 / ((K-1)^2 + 1) of the weight.  It does not minimise the loss.
    Step 3 stays, as the text only relaxes what AdaBoost.M1 asks of a voter.

    Parameters
    ----------
    learning_rate : float
        nu in (0, 1]: alpha is multiplied by it.
    form : {"paper", "textbook"}
        Step 4, or the textbook's.
    """

    learning_rate: float = 1.0
    form: str = "paper"

    def limit(self, s: State) -> float:
        """Step 3."""
        return (s.n_classes - 1) / s.n_classes

    def vote(self, s: State, error: float) -> float:
        """Step 4."""
        relaxed = {"paper": 1, "textbook": 2}[self.form] * log(s.n_classes - 1)
        return self.learning_rate * (log((1 - error) / error) + relaxed)


@booster(
    "Zhu, Zou, Rosset & Hastie 2009",
    "there are three or more classes and voters need only beat a random guess",
    family="multiclass",
    variants=dict(textbook=dict(form="textbook")),
    grid=dict(learning_rate=(1.0, 0.1)),
)
@dataclass(eq=False, repr=False)
class SAMMEClassifier(BoostingClassifier):
    """SAMME: AdaBoost for several classes, whose voters need only beat a random guess.

    A voter may be wrong on up to (K-1)/K of the weight, K the number of classes.  The scores of the classes sum to zero
    in every row: `decision_function` adds alpha for the class a voter names and takes alpha / (K-1) from the others.
    `predict_proba` is the softmax that belongs to SAMME's loss; it grows extreme with the rounds.  A stump knows two
    classes only: with many classes use trees (`max_leaf_nodes`).  Two classes: AdaBoost over voters whose leaves are
    free, coefficients twice as large.

    Parameters
    ----------
    learning_rate : float in (0, 1], default=1.0
        Shrinkage: every voter's coefficient is multiplied by it.
    form : {"paper", "textbook"}, default="paper"
        The coefficient ln((1 - eps) / eps) + ln(K - 1) of the paper, or ln((1 - eps) / eps) + 2 ln(K - 1), which is
        twice the one that Zhou's textbook prints as (2.31), for weights that change by its exp(+-alpha): for comparison
        only, as it does not minimise the loss.  Two classes: the same.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from boostlab import SAMMEClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(max_leaf_nodes=4, n_estimators=20).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    >>> bool(abs(model.decision_function(X).sum(axis=1)).max() < 1e-9)
    True
    """

    _multiclass: ClassVar[bool] = True

    learning_rate: float = param(1.0, number(0, 1, "(]"))
    form: str = param("paper", one_of("paper", "textbook"))

    def _rule(self) -> Rule:
        return SAMME(self.learning_rate, self.form)
