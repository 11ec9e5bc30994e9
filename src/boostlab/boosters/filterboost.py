"""FilterBoost: logistic weights, on a fixed sample or by a filter (Bradley & Schapire 2008).

`FilterBoostOracle` is FilterBoost proper: every voter is learnt from examples of a table or a stream that a filter lets
through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from math import atanh, ceil
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from boostlab.backend import Masses, count_threads
from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.madaboost import MadaBoost
from boostlab.boosters.params import check_params, number, one_of, param, whole
from boostlab.boosters.registry import booster
from boostlab.contract import Array, Retry, Rule, State, Step, Stop, Task, error_sums, expit, formula, log, softplus
from boostlab.data.binned import Binned
from boostlab.data.input_errors import one_sentence
from boostlab.data.sample import encode_labels
from boostlab.data.table import Bins
from boostlab.engine.streaming import PIECE, Filter, StreamTraining
from boostlab.ensemble.rounds import history
from boostlab.solvers.filtering import Calls, FilteredEdge, sequential_edge

_NEED_A_SAMPLE = (
    "early_stopping",
    "warm_start",
    "callbacks",
    "class_weight",
    "resample",
    "verbose",
    "calibrate",
    "cost",
    "shapes",
)


@formula
def weight(y: float, F: float) -> float:
    """q = 1 / (1 + exp(y F)), the chance that the filter accepts an example."""
    return expit(-y * F)


@formula
def loss_after(y: float, F: float, h: float, alpha: float) -> float:
    """ln(1 + exp(-y (F + alpha h)))."""
    return softplus(-y * (F + alpha * h))


@dataclass(frozen=True)
class FilterBoost(MadaBoost):
    """Minimise the mean of ln(1 + exp(-y F)), with the weights q_i = 1 / (1 + exp(y_i F(x_i))).

    The rest is MadaBoost's: the loss is bounded in the same way.  An error weighs at least 1/2, so the training error
    is at most twice the mean of q.
    """

    weight: ClassVar[Any] = staticmethod(weight)
    loss_after: ClassVar[Any] = staticmethod(loss_after)

    least: ClassVar[float] = 0.5
    usual = MadaBoost.usual


@dataclass(frozen=True)
class FilterBoostOracle(FilterBoost):
    """Examples come one by one from an oracle, and the filter accepts each with chance q = 1 / (1 + exp(y F)).

    1. In round t = 1, 2, ...: delta_t = delta / (3 t (t + 1)); the filter gives m_t = m ln(t + 2) examples.  Its r-th
       call ends everything, with an error of at most eps, if it accepts none of (2 / eps) ln(r (r + 1) / delta_t).
    2. h = the best voter on these examples, unweighted.
    3. g = the edge of h by a sequential test on further filtered examples; drop h if it has none.
    4. alpha = (1/2) ln((1/2 + g) / (1/2 - g)); F += alpha h.

    Here the oracle draws rows of the sample, with replacement.  How many the filter turns away, and whether h is right
    on an accepted one, depend on the sample only through the mean of q and the weighted error of h; so they are drawn
    from these two numbers, and no row need be looked at.
    """

    delta: float = 0.1
    tau: float = 0.5
    m: int = 300
    n_max: int = 100_000

    def begin(self, s: State) -> None:
        """No call has been made."""
        s.own.round, s.own.drawn = -1, 0

    def calls(self, t: int) -> Calls:
        """Step 1, for the round after t rounds."""
        return Calls(self.target_error, self.delta / (3 * (t + 1) * (t + 2)), ceil(self.m * log(t + 3)))

    def task(self, s: State) -> Task | Stop:
        """Steps 1 and 2."""
        own, q = s.own, s.each(self.weight)
        if own.round != s.t:  # else the round is asked again, and its calls go on
            own.round, own.calls = s.t, self.calls(s.t)
        own.rate = max(s.total(q) / s.n, 1e-15)
        if not self.accepted(s, own.calls.m):
            return self.ended(own.calls)
        return Task("edge", q, s.y, draw=own.calls.m)

    def accepted(self, s: State, n: int) -> bool:
        """Call the filter n times; whether it accepted an example every time."""
        return s.own.calls.made(s.rng.geometric(s.own.rate, n))

    def step(self, s: State, task: Task, h: Array) -> Step | Retry | Stop:
        """Steps 3 and 4."""
        whole, wrong = s.total(error_sums)

        def right(n: int) -> Array | None:
            return s.rng.random(n) >= wrong / whole if self.accepted(s, n) else None

        answer = self.judged(sequential_edge(right, s.own.calls.delta, self.tau, self.n_max), s.own.calls)
        if isinstance(answer, Step):
            loss = float(s.total(self.loss_after, answer.alpha) / s.n)
            answer.facts = {"error": wrong / whole, **answer.facts, "objective": loss}
        return answer

    def judged(self, found: FilteredEdge | None, calls: Calls) -> Step | Retry | Stop:
        """Step 4, given what the test found."""
        if found is None:
            return self.ended(calls)
        if found.g <= 0:
            return Retry(f"no edge was found in {found.n} filtered examples")
        g = min(found.g, 0.5 - 0.5 / found.n)
        return Step(atanh(2 * g), {"edge": 2 * g, "tested": float(found.n), "drawn": float(calls.drawn)})

    def ended(self, calls: Calls) -> Stop:
        """Step 1's end."""
        return Stop("tolerance", f"none of {calls.limit} examples in a row was accepted: the error is at most "
                    f"{self.target_error:g}, with confidence {1 - self.delta:g}")  # fmt: skip


@booster(
    "Bradley & Schapire 2008",
    "labels are noisy and you want logistic weights, or examples come as a stream",
    family="noisy_labels",
    variants=dict(oracle=dict(mode="oracle")),
    stronger=dict(target_error="larger"),
)
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
        chunks = self._chunks(source, classes)
        first = next(chunks, None)
        if first is None:
            raise ValueError("The stream holds no examples; give at least one chunk (X, y).")
        learner = self._learner_for(rule)

        def again() -> Iterator[tuple[Any, Array]]:
            yield first
            yield from chunks

        threads = count_threads(self.n_jobs)
        n_categories: dict[int, int] = {} if self._columns is None else self._columns.n_categories

        def bins(X: Any, rows: Masses) -> Bins:
            return Bins.fit(X, rows, self.max_bins, threads, n_categories)

        training = StreamTraining(rule, learner, Filter(rule, again(), rng), bins, self.max_restarts, rng)
        rounds, stop = training.run(self.n_estimators)
        self._settled = {}
        self._conclude(rule, rounds, history(rounds), str(stop))
        self._complain("" if rounds else self._empty)

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
