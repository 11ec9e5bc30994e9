"""What y is to a booster: class labels, or numbers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from boostlab.data.input_tables import Reading
from boostlab.data.sample import Sample, check_numbers, check_sample
from boostlab.engine.measures import squared_error
from boostlab.engine.monitors import Progress, RegressionValidation, Validation

Array = npt.NDArray[Any]


class Targets(Reading):
    """What `fit` must know about y."""

    n_estimators: int
    scoring: Any

    _multiclass: ClassVar[bool] = False  # whether there is a rule of its own for three or more classes

    def _sample(self, X: Any, y: Any, weight: Any, known: Sample | None = None) -> Sample:
        """Return a checked sample, or a validation sample where the training sample is known."""
        raise NotImplementedError

    def _reduction(self, n_classes: int) -> str | None:
        """Return the name of the reduction by which so many classes are told apart; None is the rule itself."""
        return None

    def _take(self, sample: Sample, held_out: Sample | None) -> tuple[Sample, Sample | None]:
        """Take note of what the targets are, and return the samples as the rule is to see them."""
        raise NotImplementedError

    def _watch(self, sample: Sample, held_out: Sample, patience: int | None, tol: float) -> Validation:
        """Return what follows the score on held-out rows; without patience it only looks on."""
        raise NotImplementedError

    def _progress(self) -> Progress:
        """Return the progress bar."""
        raise NotImplementedError

    @property
    def _nothing(self) -> Any:
        """What a vote of no voters predicts."""
        raise NotImplementedError

    @property
    def _n_classes(self) -> int:
        """The number of classes; 0 for numbers."""
        raise NotImplementedError


class LabelTargets(Targets):
    """y is a class label."""

    classes_: Array
    class_weight: Any
    multiclass: str

    _numeric: ClassVar[bool] = False
    _smooth: ClassVar[str] = "scaled_log_loss"  # what early stopping follows, unless `scoring` names something else

    def _sample(self, X: Any, y: Any, weight: Any, known: Sample | None = None) -> Sample:
        if known is not None:
            return check_sample(X, y, weight, known.classes, "y_val")
        return check_sample(X, y, weight, None, "y", self.class_weight)

    @property
    def _own_form(self) -> bool:
        """Whether the rule that these parameters make has a form for three or more classes."""
        return self._multiclass

    def _reduction(self, n_classes: int) -> str | None:
        if n_classes < 3:
            return None
        if self.multiclass == "auto":
            return None if self._own_form else "ovr"
        return self.multiclass

    def _take(self, sample: Sample, held_out: Sample | None) -> tuple[Sample, Sample | None]:
        self.classes_ = sample.classes
        return sample, held_out

    def _watch(self, sample: Sample, held_out: Sample, patience: int | None, tol: float) -> Validation:
        validation = (held_out.X, held_out.codes, held_out.rows)
        return Validation(self._followed(patience is not None), sample.classes, validation, sample.X, patience, tol)

    def _followed(self, stops: bool) -> Any:
        """Return the measure to follow: unless one is named, the error, or a smooth one where training stops by it."""
        if not isinstance(self.scoring, str) or self.scoring != "auto":
            return self.scoring
        return self._smooth if stops else "error"

    def _progress(self) -> Progress:
        return Progress(self.n_estimators, type(self).__name__)

    @property
    def _nothing(self) -> Any:
        return self.classes_[0]

    @property
    def _n_classes(self) -> int:
        return len(self.classes_)

    @property
    def _several(self) -> bool:
        """Whether there are three or more classes, once they are known."""
        return len(getattr(self, "classes_", ())) > 2


class NumberTargets(Targets):
    """y is a number: the rule sees it less the training rows' mean, the baseline."""

    baseline_: float

    _numeric: ClassVar[bool] = True

    def _check_targets(self, y: Any) -> None:
        super()._check_targets(y)
        kind = np.asarray(y).dtype.kind
        if kind in "USmM" or (kind == "O" and any(isinstance(v, str | bytes) for v in np.ravel(np.asarray(y)))):
            raise ValueError(f"{type(self).__name__} predicts numbers, and y holds text or dates; use a classifier.")

    def _sample(self, X: Any, y: Any, weight: Any, known: Sample | None = None) -> Sample:
        return check_numbers(X, y, weight, "y" if known is None else "y_val")

    def _take(self, sample: Sample, held_out: Sample | None) -> tuple[Sample, Sample | None]:
        self.baseline_ = sample.mean()
        return sample.less(self.baseline_), None if held_out is None else held_out.less(self.baseline_)

    def _watch(self, sample: Sample, held_out: Sample, patience: int | None, tol: float) -> Validation:
        validation = (held_out.X, held_out.codes, held_out.rows)
        return RegressionValidation(self.scoring, self.baseline_, validation, sample.X, patience, tol)

    def _progress(self) -> Progress:
        return Progress(self.n_estimators, type(self).__name__, squared_error)

    @property
    def _nothing(self) -> Any:
        return f"{self.baseline_:g}"

    @property
    def _n_classes(self) -> int:
        return 0
