"""The textbook's figures 2.5 to 2.8, and bias and variance: single learners against boosted ones."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier

from boostlab import DecisionTree
from boostlab.boosters import REGISTRY
from boostlab.studies.plan import Definition, Method, Outcome, Procedure
from boostlab_reproductions.protocols.chance import chance, seed_word

Array = npt.NDArray[Any]

STUMP: Mapping[str, Any] = {"max_leaf_nodes": 2}
UNPRUNED: Mapping[str, Any] = {"cart": True, "min_samples_leaf": 2}  # two cases a leaf, as C4.5 has it
PRUNED: Mapping[str, Any] = {**UNPRUNED, "errors_a_leaf": 1.0}


@dataclass(frozen=True, eq=False)
class HoldoutParts:
    """One repeat: what is trained on, what is tested on; labels are class numbers."""

    X_train: Any
    y_train: Array
    X_test: Any
    y_test: Array
    categorical: Sequence[int]
    seed: int
    repeat: int


@dataclass(frozen=True)
class _Holdout(Procedure):
    """Random training and test rows.

    Parameters
    ----------
    train : float or int
        Share of the rows to train on, or how many.
    most_train, most_test : int, optional
        At most so many rows of each; the others are left out.
    official : bool
        Use the data set's own split where it has one; repeats then differ only in the rows that are left out.
    same_test : bool
        All repeats have the same test rows (what the training rows are drawn from is the pool of the others).
    version : int
        To be raised by hand when the procedure changes.
    """

    procedure: ClassVar[str]  # part of a cell's key: it outlives the name of the class
    train: float | int = 2 / 3
    most_train: int | None = None
    most_test: int | None = None
    official: bool = False
    same_test: bool = False
    version: int = 1

    def definition(self) -> Definition:
        """Return the settings, and which procedure it is."""
        return {"protocol": self.procedure, **asdict(self)}

    def split_seed(self, data_hash: str, repeat: int) -> tuple[int, ...]:
        """Return the words of the SeedSequence that draws the split."""
        return (seed_word(data_hash, repeat, "training rows" if self.same_test else "split"),)

    def parts(self, data: Any, repeat: int) -> HoldoutParts:
        """Split the rows."""
        train, test = self.rows(data, repeat)
        codes = np.unique(data.y, return_inverse=True)[1]
        seed = int(chance(data.hash, repeat, "models").integers(2**31))
        return HoldoutParts(
            data.X[train], codes[train], data.X[test], codes[test], list(data.categorical_features), seed, repeat
        )

    def rows(self, data: Any, repeat: int) -> tuple[Array, Array]:
        """Return the training and the test rows, which have none in common."""
        n = len(data.y)
        if self.official and data.test_rows is not None:
            pool, test = np.flatnonzero(~data.test_rows), np.flatnonzero(data.test_rows)
            train = chance(data.hash, repeat, "split").permutation(pool)
            return np.sort(train[: self.most_train]), test[: self.most_test]
        count = self.train if isinstance(self.train, int) else round(self.train * n)
        if self.same_test:
            order = chance(data.hash, 0, "test rows").permutation(n)
            n_test = min(n // 2, self.most_test or n)
            test, pool = order[:n_test], order[n_test:]
            train = chance(data.hash, repeat, "training rows").choice(pool, min(count, len(pool) // 2), replace=False)
        else:
            order = chance(data.hash, repeat, "split").permutation(n)
            train, test = order[:count][: self.most_train], order[count:][: self.most_test]
        return np.sort(train), np.sort(test)


def learner(params: Mapping[str, Any], n_train: int, seed: int) -> Any:
    """Return the tree that a method asks for.

    `cart` takes scikit-learn's tree, which grows large ones faster.  `errors_a_leaf` prunes: a split must save so many
    training errors a leaf.  A leaf with one error among many cases has a gini index of two errors' worth, so the price
    in CART's terms is twice as high.
    """
    tree = dict(params)
    price, cart = 2 * tree.pop("errors_a_leaf", 0.0) / n_train, tree.pop("cart", False)
    if cart:
        return DecisionTreeClassifier(**tree, ccp_alpha=price, random_state=seed)
    return DecisionTree(**tree, ccp_alpha=price)


def trained(method: Method, parts: HoldoutParts, rounds: int) -> Any:
    """Return a method's booster after some rounds of training."""
    params = dict(method.params)
    tree = learner(params.pop("learner"), len(parts.y_train), parts.seed)
    model = REGISTRY[method.booster].cls(
        estimator=tree, n_estimators=rounds, n_jobs=1, random_state=parts.seed, **_columns(parts), **params
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # why training ended is kept
        return model.fit(parts.X_train, parts.y_train)


def single(method: Method, parts: HoldoutParts) -> Any:
    """Return the base learner alone: one round of SAMME, which keeps every voter that is better than a guess."""
    tree = learner(method.params["learner"], len(parts.y_train), parts.seed)
    model = REGISTRY["SAMMEClassifier"].cls(
        estimator=tree, n_estimators=1, n_jobs=1, random_state=parts.seed, **_columns(parts)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(parts.X_train, parts.y_train)


def _columns(parts: HoldoutParts) -> dict[str, Any]:
    return {"categorical_features": parts.categorical} if len(parts.categorical) else {}


def _leaves(model: Any) -> float:
    """Return the mean number of leaves of a model's trees."""
    sizes = [v.get_n_leaves() if hasattr(v, "get_n_leaves") else v.n_leaves for v in map(_tree, model.estimators_)]
    return float(np.mean(sizes)) if sizes else 1.0


def _tree(voter: Any) -> Any:
    """Return the tree behind a voter."""
    return getattr(voter, "estimator", voter)


def _depth(tree: Any) -> int:
    return int(tree.get_depth() if hasattr(tree, "get_depth") else tree.depth)


def staged_wrong(model: Any, X: Any, y: Array) -> list[int]:
    """Return the number of wrong rows after every round, read off one pass."""
    return [int(np.count_nonzero(said != y)) for said in model.staged_predict(X)]


@dataclass(frozen=True)
class Errors(_Holdout):
    """Errors of a single base learner and of the booster, after every round.

    Where the booster refuses its very first voter (a weighted error of one half or more), the vote is that voter alone,
    as in the implementation that the textbook used (Weka's).

    Parameters
    ----------
    rounds : int
        Rounds of boosting.
    grid : int
        In the first repeat also predict on a grid of so many by so many points of the plane, for a picture.
    """

    procedure: ClassVar[str] = "Errors"
    rounds: int = 50
    grid: int = 0

    def run(self, parts: HoldoutParts, method: Method) -> Outcome:
        """Train the single learner and the boosted one; test both."""
        start = time.perf_counter()
        alone, boosted = single(method, parts), trained(method, parts, self.rounds)
        seconds = time.perf_counter() - start
        vote = boosted if boosted.n_estimators_ else alone
        said, n = vote.predict(parts.X_test), len(parts.y_test)
        numbers = {
            "test_error": float(np.mean(said != parts.y_test)),
            "single_error": float(np.mean(alone.predict(parts.X_test) != parts.y_test)),
            "train_error": float(np.mean(vote.predict(parts.X_train) != parts.y_train)),
            "wrong": staged_wrong(vote, parts.X_test, parts.y_test),
            "n_test": n,
            "rounds": boosted.n_estimators_,
            "stop": boosted.stop_reason_,
            "leaves": _leaves(alone),
            "seconds": round(seconds, 4),
        }
        arrays = {"predictions": said.astype(np.int8)}
        if self.grid and parts.repeat == 0:
            arrays |= self._borders(parts, alone, vote)
        return Outcome(numbers, arrays)

    def _borders(self, parts: HoldoutParts, alone: Any, vote: Any) -> dict[str, Array]:
        X = np.asarray(parts.X_train)
        low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
        x1, x2 = (np.linspace(low[j], high[j], self.grid) for j in (0, 1))
        points = np.stack(np.meshgrid(x1, x2), axis=-1).reshape(-1, 2)
        voters = [voter.predict(points) for voter in vote.estimators_]
        return {
            "grid_ends": np.array([low, high], np.float32),
            "grid_single": alone.predict(points).astype(np.int8),
            "grid_boosted": vote.predict(points).astype(np.int8),
            "grid_voters": np.array(voters).astype(np.int8),
            "shown": np.column_stack([X, parts.y_train])[:500].astype(np.float32),
        }


def staged_margins(model: Any, X: Any, y: Array, marks: Sequence[int]) -> Iterator[tuple[int, Array]]:
    """Yield the normalised margins after some of the rounds, in one pass: (round, margins)."""
    total = np.cumsum(np.abs(model.estimator_weights_))
    rows, wanted = np.arange(len(y)), set(marks)
    for t, F in enumerate(islice(model.staged_decision_function(X), max(wanted, default=0)), 1):
        if t not in wanted:
            continue
        if F.ndim == 1:
            yield t, np.where(y == 1, F, -F) / total[t - 1]
            continue
        others, K = F.copy(), F.shape[1]
        others[rows, y] = -np.inf  # the scores shown add up to zero, which stretches them
        yield t, (F[rows, y] - others.max(axis=1)) * ((K - 1) / K) / total[t - 1]


@dataclass(frozen=True)
class Margins(_Holdout):
    """Errors after every round, the training margins after some, and how deep the trees are.

    Parameters
    ----------
    rounds : int
        Rounds of boosting.
    marks : tuple of int
        After which rounds the margins are kept.
    """

    procedure: ClassVar[str] = "Margins"
    rounds: int = 1000
    marks: tuple[int, ...] = (5, 100, 1000)

    def run(self, parts: HoldoutParts, method: Method) -> Outcome:
        """Train once and read everything off the one run."""
        start = time.perf_counter()
        model = trained(method, parts, self.rounds)
        seconds = time.perf_counter() - start
        kept = model.n_estimators_
        marks = sorted({min(mark, kept) for mark in self.marks} - {0})
        margins = dict(staged_margins(model, parts.X_train, parts.y_train, marks))
        wrong = staged_wrong(model, parts.X_test, parts.y_test)
        train_wrong = staged_wrong(model, parts.X_train, parts.y_train)
        last = margins[marks[-1]] if marks else np.array([np.nan])
        numbers = {
            "test_error": wrong[-1] / len(parts.y_test) if wrong else float("nan"),
            "train_error": train_wrong[-1] / len(parts.y_train) if train_wrong else float("nan"),
            "wrong": wrong,
            "train_wrong": train_wrong,
            "n_test": len(parts.y_test),
            "n_train": len(parts.y_train),
            "minimum_margin": float(last.min()),
            "mean_margin": float(last.mean()),
            "median_margin": float(np.median(last)),
            "depths": [_depth(_tree(voter)) for voter in model.estimators_],
            "leaves": _leaves(model),
            "marks": marks,
            "rounds": kept,
            "stop": model.stop_reason_,
            "seconds": round(seconds, 4),
        }
        return Outcome(numbers, {f"margins_{t}": m.astype(np.float32) for t, m in margins.items()})


@dataclass(frozen=True)
class TrainingSets(_Holdout):
    """What a method predicts on the same test rows, trained on one of many training sets.

    Bias and variance are made of all repeats together (`boostlab.theory.kohavi_wolpert`).

    Parameters
    ----------
    rounds : int
        Rounds of boosting; a method that asks for one round (`how="single"`) is a single learner.
    """

    procedure: ClassVar[str] = "TrainingSets"
    train: float | int = 300
    most_test: int | None = 2000
    same_test: bool = True
    rounds: int = 50

    def run(self, parts: HoldoutParts, method: Method) -> Outcome:
        """Train on this repeat's rows and predict on the common ones."""
        start = time.perf_counter()
        model = single(method, parts) if method.how == "single" else trained(method, parts, self.rounds)
        if not model.n_estimators_:
            model = single(method, parts)
        seconds = time.perf_counter() - start
        said = model.predict(parts.X_test)
        numbers = {
            "test_error": float(np.mean(said != parts.y_test)),
            "rounds": model.n_estimators_,
            "stop": model.stop_reason_,
            "seconds": round(seconds, 4),
        }
        return Outcome(numbers, {"predictions": said.astype(np.int8), "truth": parts.y_test.astype(np.int8)})
