"""Which rows the booster found hard: candidates for wrong labels."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from boostlab.theory.bound import Array
from boostlab.theory.margins import normalised_margins
from boostlab.theory.weights import row_weights

MEASURES = ("weight", "margin", "influence")


@dataclass(frozen=True)
class HardExamples:
    """The rows of a training sample, by how hard they were.

    Attributes
    ----------
    ranking : array of int
        All rows, the hardest first, by the mean of their ranks in the three measures.
    weight : array
        Every row's weight in the last round.
    margin : array
        Every row's normalised margin; a small one is hard.
    influence : array
        Every row's average weight over the rounds.
    """

    ranking: Array
    weight: Array
    margin: Array
    influence: Array

    def rows(self, k: int | None = None) -> list[dict[str, float]]:
        """Return the hardest rows, each with its number (from 0) and the three measures.

        Parameters
        ----------
        k : int, optional
            How many; None is all.
        """
        return [{"row": int(i), **{name: float(getattr(self, name)[i]) for name in MEASURES}} for i in self.ranking[:k]]

    @property
    def frame(self) -> Any:
        """All rows, the hardest first, as a frame of pandas or polars, or a list of dicts, whichever is installed."""
        for name in ("pandas", "polars"):
            with suppress(ImportError):
                return import_module(name).DataFrame(self.rows())
        return self.rows()

    def __str__(self) -> str:
        lines = [f"{'row':>8} {'weight':>10} {'margin':>8} {'influence':>10}"]
        lines += [
            f"{one['row']:>8} {one['weight']:>10.2e} {one['margin']:>8.3f} {one['influence']:>10.2e}"
            for one in self.rows(10)
        ]
        more = len(self.ranking) - 10
        return "\n".join([*lines, f"... and {more:,} rows that were easier"] if more > 0 else lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        lines = "".join(
            f"<tr><td>{one['row']}</td><td>{one['weight']:.2e}</td><td>{one['margin']:.3f}</td>"
            f"<td>{one['influence']:.2e}</td></tr>"
            for one in self.rows(10)
        )
        head = "".join(f"<th>{name}</th>" for name in ("row", *MEASURES))
        more = max(len(self.ranking) - 10, 0)
        return f"<table><tr>{head}</tr>{lines}</table><p>... and {more:,} rows that were easier</p>"

    def by(self, measure: str) -> Array:
        """Return all rows, the hardest first.

        Parameters
        ----------
        measure : {"weight", "margin", "influence"}
            What makes a row hard.

        Returns
        -------
        array of int
        """
        if measure not in MEASURES:
            raise ValueError(f"measure={measure!r} is not known; use {', '.join(map(repr, MEASURES))}.")
        sign = 1.0 if measure == "margin" else -1.0
        return np.argsort(sign * getattr(self, measure), kind="stable")

    def precision(self, flipped: npt.ArrayLike, k: int | None = None) -> dict[str, float]:
        """Return which share of the k hardest rows is really mislabelled, by every measure and all together.

        Parameters
        ----------
        flipped : array-like of bool, of shape (n_rows,)
            Which labels are known to be wrong (planted, say).
        k : int, optional
            How many rows to look at; by default as many as are wrong.

        Returns
        -------
        dict from str to float
            For "weight", "margin", "influence", "ranking", and "chance": the share among all rows.
        """
        wrong = np.asarray(flipped, dtype=bool)
        if wrong.shape != self.weight.shape:
            raise ValueError(f"flipped must say of each of the {len(self.weight)} rows whether its label is wrong.")
        k = int(wrong.sum()) if k is None else k
        if not 1 <= k <= len(wrong):
            raise ValueError(f"k={k!r} is not possible; look at 1 to {len(wrong)} rows.")
        found = {name: float(wrong[self.by(name)[:k]].mean()) for name in MEASURES}
        return {**found, "ranking": float(wrong[self.ranking[:k]].mean()), "chance": float(wrong.mean())}


def hard_examples(model: Any, X: Any, y: Any, sample_weight: Any = None) -> HardExamples:
    """Rank the training rows by how hard they were: by weight, margin and influence.

    Rows whose labels are wrong tend to end with small margins, and boosters with convex losses give them ever more
    weight.  Weights are seen by training a copy of the model again (`row_weights`).

    Parameters
    ----------
    model : fitted booster
    X : array-like of shape (n_rows, n_features)
        The training rows.
    y : array-like of shape (n_rows,)
        Their labels.
    sample_weight : array-like of shape (n_rows,), optional
        As given to `fit`.

    Returns
    -------
    HardExamples

    References
    ----------
    Freund & Schapire 1996 (outliers are among the heaviest examples); Raetsch, Onoda & Mueller 2001 (influence).

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier
    >>> from boostlab.datasets import flip_labels, twonorm
    >>> X, clean = twonorm(400, random_state=0)
    >>> y = flip_labels(clean, 0.05, random_state=0)
    >>> hard = hard_examples(AdaBoostClassifier(n_estimators=30).fit(X, y), X, y)
    >>> found = hard.precision(y != clean)
    >>> found["ranking"] > 10 * found["chance"]
    True
    >>> print(hard)  # doctest: +ELLIPSIS
         row     weight   margin  influence
    ...
    >>> list(hard.rows(1)[0])
    ['row', 'weight', 'margin', 'influence']
    """
    seen = row_weights(model, X, y, sample_weight)
    weight = seen.by_round[-1]
    margin = normalised_margins(model, X, y)
    mean_rank = rankdata(-weight) + rankdata(margin) + rankdata(-seen.influence)
    return HardExamples(np.argsort(mean_rank, kind="stable"), weight, margin, seen.influence)
