"""What a rule answers: keep the voter, weigh all voters anew, ask again, or stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]
Facts = Mapping[str, float]

NEGLIGIBLE = 1e-12  # an edge this small is rounding, not knowledge: a voter that has it would be added for ever

STOP_CODES = {
    "max_rounds": "the limit on rounds was reached",
    "no_edge": "no voter is better than the rule can use",
    "perfect": "the voter makes no error",
    "patience": "the validation score no longer improves",
    "tolerance": "the optimum is reached within the tolerance",
    "given_up": "every example has been given up",
    "time_up": "the rule's clock ran out",
    "solver_failed": "a solver found no answer",
    "assumption_violated": "an assumption of the theory does not hold",
    "interrupted": "the user pressed Ctrl-C",
    "callback": "a callback asked to stop",
}


@dataclass(frozen=True, slots=True)
class Stop:
    """Training ends here; the voter in question, if any, is not kept.

    Parameters
    ----------
    code : str
        One of `STOP_CODES`.
    detail : str
        What happened, in words; by default what the code says.

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier, Stop
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(100, random_state=0)
    >>> def enough(state):
    ...     return Stop("callback", "five rounds are enough") if state.t >= 4 else None
    >>> AdaBoostClassifier(n_estimators=10, callbacks=enough).fit(X, y).stop_reason_
    'callback: five rounds are enough'
    """

    code: str
    detail: str = ""

    def __post_init__(self) -> None:
        if self.code not in STOP_CODES:
            raise ValueError(f"{self.code!r} is not a stop code; use one of {', '.join(STOP_CODES)}.")

    def __str__(self) -> str:
        return f"{self.code}: {self.detail or STOP_CODES[self.code]}"


@dataclass(frozen=True, slots=True)
class Each:
    """Coefficients of their own for the voters of a tuple, one a class: F_l becomes decays_l F_l + alphas_l h_l.

    Examples
    --------
    >>> import numpy as np
    >>> from boostlab.contract import Each, Step
    >>> step = Step(0.5, each=Each(alphas=np.array([0.5, 0.2]), decays=np.ones(2)))
    >>> step.each.alphas.tolist()
    [0.5, 0.2]
    """

    alphas: Array
    decays: Array


@dataclass(slots=True)
class Step:
    """Keep the voter: scores become decay * F + alpha * h.

    Parameters
    ----------
    alpha : float
        The voter's coefficient.
    facts : mapping
        Numbers for `history_` (error, edge, objective, ...).
    stop : Stop, optional
        Keep this voter and then end.
    decay : float
        All earlier coefficients are multiplied by it.
    each : Each, optional
        Alphas and decays of the classes, where K tasks gave a voter a class; alpha is then only for `history_`.

    Examples
    --------
    >>> from boostlab.contract import Step, Stop
    >>> step = Step(0.7, {"error": 0.2}, stop=Stop("perfect"))
    >>> step.alpha, str(step.stop)
    (0.7, 'perfect: the voter makes no error')
    """

    alpha: float
    facts: Facts = field(default_factory=dict)
    stop: Stop | None = None
    decay: float = 1.0
    each: Each | None = None


@dataclass(slots=True)
class Reweigh:
    """Keep the voter and set the coefficients of all voters so far, this one last.

    Examples
    --------
    >>> import numpy as np
    >>> from boostlab.contract import Reweigh
    >>> Reweigh(np.array([0.25, 0.75]), {"duality_gap": 0.01}).alphas.sum()
    np.float64(1.0)
    """

    alphas: Array
    facts: Facts = field(default_factory=dict)
    stop: Stop | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """Drop the voter and ask the learner again, with a fresh draw if the task is drawn.

    Examples
    --------
    >>> from boostlab.contract import Retry
    >>> Retry("the drawn rows have one class").reason
    'the drawn rows have one class'
    """

    reason: str
