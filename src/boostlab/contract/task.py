"""What a rule asks of a learner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(slots=True)
class Task:
    """What the next voter should look at.

    Parameters
    ----------
    criterion : str
        What makes a voter good, by name: "edge", "svp", "z", "least_squares", "labels", "hamming", "factored",
        "hamming_z", "risk", "coordinate".
    weight : array of shape (n_rows,) or (n_rows, n_classes)
        How much each row (or row and class) counts, per unit of its mass; not negative, any scale.
    target : array of shape (n_rows,) or (n_rows, n_classes)
        What the voter should say: labels -1 and +1, real numbers for "least_squares", class numbers for "labels".
    params : mapping
        Numbers the criterion needs beside the sums.
    draw : int, optional
        Train on so many rows drawn in proportion to mass times weight instead of on all rows, weighted.
    linear : bool
        Promise that weight * target moves by -alpha * h when alpha * h is added to the scores (a residual), so that a
        learner with a memory can follow it without looking at the rows (a decay or a re-weighing makes it look again).
    without : array of shape (n_rows,), optional
        A voter that votes exactly so on the sample is not wanted (see `Rule.excludes`).
    counts : array, optional
        Filled in by the engine for a drawn task: the rows' masses in the draw.
    gain : callable, optional
        For "risk" and "coordinate": what voters are worth, as a function of three arrays: the mean of weight * target *
        vote, the mean of vote^2, and the coefficient a voter has already (which is 0 for "risk").

    Examples
    --------
    >>> import numpy as np
    >>> from boostlab.contract import Task
    >>> labels, scores = np.array([1.0, -1.0]), np.array([0.5, 0.5])
    >>> Task("edge", np.exp(-labels * scores), labels).weight.round(2)
    array([0.61, 1.65])
    """

    criterion: str
    weight: Array
    target: Array
    params: Mapping[str, float] = field(default_factory=dict)
    draw: int | None = None
    linear: bool = False
    without: Array | None = None
    counts: Array | None = None
    gain: Callable[[Array, Array, Array], Array] | None = None

    @property
    def by_label(self) -> bool:
        """Whether there is a weight a label, not only one a row."""
        return bool(self.weight.ndim > 1)


class ResidualTask(Task):
    """A task that is linear in the scores: its weights |r| and targets sign(r) are made when they are asked for.

    Parameters
    ----------
    criterion, gain
        As for `Task`.
    residual : callable
        Returns r.

    Examples
    --------
    >>> import numpy as np
    >>> from boostlab.contract import ResidualTask
    >>> task = ResidualTask("edge", lambda: np.array([0.5, -1.5]))
    >>> task.weight, task.target
    (array([0.5, 1.5]), array([ 1., -1.]))
    """

    def __init__(self, criterion: str, residual: Callable[[], Array], gain: Any = None) -> None:
        self._residual = residual
        self.criterion, self.params, self.linear, self.gain = criterion, {}, True, gain
        self.draw = self.without = self.counts = None

    @property
    def weight(self) -> Array:  # type: ignore[override]
        """The size of the residual."""
        return np.abs(self._residual())

    @property
    def target(self) -> Array:  # type: ignore[override]
        """The sign of the residual."""
        return np.sign(self._residual())


class MixedTask(Task):
    """A task for labels with the weights |a w + b w^2|, which are made when they are asked for.

    A learner may instead follow w and w^2 apart, which change on fewer rows, and say what they sum to
    (`contract.sums.squared_error_sums`).

    Parameters
    ----------
    w : array
        Not negative.
    labels : array
        Labels -1 and +1; where a w + b w^2 is negative, the target is the other one.
    a, b : float
        The mixture; b is not negative.
    criterion, params
        As for `Task`.

    Examples
    --------
    >>> import numpy as np
    >>> from boostlab.contract import MixedTask
    >>> MixedTask(np.array([1.0, 2.0]), np.array([1, -1]), a=0.5, b=0.25).weight
    array([0.75, 2.  ])
    """

    def __init__(
        self,
        w: Array,
        labels: Array,
        a: float,
        b: float,
        criterion: str = "edge",
        params: Mapping[str, float] | None = None,
    ) -> None:
        self.w, self.labels, self.a, self.b = w, labels, a, b
        self.criterion, self.params, self.linear = criterion, params or {}, False
        self.draw = self.without = self.counts = self.gain = None

    @property
    def by_label(self) -> bool:
        """Never: there is a weight a row."""
        return False

    def _mixture(self) -> Array:
        u = self.b * self.w
        u += self.a
        u *= self.w
        return u

    @property
    def weight(self) -> Array:  # type: ignore[override]
        """The size of the mixture."""
        return self._mixture() if self.a >= 0 else np.abs(self._mixture())

    @property
    def target(self) -> Array:  # type: ignore[override]
        """The labels, turned where the mixture is negative."""
        return self.labels if self.a >= 0 else self.labels * np.sign(self._mixture())


class ShiftedTask(Task):
    """A task for labels whose weights are kept up to a shift of the scores: weight = v exp(-y shift).

    With scores F = G + shift the weights exp(-y F) are v = exp(-y G) times one number for each label.  A learner may
    follow v, which a vote for one side changes on that side's rows only, and weigh the sums of both labels.

    Parameters
    ----------
    criterion, weight, target
        As for `Task`; the targets are labels -1 and +1.
    v : array
        The weights without the shift.
    minus, plus : float
        exp(shift) and exp(-shift): by how much v is multiplied where labels are -1 and +1.

    Examples
    --------
    >>> import numpy as np
    >>> from boostlab.contract import ShiftedTask
    >>> v, y = np.array([1.0, 2.0]), np.array([1, -1])
    >>> ShiftedTask("edge", v * [0.5, 2.0], y, v, minus=2.0, plus=0.5).weight
    array([0.5, 4. ])
    """

    def __init__(self, criterion: str, weight: Array, target: Array, v: Array, minus: float, plus: float) -> None:
        super().__init__(criterion, weight, target)
        self.v, self.minus, self.plus = v, minus, plus
