"""The protocol of the AR-Boost paper: up to 100 rounds, parameters by cross-validation on the training part."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, field
from itertools import product
from time import thread_time
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold, train_test_split

from boostlab import Binned, DecisionStump, DecisionTree
from boostlab.boosters import REGISTRY
from boostlab.datasets import chi2_spheres
from boostlab.studies.plan import Definition, Method, Outcome, Procedure
from boostlab_reproductions.protocols.quadboost import chance, seed_words

Array = npt.NDArray[Any]

CART: dict[str, Any] = {
    "max_leaf_nodes": None,
    "min_samples_split": 10,
}  # as in MATLAB: parents of ten examples at least
LEARNERS: dict[str, dict[str, Any]] = {"stumps": {}, "depth3": {"max_leaf_nodes": None, "max_depth": 3}, "cart": CART}


@dataclass(frozen=True, eq=False)
class TunedParts:
    """What all methods share in one repeat.

    Parameters
    ----------
    X, y : Binned and array
        The training rows and their labels, noise planted.
    fold : array of int
        In which fold a training row is held out.
    tuned : array of bool
        Which training rows take part in tuning a booster.
    X_test, y_test : Binned and array
        The test rows.
    clean : array
        The training labels without noise; they are not trained on.
    seed : int
        For whatever draws.
    train, test : arrays of int
        Which rows these are.
    known : dict
        Mistakes on held-out rows, by booster, parameters and fold: AdaBoost is one of the candidates of eps-boost.
    """

    X: Binned
    y: Array
    fold: Array
    tuned: Array
    X_test: Binned
    y_test: Array
    clean: Array
    seed: int
    train: Array
    test: Array
    known: dict[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class TunedProtocol(Procedure):
    """Tune on the training part, test on the rest.

    Parameters
    ----------
    learner : {"stumps", "depth3", "cart"}
        The weak learner.
    sizes : tuple of (int, int)
        How many rows train, by the number of rows of the data set; an official split goes before.
    noise : float
        The probability with which a training label is flipped.
    rounds, folds : int
        Of boosting, and of cross-validation.
    most_tuned : int
        The largest number of training rows that take part in a booster's cross-validation.
    version : int
        To be raised when the code below gives other results.
    """

    learner: str
    sizes: tuple[tuple[int, int], ...]
    noise: float = 0.0
    rounds: int = 100
    folds: int = 5
    most_tuned: int = 2000
    version: int = 1

    def definition(self) -> Definition:
        """Return all that may change a result."""
        return {"name": "arboost", **asdict(self)}

    def rows(self, data: Any, repeat: int) -> tuple[Array, Array]:
        """Return the training and the test rows: the official ones, or a stratified draw."""
        if data.test_rows is not None:
            return np.flatnonzero(~data.test_rows), np.flatnonzero(data.test_rows)
        n = len(data.y)
        size = dict(self.sizes)[n]
        seed = int(chance(data.hash, repeat, "split").integers(2**31))
        train, test = train_test_split(np.arange(n), train_size=size, stratify=data.y, random_state=seed)
        return np.sort(train), np.sort(test)

    def split_seed(self, data_hash: str, repeat: int) -> tuple[int, ...]:
        """Return the words of the SeedSequence that draws the split."""
        return seed_words(data_hash, repeat, "split")

    def parts(self, data: Any, repeat: int) -> TunedParts:
        """Split and bin the rows and plant the noise, in training labels only."""
        train, test = self.rows(data, repeat)
        clean = np.asarray(data.y)[train]
        flips = chance(data.hash, repeat, "noise").random(len(train)) < self.noise
        if self.noise and len(data.classes) > 2:
            raise ValueError("Labels are flipped to the opposite class, so noise is for two classes.")
        y = np.where(flips, -clean, clean)
        words = list(data.categorical_features)
        X = Binned.fit(data.X[train], categorical_features=words or "from_dtype", n_jobs=1)
        fold, tuned = self._folds(y, int(chance(data.hash, repeat, "folds").integers(2**31)))
        seed = int(chance(data.hash, repeat, "models").integers(2**31))
        return TunedParts(X, y, fold, tuned, X.like(data.X[test]), np.asarray(data.y)[test], clean, seed, train, test)

    def _folds(self, y: Array, seed: int) -> tuple[Array, Array]:
        """Return the fold of every row, and which rows tune boosters: all, or as many as allowed, stratified."""
        fold, tuned = np.empty(len(y), int), np.ones(len(y), bool)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds
            splitter = StratifiedKFold(self.folds, shuffle=True, random_state=seed)
            for k, (_, held) in enumerate(splitter.split(y, y)):
                fold[held] = k
        if len(y) > self.most_tuned:
            left_out = len(y) - self.most_tuned
            tuned[train_test_split(np.arange(len(y)), test_size=left_out, stratify=y, random_state=seed)[1]] = False
        return fold, tuned

    def run(self, parts: TunedParts, method: Method) -> Outcome:
        """Choose by cross-validation (of equals the first), train, test.

        `test_error` is that of the whole run; for `early_error` cross-validation has chosen the rounds as well.
        """
        start = thread_time()
        grid = [dict(zip(method.grid, values, strict=True)) for values in product(*method.grid.values())]
        wrong = self._tuned(parts, method, grid)
        best = int(wrong[:, -1].argmin())
        model = self._fitted(parts, method, grid[best], parts.X, parts.y)
        seconds = thread_time() - start
        curve, said = _stages(model, parts.X_test, parts.y_test, wrong.shape[1], _majority(method, parts.y))
        t, early = divmod(int(wrong.T.argmin()), len(grid))
        early_curve = curve
        if early != best:
            other = self._fitted(parts, method, grid[early], parts.X, parts.y)
            early_curve = _stages(other, parts.X_test, parts.y_test, wrong.shape[1], _majority(method, parts.y))[0]
        n, tuned = len(parts.y_test), len(parts.y) if method.how == "tree" else int(parts.tuned.sum())
        numbers = {
            "test_error": int(curve[-1]) / n,
            "early_error": int(early_curve[t]) / n,
            "validation_error": int(wrong[best, -1]) / tuned,
            "early_validation_error": int(wrong[early, t]) / tuned,
            "n_train": len(parts.y),
            "n_test": n,
            "rounds": int(model.n_estimators_),
            "early_rounds": t + 1,
            "chosen": grid[best],
            "early_chosen": grid[early],
            "validation_wrong": wrong[:, -1].tolist(),
            "curve": curve.tolist(),
            "stop": str(model.stop_reason_).split(":")[0],
            "seconds": seconds,
        }
        if "complements" in model.history_ and len(model.history_["complements"]):
            numbers["complements"] = float(model.history_["complements"][-1])
        return Outcome(numbers, {"predictions": np.searchsorted(model.classes_, said).astype(np.int8)})

    def _tuned(self, parts: TunedParts, method: Method, grid: list[dict[str, Any]]) -> Array:
        """Return the mistakes on held-out rows after every round, one row a candidate; labels are as noisy there."""
        if method.how == "tree":
            return self._tuned_tree(parts, method, np.array([setting["ccp_alpha"] for setting in grid]))
        wrong = np.zeros((len(grid), self.rounds), int)
        for k in range(self.folds):
            held_out = parts.fold == k
            fit, held = np.flatnonzero(~held_out & parts.tuned), np.flatnonzero(held_out & parts.tuned)
            X, y, X_held, y_held = parts.X.take(fit), parts.y[fit], parts.X.take(held), parts.y[held]
            for i, setting in enumerate(grid):
                what = f"{method.booster} {sorted({**method.params, **setting}.items())} {k}"
                if what not in parts.known:
                    model = self._fitted(parts, method, setting, X, y)
                    parts.known[what] = _stages(model, X_held, y_held, self.rounds)[0]
                wrong[i] += parts.known[what]
        return wrong

    def _tuned_tree(self, parts: TunedParts, method: Method, ccp_alphas: Array) -> Array:
        """Return the same of single trees: one is grown a fold, on all its rows, and pruned at every price of a leaf.

        All rows take part because the price depends on their number, and one tree is soon grown.
        """
        wrong = np.zeros((len(ccp_alphas), 1), int)
        for k in range(self.folds):
            fit, held = np.flatnonzero(parts.fold != k), np.flatnonzero(parts.fold == k)
            X_held, y, y_held = parts.X.take(held), parts.y[fit], parts.y[held]
            model = self._fitted(parts, method, {"ccp_alpha": 0.0}, parts.X.take(fit), y)
            said = np.full((len(ccp_alphas), len(held)), _majority(method, y))
            if model.n_estimators_:
                tree = model.estimators_[0]
                kept = ccp_alphas < tree.prices()[0]
                said[kept] = model.classes_[tree.pruned_votes(X_held.table, ccp_alphas[kept])]
            wrong[:, 0] += (said != y_held).sum(axis=1)
        return wrong

    def _fitted(self, parts: TunedParts, method: Method, setting: dict[str, Any], X: Binned, y: Array) -> Any:
        settings = {**method.params, **setting}
        limits = dict(LEARNERS[self.learner])
        if method.how == "tree":  # one round of SAMME keeps any tree that is better than a guess
            weak: Any = DecisionTree(**CART, ccp_alpha=settings.pop("ccp_alpha", 0.0))
            model = REGISTRY["SAMMEClassifier"].cls(weak, n_estimators=1, n_jobs=1, **settings)
        else:
            weak = DecisionTree(**limits) if limits else DecisionStump()
            model = REGISTRY[method.booster].cls(
                weak, n_estimators=self.rounds, n_jobs=1, random_state=parts.seed, **settings
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # why training ended is kept
            return model.fit(X, y)


def _majority(method: Method, y: Array) -> Any:
    """Return the most frequent label where the method is a tree."""
    labels, counts = np.unique(y, return_counts=True)
    return labels[counts.argmax()] if method.how == "tree" else None


def _stages(model: Any, X: Any, y: Array, length: int, majority: Any = None) -> tuple[Array, Array]:
    """Return the number of wrong rows after every round (where it ended early, those of the end), and the last labels.

    A model that kept no voter predicts its first class; a tree that is pruned to its root is such a model, and predicts
    `majority` instead.
    """
    wrong, said = [], np.full(len(y), model.classes_[0] if majority is None else majority)
    for said in model.staged_predict(X):
        wrong.append(int(np.count_nonzero(said != y)))
    if not wrong:
        wrong = [int(np.count_nonzero(said != y))]
    return np.array(wrong + [wrong[-1]] * (length - len(wrong))), said


# -- the simulation --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Spheres:
    """A sample of the simulation, further rows to stop by, and rows to test by."""

    X: Array
    y: Array
    X_val: Array
    y_val: Array
    X_test: Array
    y_test: Array
    seed: int


@dataclass(frozen=True)
class SphereProtocol(Procedure):
    """Train on `n_train` rows of the data and follow the rounds on the others.

    Parameters
    ----------
    n_train, rounds : int
        Rows and rounds.
    version : int
        To be raised when the code below gives other results.
    """

    n_train: int = 2000
    rounds: int = 200
    version: int = 1

    def definition(self) -> Definition:
        """Return all that may change a result."""
        return {"name": "spheres", **asdict(self)}

    def split_seed(self, data_hash: str, repeat: int) -> tuple[int, ...]:
        """Return the words of the SeedSequence that draws the split."""
        return seed_words(data_hash, repeat, "split")

    def parts(self, data: Any, repeat: int) -> Spheres:
        """Split the rows; as many as train are drawn anew to choose the rounds by."""
        order = chance(data.hash, repeat, "split").permutation(len(data.y))
        train, test = order[: self.n_train], order[self.n_train :]
        seed = int(chance(data.hash, repeat, "models").integers(2**31))
        X_val, y_val = chi2_spheres(self.n_train, random_state=seed)
        return Spheres(
            data.X[train], data.y[train], X_val, np.where(y_val > 0, 1, -1), data.X[test], data.y[test], seed
        )

    def run(self, parts: Spheres, method: Method) -> Outcome:
        """Train once and follow errors and coefficients; method.how names which sides of a stump may vote +1."""
        settings: dict[str, Any] = {"estimator": DecisionStump()}
        if method.how == "drawn":
            settings = {"estimator": DecisionStump(polarity="+"), "resample": True, "max_restarts": 0}
        start = thread_time()
        model = REGISTRY[method.booster].cls(
            n_estimators=self.rounds, n_jobs=1, random_state=parts.seed, **settings, **method.params
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(parts.X, parts.y)
        seconds = thread_time() - start
        curves = {
            name: _stages(model, X, y, self.rounds)[0]
            for name, X, y in (
                ("train", parts.X, parts.y),
                ("validation", parts.X_val, parts.y_val),
                ("test", parts.X_test, parts.y_test),
            )
        }
        best = int(curves["validation"].argmin())
        errors = np.asarray(model.history_.get("error", []), float)
        complements = model.history_.get("complements", [0.0])
        return Outcome(
            {
                "test_error": int(curves["test"][-1]) / len(parts.y_test),
                "early_error": int(curves["test"][best]) / len(parts.y_test),
                "first_error": int(curves["test"][0]) / len(parts.y_test),
                "early_rounds": best + 1,
                "rounds": int(model.n_estimators_),
                "stop": str(model.stop_reason_).split(":")[0],
                "above_one_half": int((errors >= 0.5).sum()),
                "complements": float(complements[-1]) if len(complements) else 0.0,
                "errors": np.round(errors, 4).tolist(),
                "alphas": np.round(model.history_["alpha"], 4).tolist(),
                "curve": curves["test"].tolist(),
                "train_curve": curves["train"].tolist(),
                "seconds": seconds,
            }
        )
