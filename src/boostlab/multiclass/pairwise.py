"""One classifier for every pair of classes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy.typing as npt

from boostlab.multiclass.meta import CodedClassifier
from boostlab.reductions.codes import one_vs_one
from boostlab.reductions.form import ReductionForm

Array = npt.NDArray[Any]

AGGREGATES = ("vote", "coupling", "least_squares", "dag")


class PairwiseClassifier(CodedClassifier):
    """One-versus-one: a binary classifier for every pair of classes, put together by votes, probabilities or a DAG.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier; a booster of this package is trained on pairs of one table that is binned once.
    aggregate : {"vote", "coupling", "least_squares", "dag"}, default="vote"
        How the pairs decide:

        - "vote": the class that wins most pairs; of equals the one with the larger sum of scores, then the first.
        - "coupling": the largest of the class probabilities that agree best with those of the pairs (Hastie &
          Tibshirani 1998).
        - "least_squares": the same by a linear system (Wu, Lin & Weng 2004).
        - "dag": the first class of a list meets the last, the loser leaves, until one is left (Platt, Cristianini &
          Shawe-Taylor 2000).
    order : list of labels, optional
        The list of "dag"; by default the classes in order.  Labels that y does not have (in a fold, say) are left out.
    n_jobs : int, optional
        How many pairs to train at a time, as in scikit-learn; boosters use threads of their own instead.

    Attributes
    ----------
    classes_ : array
        The class labels in order.
    estimators_ : list
        The fitted classifiers, one a pair; their label 1 is the second class of the pair, 0 the first.
    pairs_ : list of tuples
        The pairs of labels.
    n_features_in_, feature_names_in_
        The columns seen by `fit`.

    Notes
    -----
    `predict_proba` is the coupling of the pairs' probabilities, whatever decides; where the class decided for is not
    the most probable, the two change places.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from boostlab import PairwiseClassifier, VadaBoostClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = PairwiseClassifier(VadaBoostClassifier(n_estimators=20), aggregate="coupling").fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    >>> [(int(i), int(j)) for i, j in model.pairs_]
    [(0, 1), (0, 2), (1, 2)]
    """

    def __init__(
        self, estimator: Any, aggregate: str = "vote", *, order: Any = None, n_jobs: int | None = None
    ) -> None:
        self.estimator = estimator
        self.aggregate = aggregate
        self.order = order
        self.n_jobs = n_jobs

    def _decoder(self) -> str:
        if self.aggregate not in AGGREGATES:
            raise ValueError(
                f"PairwiseClassifier: aggregate={self.aggregate!r} is not possible; it must be one of "
                f"{', '.join(map(repr, AGGREGATES))}."
            )
        return self.aggregate

    def _form(self, masses: Array) -> ReductionForm:
        return ReductionForm.of(one_vs_one(len(masses)), self._decoder(), masses)

    def _told(self, form: ReductionForm) -> ReductionForm:
        self.pairs_ = list(combinations(self.classes_, 2))
        if self.order is None:
            return form
        labels, places = list(self.order), {label: k for k, label in enumerate(self.classes_.tolist())}
        order = [places[label] for label in labels if label in places]
        if len(set(labels)) != len(labels) or len(order) != len(places):
            raise ValueError("order must hold every class once; leave it out for the classes in order.")
        return replace(form, order=order)
