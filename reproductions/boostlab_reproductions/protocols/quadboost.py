"""The protocol of the QuadBoost paper: one pool of stumps a split, all parameters by cross-validation on its half.

Rounds are read off runs of the longest length.  AdaBoost takes up to a million, so on this pool the rounds of QuadBoost
and AdaBoost are compiled and keep coefficients only (`kernels/pool_search.py`); they are those of the boosters.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from math import inf
from time import thread_time
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from boostlab import LPBoostClassifier, VoterPool
from boostlab.backend.cpu.kernels.pool_search import exponential_path, residual_path
from boostlab.studies.plan import Definition, Method, Outcome, Procedure

Array = npt.NDArray[Any]
Path = Callable[[Array, Array, Mapping[str, Any], Array], tuple[Array, int]]

NEGLIGIBLE = 1e-12  # of the largest possible score (a tie), and of 1/2 (an error that is of no use)


# -- the rows --------------------------------------------------------------------------------------------------------


def n_train(n: int) -> int:
    """Return the number of training rows: half of all, and 500 of more than 1000.

    Parameters
    ----------
    n : int
        Number of rows.

    Examples
    --------
    >>> n_train(101), n_train(1000), n_train(1001)
    (51, 500, 500)
    """
    return -(-n // 2) if n <= 1000 else 500


def squashed(X: Array, train: Array) -> Array:
    """Return tanh((x - mean) / std) of every column, with mean and deviation of the training rows.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Without missing values.
    train : array of int
        The training rows.

    Examples
    --------
    >>> squashed(np.array([[0.0, 3.0], [2.0, 3.0], [9.0, 9.0]]), np.array([0, 1])).round(3).tolist()
    [[-0.762, 0.0], [0.762, 0.0], [1.0, 0.0]]
    """
    mean, std = X[train].mean(axis=0), X[train].std(axis=0)
    varies = std > 1e-12 * (1 + np.abs(mean))
    return np.where(varies, np.tanh((X - mean) / np.where(varies, std, 1.0)), 0.0)


def pool(X: Array, train: Array, stumps: int) -> Array:
    """Return the votes of evenly spaced stumps inside every column's training range, one column a stump.

    Of stumps that vote alike on all training rows, or always against each other, the first stands for all: the pool
    holds complements, and no rule could tell them apart.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Without missing values.
    train : array of int
        The training rows.
    stumps : int
        Number of thresholds a column.

    Examples
    --------
    >>> pool(np.array([[0.0], [1.0], [3.0]]), np.array([0, 1, 2]), 10).T.tolist()
    [[-1, 1, 1], [-1, -1, 1]]
    """
    low, high = X[train].min(axis=0), X[train].max(axis=0)
    share = np.arange(1, stumps + 1) / (stumps + 1)
    cuts = low[:, None] * (1 - share) + high[:, None] * share
    votes = np.where(X[:, :, None] > cuts, 1, -1).reshape(len(X), -1).astype(np.int8)
    votes = votes[:, varied(votes[train])]
    _, first = np.unique(votes[train] * votes[train[:1]], axis=1, return_index=True)
    return np.ascontiguousarray(votes[:, np.sort(first)])


def varied(votes: Array) -> Array:
    """Return which columns are not constant."""
    return np.asarray(votes.min(axis=0) != votes.max(axis=0))


def chance(salt: str, repeat: int, purpose: str) -> np.random.Generator:
    """Return a generator for one purpose in one repeat on one data set: the same for all methods."""
    return np.random.default_rng(np.random.SeedSequence(seed_words(salt, repeat, purpose)))


def seed_words(salt: str, repeat: int, purpose: str) -> tuple[int, ...]:
    """Return what the SeedSequence of such a generator is made of."""
    return int(salt[:16], 16), repeat, crc32(purpose.encode())


@dataclass(frozen=True, eq=False)
class PoolParts:
    """What all methods share in one split.

    Parameters
    ----------
    votes, y : arrays
        The pool's votes on the training rows and their labels, -1 and +1.
    fold : array of int
        In which fold every training row is held out.
    test_votes, test_y : arrays
        The same of the test rows.
    train, test : arrays of int
        Which rows these are.
    """

    votes: Array
    y: Array
    fold: Array
    test_votes: Array
    test_y: Array
    train: Array
    test: Array


@dataclass(frozen=True)
class PoolProtocol(Procedure):
    """Half of the rows trains and chooses, the rest tests.

    Parameters
    ----------
    stumps : int
        Thresholds a column.
    folds : int
        Of the cross-validation.
    version : int
        To be raised when the code below gives other results.
    """

    stumps: int = 10
    folds: int = 5
    version: int = 1

    def definition(self) -> Definition:
        """Return all that may change a result."""
        return {"name": "quadboost", **asdict(self)}

    def split_seed(self, data_hash: str, repeat: int) -> tuple[int, ...]:
        """Return the words of the SeedSequence that draws the split."""
        return seed_words(data_hash, repeat, "split")

    def parts(self, data: Any, repeat: int) -> PoolParts:
        """Split the rows and make the pool; nothing but the number of test rows is known of them."""
        _warm()
        rng, y = chance(data.hash, repeat, "split"), np.asarray(data.y, np.int8)
        while True:  # until there are two of each class to train on, or cross-validation could not be stratified
            order = rng.permutation(len(y))
            train, test = order[: n_train(len(y))], order[n_train(len(y)) :]
            if min((y[train] == 1).sum(), (y[train] == -1).sum()) > 1:
                break
        votes = pool(squashed(data.filled(train), train), train, self.stumps)
        fold = np.empty(len(train), int)
        splitter = StratifiedKFold(
            self.folds, shuffle=True, random_state=int(chance(data.hash, repeat, "folds").integers(2**31))
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds
            for k, (_, held) in enumerate(splitter.split(votes[train], y[train])):
                fold[held] = k
        return PoolParts(votes[train], y[train], fold, votes[test], y[test], train, test)

    def run(self, parts: PoolParts, method: Method) -> Outcome:
        """Choose by cross-validation, train on all training rows, test.

        Of equals the one with the fewest rounds is chosen, then the first of the grid.
        """
        start = thread_time()
        path, marks, settings = PATHS[method.how], _marks(method), _settings(method)
        mistakes = np.zeros((len(settings), len(marks)), int)
        for k in range(self.folds):
            fit, held = parts.fold != k, parts.fold == k
            votes, columns = _part(parts.votes[fit])
            for s, setting in enumerate(settings):
                a, _ = path(votes, parts.y[fit], setting, marks)
                F = scores(parts.votes[held][:, columns], a)
                mistakes[s] += (_signs(F) != parts.y[held]).sum(axis=1)
        t, s = divmod(int(mistakes.T.argmin()), len(settings))
        votes, columns = _part(parts.votes)
        a, made = path(votes, parts.y, settings[s], marks[: t + 1])
        seconds = thread_time() - start
        said = _signs(scores(parts.test_votes[:, columns], a[-1:]))[0]
        wrong = int((said != parts.test_y).sum())
        numbers = {
            "test_error": wrong / len(said),
            "wrong": wrong,
            "n_train": len(parts.y),
            "n_test": len(said),
            "validation_error": float(mistakes[s, t]) / len(parts.y),
            "mistakes": mistakes.tolist(),
            "chosen": {name: {**settings[s], "n_estimators": int(marks[t])}[name] for name in method.grid},
            "rounds": made,
            "voters": int(np.count_nonzero(a[-1])),
            "pool": votes.shape[1],
            "stop": "max_rounds" if made >= marks[t] else "by itself",
            "seconds": seconds,
        }
        arrays = {"predictions": (said > 0).astype(np.int8), "truth": (parts.test_y > 0).astype(np.int8)}
        return Outcome(numbers, arrays)


def scores(votes: Array, a: Array) -> Array:
    """Return the scores for every row of coefficients, ties made exact."""
    F = a @ votes.T.astype(np.float64)
    return np.where(np.abs(F) <= NEGLIGIBLE * np.abs(a).sum(axis=1, keepdims=True), 0.0, F)


def _signs(F: Array) -> Array:
    return np.where(F > 0, 1, -1)


def _part(votes: Array) -> tuple[Array, Array]:
    """Return the voters that are not constant on these rows, and which they are."""
    columns = np.flatnonzero(varied(votes))
    return votes[:, columns], columns


def _settings(method: Method) -> list[dict[str, Any]]:
    """Return all that is to be tried, but for the rounds."""
    names = [name for name in method.grid if name != "n_estimators"]
    tried = product(*(method.grid[name] for name in names))
    return [{**dict(method.params), **dict(zip(names, values, strict=True))} for values in tried]


def _marks(method: Method) -> Array:
    return np.array(sorted(method.grid.get("n_estimators", [method.params.get("n_estimators", 1000)])), np.int64)


# -- the runs --------------------------------------------------------------------------------------------------------


def quadratic(votes: Array, y: Array, setting: Mapping[str, Any], marks: Array) -> tuple[Array, int]:
    """Run QuadBoost and return the coefficients after the marked numbers of rounds, and how many it took.

    Parameters
    ----------
    votes : int8 array of shape (n_rows, n_voters)
        What the pool says.
    y : array
        Labels, -1 and +1.
    setting : mapping
        `regularizer` and `strength`, as for `QuadBoostClassifier`.
    marks : array of int
        Increasing numbers of rounds.
    """
    form, lam = setting.get("regularizer"), float(setting.get("strength", 0.0))
    H = votes.astype(np.float32)
    gram = (H.T @ H).astype(np.float64) / len(y)  # exact: whole numbers
    mu = (H.T @ y.astype(np.float32)).astype(np.float64) / len(y)
    out = np.zeros((len(marks), len(mu)))
    penalty, tol = (lam, 1e-6) if form == "l1" else (0.0, 1e-12)
    shrinkage, cap = 1 / (1 + lam) if form == "l2" else 1.0, lam if form == "linf" else inf
    return out, int(residual_path(mu, gram, penalty, shrinkage, cap, tol, marks, out))


def exponential(votes: Array, y: Array, setting: Mapping[str, Any], marks: Array) -> tuple[Array, int]:
    """Run AdaBoost; parameters and returns as for `quadratic`."""
    by_voter = np.ascontiguousarray((votes * y[:, None]).T.astype(np.int8))
    out = np.zeros((len(marks), len(by_voter)))
    return out, int(exponential_path(by_voter.T.astype(np.float32, order="C"), by_voter, NEGLIGIBLE, marks, out))


def program(votes: Array, y: Array, setting: Mapping[str, Any], marks: Array) -> tuple[Array, int]:
    """Solve LPBoost's program by the booster itself; parameters and returns as for `quadratic`, with one mark."""
    model = LPBoostClassifier(VoterPool(stumps_per_feature=1), C=setting["C"], n_estimators=int(marks[-1]), n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(votes.astype(np.float64), y)
    if model.stop_reason_.startswith("solver_failed"):
        raise ArithmeticError(f"C={setting['C']:g}: {model.stop_reason_}")
    out = np.zeros((1, votes.shape[1]))
    for voter, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
        out[0, voter.member.feature] += voter.sign * alpha
    return out, int(model.n_estimators_)


PATHS: dict[str, Path] = {"quadratic": quadratic, "exponential": exponential, "program": program}


@cache
def _warm() -> None:
    """Let a process compile and import what it needs before the clock runs."""
    votes, y = np.array([[1, 1], [1, -1], [-1, 1], [1, -1]], np.int8), np.array([1, 1, -1, -1], np.int8)
    quadratic(votes, y, {}, np.array([2]))
    exponential(votes, y, {}, np.array([2]))
    program(votes, y, {"C": 1.0}, np.array([2]))
