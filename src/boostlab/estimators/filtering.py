"""FilterBoost, on a table or from a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets

from boostlab.contract import Rule
from boostlab.data.rows import Rows
from boostlab.data.table import Bins
from boostlab.data.threads import count_threads
from boostlab.engine import history
from boostlab.estimators.base import BoostingClassifier
from boostlab.estimators.binned import Binned
from boostlab.estimators.complaints import one_sentence
from boostlab.estimators.params import check_params, number, one_of, param, whole
from boostlab.estimators.registry import booster
from boostlab.estimators.sample import encode_labels
from boostlab.rules.filterboost import FilterBoost
from boostlab.rules.filterboost_oracle import FilterBoostOracle
from boostlab.stream import PIECE, Filter, StreamTraining
from boostlab.voters import as_learner

Array = npt.NDArray[Any]

_NEED_A_SAMPLE = ("early_stopping", "warm_start", "callbacks", "class_weight", "resample", "verbose")


@booster("Bradley & Schapire 2008", "labels are noisy and you want logistic weights, or examples come as a stream")
@dataclass(eq=False, repr=False)
class FilterBoostClassifier(BoostingClassifier):
    """FilterBoost: logistic weights, on all rows or on the examples that a filter lets through.

    The filter accepts an example with the chance 1 / (1 + exp(y F)), about 1 where the vote is wrong and 0 where it is
    clearly right.  With `mode="oracle"` every voter is learnt from accepted examples and its edge is estimated from
    further ones; training ends by itself when the filter finds nothing to accept, and then the error is at most
    `target_error` with probability 1 - `delta`.  `fit` draws the examples from its rows, with replacement; `fit_stream`
    takes them from a function or an iterator and holds only a few at a time.  An edge near 0 takes many examples to
    find: where there is a table, `mode="batch"` is the better choice.

    Parameters
    ----------
    mode : {"batch", "oracle"}, default="batch"
        Weights on all rows, or the filter.
    target_error : float in [0, 1), default=0.01
        When to stop: in batch mode when the training error is certain to be at most this (0 goes on), in oracle mode,
        where it must be above 0, as said above.
    delta : float in (0, 1), default=0.1
        Oracle mode: the chance that a promise does not hold.
    tau : float in (0, 1), default=0.5
        Oracle mode: how far below the true edge an estimate may be, as a share of it.
    n_examples : int, default=300
        Oracle mode: voter number t is learnt from n_examples ln(t + 2) examples.
    max_tested : int, default=100_000
        Oracle mode: a voter whose edge is not certain after so many examples has none, and is dropped.
    {shared}

    Examples
    --------
    >>> from boostlab import FilterBoostClassifier
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(1000, random_state=0)
    >>> FilterBoostClassifier().fit(X, y).score(X, y) > 0.95
    True
    >>> model = FilterBoostClassifier(mode="oracle", n_estimators=20, random_state=0)
    >>> seeds = iter(range(10_000))
    >>> model.fit_stream(lambda n: twonorm(n, random_state=next(seeds))).score(X, y) > 0.85
    True
    """

    mode: str = param("batch", one_of("batch", "oracle"))
    target_error: float = param(0.01, number(0, 1, "[)"))
    delta: float = param(0.1, number(0, 1, "()"))
    tau: float = param(0.5, number(0, 1, "()"))
    n_examples: int = param(300, whole(1))
    max_tested: int = param(100_000, whole(1))

    def _rule(self) -> Rule:
        return self._oracle() if self.mode == "oracle" else FilterBoost(target_error=self.target_error)

    def _oracle(self) -> FilterBoostOracle:
        if self.target_error == 0:
            raise ValueError('target_error=0 would never end with mode="oracle"; use a number above 0.')
        return FilterBoostOracle(
            target_error=self.target_error, delta=self.delta, tau=self.tau, m=self.n_examples, n_max=self.max_tested
        )

    def fit_stream(
        self, source: Callable[[int], tuple[Any, Any]] | Iterable[tuple[Any, Any]], classes: Any = None
    ) -> Self:
        """Train on examples that come and go, with `mode="oracle"`.

        Parameters
        ----------
        source : callable or iterable
            A function that is given a number n and returns n fresh examples as (X, y), and None when there are no more;
            or an iterable of chunks (X, y).  The examples must come in random order: all tests assume that, and a file
            sorted by class deceives them.
        classes : array-like of two labels, optional
            By default those of the first chunk.

        Returns
        -------
        self
        """
        check_params(self)
        if self.mode != "oracle":
            raise ValueError('fit_stream filters a stream, which cannot be read twice: set mode="oracle".')
        for f in fields(self):
            if f.name in _NEED_A_SAMPLE and getattr(self, f.name) != f.default:
                raise ValueError(f"fit_stream has no sample, which {f.name} would need: leave {f.name} at its default.")
        before = dict(self.__dict__)
        try:
            self._stream(source, classes)
        except BaseException:  # a fit that fails leaves the model of the last one
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _stream(self, source: Any, classes: Any) -> None:
        rng, rule = np.random.default_rng(self._seed()), self._oracle()
        learner = as_learner(self.estimator, rule, type(self).__name__, self.max_depth, self.max_leaf_nodes)
        chunks = self._chunks(source, classes)
        first = next(chunks, None)
        if first is None:
            raise ValueError("The stream holds no examples; give at least one chunk (X, y).")

        def again() -> Iterator[tuple[Any, Array]]:
            yield first
            yield from chunks

        threads = count_threads(self.n_jobs)
        n_categories: dict[int, int] = {} if self._columns is None else self._columns.n_categories

        def bins(X: Any, rows: Rows) -> Bins:
            return Bins.fit(X, rows, self.max_bins, threads, n_categories)

        training = StreamTraining(rule, learner, Filter(rule, again(), rng), bins, self.max_restarts, rng)
        rounds, stop = training.run(self.n_estimators)
        self._settled = {}
        self._conclude(rule, rounds, history(rounds), str(stop))

    def _chunks(self, source: Any, classes: Any) -> Iterator[tuple[Any, Array]]:
        """Yield checked chunks with labels -1 and +1."""
        known = None if classes is None else np.unique(classes)
        for number_, chunk in enumerate(_raw(source)):
            if not (isinstance(chunk, tuple | list) and len(chunk) == 2):
                raise ValueError(f"A stream gives pairs (X, y), and this one gave {type(chunk).__name__}.")
            if isinstance(chunk[0], Binned):
                raise ValueError("A stream gives plain tables: fit_stream bins what its filter lets through.")
            X, y = self._numbers(chunk[0], (chunk[1],), reset=number_ == 0)
            if known is None:
                with one_sentence():
                    check_classification_targets(y)
                known = np.unique(y)
            if len(known) != 2:
                raise ValueError(
                    f"FilterBoostClassifier tells two classes apart, and there are {len(known)} in "
                    f"{'the first chunk; pass classes=[...] with both' if classes is None else 'classes'}."
                )
            self.classes_ = known
            with one_sentence():
                codes = encode_labels(y, known, "y")
            yield X, np.where(codes == 1, np.int8(1), np.int8(-1))


def _raw(source: Any) -> Iterator[Any]:
    """Yield what the source gives, as it is."""
    if not callable(source) and not isinstance(source, Iterable):
        raise ValueError(
            f"A stream is a function of n or an iterable of pairs (X, y), and this is {type(source).__name__}."
        )
    if not callable(source):
        yield from source
        return
    while (chunk := source(PIECE)) is not None:
        yield chunk
