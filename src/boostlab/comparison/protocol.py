"""Nested cross-validation: the outer parts test, the inner ones choose, and no row does both."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold, StratifiedKFold

from boostlab.boosters import REGISTRY, REGRESSORS
from boostlab.comparison.metrics import METRICS, Metric, evidence
from boostlab.comparison.peers import build, fit_in_steps, is_peer
from boostlab.data.binned import Binned
from boostlab.datasets import flip_labels
from boostlab.studies.choice import preference
from boostlab.studies.plan import Definition, Method, Outcome, Procedure
from boostlab.studies.progress import report

Array = npt.NDArray[Any]

KEPT = 20_000  # test rows of a cell whose answers are kept


@dataclass(frozen=True)
class LabelledRows:
    """Rows and their labels."""

    X: Any
    y: Array


@dataclass(frozen=True)
class OuterSplit:
    """What all boosters share in one outer split."""

    train: LabelledRows
    test: LabelledRows
    inner: list[tuple[LabelledRows, LabelledRows]]  # to train on, and to choose by
    seed: int
    rows: Array  # of the table, that test
    raw: tuple[Any, Any]  # training and test rows that are not binned, for yardsticks
    categorical: list[int]
    n_classes: int  # 0 where numbers are predicted


@dataclass(frozen=True)
class NestedCV(Procedure):
    """Repeated cross-validation, stratified by class, in which every training part chooses by one of its own.

    A repeat of the study is one outer split: repeat r tests on part r % folds of division r // folds.  A booster is
    trained once a candidate and inner part, for all rounds; the number of rounds is read off these runs.  Parameters
    are chosen one after the other, each with the best values so far of the others.  The candidate and the number of
    rounds with the lowest cost on the inner parts (of equals, the strongest regularisation: `studies.choice`) are
    trained on the whole outer training part, and tested.

    Parameters
    ----------
    folds : int, default=5
        Outer parts.
    inner : int, default=3
        Inner parts; all of them choose, or with `hold_out` only the first.
    hold_out : bool, default=False
        Whether to train a candidate once and not for every inner part.
    rounds : int, default=200
        The largest number of rounds.
    noise : float, default=0.0
        Share of the labels flipped in every outer training part; the choice is made by flipped labels, too, and the
        test by clean ones.
    seed : int, default=0
        Of the divisions, the flips and the boosters.
    metric : str, default="error"
        What chooses, and what is tested.
    version : int, default=3
        Raised when this code computes something else.
    """

    folds: int = 5
    inner: int = 3
    hold_out: bool = False
    rounds: int = 200
    noise: float = 0.0
    seed: int = 0
    metric: str = "error"
    version: int = 3

    def definition(self) -> Definition:
        """Return all that may change a result."""
        return {"protocol": "nested cross-validation", **asdict(self)}

    def parts(self, data: Any, repeat: int) -> OuterSplit:
        """Return the rows of one outer split, binned by its training rows."""
        again, fold = divmod(repeat, self.folds)
        divide, flip, choose, seed = (
            int(number) for number in np.random.SeedSequence([self.seed, again, fold]).generate_state(4)
        )
        divide = int(np.random.SeedSequence([self.seed, again]).generate_state(1)[0])  # the same for all its folds
        n_classes = len(data.classes)
        train, test = _splits(data.y, self.folds, divide, n_classes)[fold]
        y = flip_labels(data.y[train], self.noise, flip) if self.noise else data.y[train]
        categorical = list(data.categorical_features)
        raw = data.X[train], data.X[test]
        binned = Binned.fit(raw[0], categorical_features=categorical or None, n_jobs=1)
        inner = _splits(y, self.inner, choose, n_classes)
        return OuterSplit(
            LabelledRows(binned, y),
            LabelledRows(binned.like(raw[1]), data.y[test]),
            [
                (LabelledRows(binned.take(rows), y[rows]), LabelledRows(binned.take(others), y[others]))
                for rows, others in (inner[:1] if self.hold_out else inner)
            ],
            *(seed, test, raw, categorical, n_classes),
        )

    def warm(self, method: Method) -> None:
        """Let the kernels that a method needs be compiled or read before any clock runs."""
        X = np.random.default_rng(0).normal(size=(40, 3))
        n_classes = 0 if method.booster in REGRESSORS else 2
        part = LabelledRows(Binned.fit(X), np.arange(40) % 2 if n_classes else X[:, 0])
        for chosen in every_candidate(method):
            self._costs(method, chosen, part, part, rounds=3, seed=0, n_classes=n_classes)

    def run(self, parts: OuterSplit, method: Method) -> Outcome:
        """Choose by the inner parts, train on the whole training part, test."""
        if is_peer(method):
            return self._run_peer(parts, method)
        best: tuple[tuple[float, ...], int, dict[str, Any], Array] | None = None
        chosen = {name: values[0] for name, values in method.grid.items()}
        efforts, done = candidate_efforts(method), 0.0
        total = sum(efforts) * len(parts.inner) + max(efforts)
        for candidate, effort in zip(_candidates(method, chosen), efforts, strict=True):
            curves = []
            for a, b in parts.inner:
                steps = (done, effort, total)
                costs = self._costs(method, candidate, a, b, self.rounds, parts.seed, parts.n_classes, steps)
                curves.append(len(b.y) * costs)
                report(done := done + effort, total)
            curve = _added(curves) / sum(len(b.y) for _, b in parts.inner)
            # A booster that plans for its number of rounds would be another one with fewer.
            at = len(curve) - 1 if _plans(method, candidate) else int(curve.argmin())
            rank = preference(method, candidate, curve[at], at + 1)
            if best is None or rank < best[0]:
                best = (rank, at, dict(candidate), curve)
                chosen.update(candidate)
        assert best is not None
        _, at, found, curve = best
        cost = float(curve[at])
        limit = self.rounds if _plans(method, found) else at + 1
        model = make_model(method, found, limit, parts.seed)
        if self.hold_out:
            model.callbacks = [_teller((done, total - done, total), limit)]
        start = time.perf_counter()
        model.fit(parts.train.X, parts.train.y)
        seconds = time.perf_counter() - start
        extra = {"validation_cost": cost, "rounds": at + 1, "chosen": found, "stop": model.stop_reason_}
        return self._tested(parts, model, parts.test.X, seconds, extra | {"curve": [float(f"{c:.6g}") for c in curve]})

    def _run_peer(self, parts: OuterSplit, method: Method) -> Outcome:
        """Train a yardstick at its defaults, and test it."""
        model = build(method.name, parts.categorical, not parts.n_classes, parts.raw[0], parts.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a yardstick's own concerns
            start = time.perf_counter()
            fit_in_steps(model, parts.raw[0], parts.train.y)
            seconds = time.perf_counter() - start
            return self._tested(parts, model, parts.raw[1], seconds, {"chosen": {}})

    def _tested(self, parts: OuterSplit, model: Any, X: Any, seconds: float, extra: dict[str, Any]) -> Outcome:
        """Return what a fitted model is worth on the test rows, and its answers."""
        metric, y, k = METRICS[self.metric], parts.test.y, parts.n_classes
        answers = answers_of(model, X, k)
        fits = [one for one in METRICS.values() if (one.needs == "numbers") == (k == 0)]
        costs = {one.name: one.cost(y, answers[one.needs]) for one in fits}
        base = constant_answers(parts.train.y, k, len(y))
        kept = answers["numbers" if not k else "probabilities"][:KEPT].astype(np.float32)
        return Outcome(
            {
                **({"test_error": costs["error"]} if k else {}),
                "cost": costs[self.metric],
                "costs": costs,
                "baseline": metric.cost(y, base[metric.needs]),
                "z": evidence(metric, y, answers[metric.needs], base[metric.needs]),
                "seconds": seconds,
                **extra,
            },
            {"rows": parts.rows[:KEPT].astype(np.int32), "answers": kept},
        )

    def _costs(
        self,
        method: Method,
        chosen: dict[str, Any],
        train: LabelledRows,
        choose: LabelledRows,
        rounds: int,
        seed: int,
        n_classes: int,
        steps: tuple[float, float, float] | None = None,
    ) -> Array:
        """Return the cost on the rows to choose by after every round."""
        model = make_model(method, chosen, rounds, seed)
        if steps is not None and self.hold_out:  # a large table, on which a round takes long enough to be told of
            model.callbacks = [_teller(steps, rounds)]
        model.fit(train.X, train.y)
        if str(model.stop_reason_).startswith("interrupted"):
            raise KeyboardInterrupt  # the engine has answered Ctrl-C with a model of few rounds
        metric = METRICS[self.metric]
        costs = [metric.cost(choose.y, stage) for stage in _stages(model, choose.X, metric, n_classes)]
        return np.array(costs or [metric.cost(choose.y, answers_of(model, choose.X, n_classes)[metric.needs])])


def _teller(steps: tuple[float, float, float], rounds: int) -> Callable[[Any], None]:
    done, effort, total = steps

    def tell(state: Any) -> None:
        report(done + effort * state.t / rounds, total)

    return tell


# -- answers ----------------------------------------------------------------------------------------------------------


def _stages(model: Any, X: Any, metric: Metric, n_classes: int) -> Iterator[Array]:
    """Yield what the metric needs of a booster after every round."""
    if metric.needs in ("labels", "numbers"):
        yield from model.staged_predict(X)
    elif metric.needs == "scores" and n_classes == 2 and len(model.classes_) == 2:
        yield from model.staged_decision_function(X)
    else:
        for stage in model.staged_predict_proba(X):
            yield _ordered(_all_classes(stage, model.classes_, n_classes), metric)


def _ordered(p: Array, metric: Metric) -> Array:
    return p[:, 1] if metric.needs == "scores" and p.shape[1] == 2 else p


def answers_of(model: Any, X: Any, n_classes: int, named: bool = False) -> dict[str, Array]:
    """Return all that metrics may need of a fitted model; `named` if its classes are names and not numbers."""
    if not n_classes:
        return {"numbers": np.asarray(model.predict(X), float)}
    if named:
        p = np.asarray(model.predict_proba(X))
        return {"labels": p.argmax(axis=1), "probabilities": p, "scores": p[:, 1] if n_classes == 2 else p}
    p = _all_classes(model.predict_proba(X), model.classes_, n_classes)
    scores = p[:, 1] if n_classes == 2 else p
    if n_classes == 2 and len(model.classes_) == 2 and hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), float)  # probabilities of 1 would be ties
    return {"labels": np.asarray(model.predict(X)), "probabilities": p, "scores": scores}


def _all_classes(p: Array, classes: Array, n_classes: int) -> Array:
    """Return probabilities of all classes, 0 of those that a training part did not have."""
    if len(classes) == n_classes:
        return np.asarray(p)
    whole = np.zeros((len(p), n_classes))
    whole[:, classes] = p
    return whole


def constant_answers(y: Array, n_classes: int, n_rows: int) -> dict[str, Array]:
    """Return what a model would answer that knows the training targets and no column."""
    if not n_classes:
        return {"numbers": np.full(n_rows, y.mean())}
    shares = np.bincount(y, minlength=n_classes) / len(y)
    p = np.tile(shares, (n_rows, 1))
    scores = p[:, 1] if n_classes == 2 else p
    return {"labels": np.full(n_rows, shares.argmax()), "probabilities": p, "scores": scores}


def _splits(y: Array, parts: int, seed: int, n_classes: int) -> list[tuple[Array, Array]]:
    """Return a division, stratified by class: every part once as test rows, the others as training rows."""
    if not n_classes:
        return list(KFold(parts, shuffle=True, random_state=seed).split(y))
    with warnings.catch_warnings():  # a class of fewer rows than parts is in some of them only
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(StratifiedKFold(parts, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))


def _candidates(method: Method, chosen: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what is tried: the first values, then each parameter's others beside what is chosen by then."""
    yield dict(chosen)
    for name, values in method.grid.items():
        for value in values[1:]:
            yield {**chosen, name: value}


def every_candidate(method: Method) -> Iterator[dict[str, Any]]:
    """Yield a candidate for every value of every parameter."""
    yield from _candidates(method, {name: values[0] for name, values in method.grid.items()})


def candidate_efforts(method: Method) -> list[float]:
    """Return about how long every candidate takes, a stump being 1: how far a cell is, is read off it.

    Measured on two tables, trees of 8 leaves took 1.1 to 13 times as long as stumps and of 31 leaves 1.3 to 27 times,
    AdaBoost's most: it is a rough guess.  Candidates for another parameter come with trees that are not known yet: they
    count as the mean of all sizes.

    Examples
    --------
    >>> candidate_efforts(Method("", "", grid={"max_leaf_nodes": (2, 8, 16), "learning_rate": (0.1, 1.0)}))
    [1.0, 4.0, 6.0, 3.6666666666666665]
    """
    leaves = method.grid.get("max_leaf_nodes", (2,))
    sizes = [1.0 if n <= 2 else 2.0 + n / 4.0 for n in leaves]
    others = sum(len(values) - 1 for name, values in method.grid.items() if name != "max_leaf_nodes")
    return [*sizes, *[sum(sizes) / len(sizes)] * others]


def make_model(method: Method, chosen: dict[str, Any], rounds: int, seed: int, n_jobs: int | None = 1) -> Any:
    """Return a booster with chosen values that is not fitted."""
    # max_leaf_nodes=2 is a stump, which is what boosters take when nothing is said, and fastest by that name.
    named = {name: value for name, value in chosen.items() if (name, value) != ("max_leaf_nodes", 2)}
    params = {**method.params, **named, "n_estimators": rounds, "n_jobs": n_jobs, "random_state": seed}
    return (REGISTRY | REGRESSORS)[method.booster].cls(**params)


def _plans(method: Method, chosen: dict[str, Any]) -> bool:
    """Whether the rule depends on the number of rounds."""
    one, two = (make_model(method, chosen, rounds, 0)._rule() for rounds in (11, 12))
    return bool(one != two)


def _added(curves: list[Array]) -> Array:
    """Return the sum of curves; one that ended early stays where it was."""
    longest = max(map(len, curves))
    return np.sum([np.append(c, np.full(longest - len(c), c[-1])) for c in curves], axis=0)
