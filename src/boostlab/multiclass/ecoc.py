"""Error-correcting output codes."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from boostlab.multiclass.meta import CodedClassifier
from boostlab.reductions.codes import CODES, check_code, make_code, min_distance
from boostlab.reductions.form import ReductionForm

Array = npt.NDArray[Any]

DECODINGS = {"loss": "loss", "hamming": "hamming", "probability": "coupling"}


class ECOCClassifier(CodedClassifier):
    """Error-correcting output codes: binary classifiers of groups of classes, some of which may be wrong.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier; boosters of this package share one table that is binned once.
    code : str or array of shape (n_classes, n_columns), default="auto"
        What every column asks: +1 and -1 are its sides, classes of entry 0 take no part.

        - "auto": "exhaustive" up to seven classes, "bch" beyond.
        - "exhaustive": all ways to part the classes in two.
        - "bch": words of a BCH code, half of whose columns tell any two classes apart, about.
        - "dense", "sparse": the best of 1000 random codes, the latter with every other entry 0.
        - "ovr", "ovo": one class against the rest, all pairs.
        - a matrix of -1, 0 and +1, its rows in the order of the sorted labels.
    decoding : {"loss", "hamming", "probability"}, default="loss"
        The class whose row fits the answers best: by the exponential loss of the scores (Allwein, Schapire & Singer
        2000); by the number of wrong columns; or by the class probabilities that agree best with those of the columns
        (Huang, Weng & Lin 2006).
    n_columns : int, optional
        The number of columns of "dense" and "sparse" codes (by default 10 and 15 times log2 of the number of classes),
        and the least one of "bch" (2^m - 1 columns).
    n_jobs : int, optional
        How many columns to train at a time, as in scikit-learn; boosters use threads of their own instead.
    random_state : int, RandomState or None, default=None
        Seed of the code.

    Attributes
    ----------
    classes_ : array
        The class labels in order.
    code_ : array of shape (n_classes, n_columns)
        The code.
    min_distance_ : float
        The smallest distance between two rows: Hamming decoding is right while fewer than half as many columns are
        wrong.
    estimators_ : list
        The fitted classifiers, one a column; their labels are 0 and 1 for the sides -1 and +1.
    n_features_in_, feature_names_in_
        The columns seen by `fit`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from boostlab import AdaBoostClassifier, ECOCClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = ECOCClassifier(AdaBoostClassifier(n_estimators=20), random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    >>> model.code_.tolist()
    [[1, 1, 1], [1, -1, -1], [-1, 1, -1]]
    """

    def __init__(
        self,
        estimator: Any,
        code: Any = "auto",
        *,
        decoding: str = "loss",
        n_columns: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.code = code
        self.decoding = decoding
        self.n_columns = n_columns
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _decoder(self) -> str:
        if self.decoding not in DECODINGS:
            raise ValueError(
                f"ECOCClassifier: decoding={self.decoding!r} is not possible; it must be one of "
                f"{', '.join(map(repr, DECODINGS))}."
            )
        return DECODINGS[self.decoding]

    def _form(self, masses: Array) -> ReductionForm:
        decoder = self._decoder()
        if self.n_columns is not None and not (isinstance(self.n_columns, Integral) and self.n_columns >= 1):
            raise ValueError(f"ECOCClassifier: n_columns={self.n_columns!r} is not possible; it must be at least 1.")
        if not isinstance(self.code, str):
            code = check_code(self.code, len(masses))
        elif self.code in ("auto", *CODES):
            rng = np.random.default_rng(int(check_random_state(self.random_state).randint(2**31)))
            code = make_code(self.code, len(masses), self.n_columns, rng)
        else:
            names = ", ".join(map(repr, ("auto", *CODES)))
            raise ValueError(
                f"ECOCClassifier: code={self.code!r} is not possible; it must be one of {names}, or a matrix."
            )
        return ReductionForm.of(code, decoder, masses)

    def _told(self, form: ReductionForm) -> ReductionForm:
        self.code_, self.min_distance_ = form.code, min_distance(form.code)
        return form
