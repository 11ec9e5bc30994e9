"""Why one row has its score: in words and as a waterfall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.frames import is_frame
from boostlab.explain.shapley import Contributions, contributions
from boostlab.reductions.reduced import Reduced

Array = npt.NDArray[Any]

SHOWN = 8  # features that words name one by one


@dataclass(frozen=True, eq=False)
class Explanation:
    """What every feature adds to the score of one row, the largest first.

    Attributes
    ----------
    contributions : Contributions
        Of one row.
    prediction : object
        The predicted label, or number.
    probability : float or None
        The predicted label's probability.
    output : int
        Which score is explained: of three or more classes, the predicted one's; of binary problems ("ovo", "ecoc"),
        the one that parts the predicted class most clearly from the second most probable.
    by_cost : bool
        Whether the label is the one with the smallest expected cost, which need not be the most probable.
    """

    contributions: Contributions
    prediction: Any
    probability: float | None
    output: int
    by_cost: bool = False

    @property
    def values(self) -> Array:
        """What every feature adds to the explained score."""
        values = self.contributions.values[0]
        return values if values.ndim == 1 else values[:, self.output]

    @property
    def base(self) -> float:
        """The mean score, before any feature is known."""
        return float(np.ravel(self.contributions.base_values[0])[self.output])

    @property
    def score(self) -> float:
        """The score of the row."""
        return self.base + float(self.values.sum())

    def lines(self, most: int = SHOWN) -> list[tuple[str, float]]:
        """Return "feature = value" and what it adds, the largest first; the rest in one line.

        Parameters
        ----------
        most : int
            How many features to name.
        """
        order = np.argsort(-np.abs(self.values), kind="stable")
        order = order[self.values[order] != 0.0]
        c = self.contributions
        told = [(f"{c.feature_names[j]} = {c.shown(0, j)}", float(self.values[j])) for j in order[:most].tolist()]
        if len(order) > most:
            told.append((f"{len(order) - most} other features", float(self.values[order[most:]].sum())))
        return told

    def __str__(self) -> str:
        name = self.contributions.output_names[self.output]
        why = ", the smallest expected cost" if self.by_cost else ""
        sure = "" if self.probability is None else f" (probability {self.probability:.3g}{why})"
        head = f"Predicted: {self.prediction}{sure}."
        said = f"Score for {name}" if name != "the prediction" else "Prediction"
        told = self.lines()
        width = max([len("mean of the reference rows"), *(len(words) for words, _ in told)])
        body = [f"  {'mean of the reference rows':<{width}}  {self.base:+.4f}"]
        body += [f"  {words:<{width}}  {value:+.4f}" for words, value in told]
        return "\n".join([head, f"{said}: {self.score:.4f}, which is", *body])

    __repr__ = __str__

    def plot(self, ax: Any = None, most: int = SHOWN) -> Any:
        """Draw a waterfall from the mean score to the row's.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; new ones by default.
        most : int
            How many features to name.

        Returns
        -------
        matplotlib Axes
        """
        from boostlab.explain.waterfall import waterfall

        return waterfall(self, ax, most)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def explain(model: Any, row: Any, background: Any = None) -> Explanation:
    """Explain the score of one row.

    Parameters
    ----------
    model : Booster
        Fitted.
    row : array-like of shape (n_features,) or (1, n_features), or a mapping from names to values
        The row.
    background : array-like, optional
        As for `contributions`.

    Returns
    -------
    Explanation
        Printed, it is a table of the features, the largest contribution first.

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier, explain
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(100, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    >>> str(explain.explain(model, X[:1])).split()[0]
    'Predicted:'
    """
    X = row if is_frame(row) else _one_line(row, model)
    told = contributions(model, X, background)
    if len(told) != 1:
        raise ValueError(f"explain takes one row, and this table has {len(told)}; use contributions for several.")
    prediction = model.predict(X)[0]
    if model._numeric:
        return Explanation(told, f"{prediction:.6g}", None, 0)
    place = int(np.flatnonzero(model.classes_ == prediction)[0])
    P = model.predict_proba(X)[0]
    by_cost = getattr(model, "cost_matrix_", None) is not None
    return Explanation(told, prediction, float(P[place]), _output(model, told, place, P), by_cost)


def _output(model: Any, told: Contributions, place: int, P: Array) -> int:
    """Return which score says most of a predicted class."""
    if len(told.output_names) == 1:
        return 0
    vote = model._ensemble
    if not isinstance(vote, Reduced) or vote.form.decoder == "strongest":
        return place
    form = vote.form
    second = int(np.where(np.arange(len(P)) == place, -np.inf, P).argmax())
    parts = form.code[place] * form.code[second] < 0
    return int(np.where(parts, form.code[place] * told.scores[0], -np.inf).argmax())


def _values(row: Mapping[str, Any], names: Any) -> list[Any]:
    """Return the values of a mapping in the order of the model's columns."""
    if names is None:
        raise ValueError("This model was fitted without names of columns; give the row as a list of values.")
    for name in names:
        if name not in row:
            raise ValueError(f"The row has no {name!r}; give a value for every column, None where it is missing.")
    return [row[name] for name in names]


def _one_line(row: Any, model: Any) -> Any:
    """Return one row as a table with the names that the model knows."""
    names = getattr(model, "feature_names_in_", None)
    if hasattr(row, "to_frame"):  # a line of a frame, whose columns became an index
        return row.to_frame().T
    if isinstance(row, Mapping):
        row = _values(row, names)
    X = np.asarray(row, dtype=object if model._columns is not None else None)
    X = X[None] if X.ndim == 1 else X
    if names is None:
        return X
    try:
        from pandas import DataFrame
    except ImportError:
        return X
    return DataFrame(X, columns=list(names))
