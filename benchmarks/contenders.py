"""Who is measured: boostlab and its peers, all with their binning, all on the same number of threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Contender:
    """A booster of `rounds` trees with `leaves` leaves."""

    leaves: int
    rounds: int
    threads: int
    model: Any = None

    def prepare(self, X: Any) -> Any:
        """Return the table in the form that will be fitted; not measured."""
        return X

    def fit(self, X: Any, y: Any) -> None:
        raise NotImplementedError

    def predict(self, X: Any) -> Any:
        """Return the scores, the cheapest thing to ask for."""
        return self.model.decision_function(X)

    def probabilities(self, X: Any) -> Any:
        """Return the classes' probabilities."""
        return self.model.predict_proba(X)


def dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


class Boostlab(Contender):
    def fit(self, X: Any, y: Any) -> None:
        from boostlab import AdaBoostClassifier

        leaves = None if self.leaves == 2 else self.leaves
        self.model = AdaBoostClassifier(max_leaf_nodes=leaves, n_estimators=self.rounds, n_jobs=self.threads)
        self.model.fit(X, y)


class BoostlabDense(Boostlab):
    def prepare(self, X: Any) -> Any:
        return dense(X)


class LightGBM(Contender):
    def fit(self, X: Any, y: Any) -> None:
        import lightgbm

        self.model = lightgbm.LGBMClassifier(
            n_estimators=self.rounds, num_leaves=self.leaves, n_jobs=self.threads, verbose=-1
        )
        self.model.fit(X, y)

    def predict(self, X: Any) -> Any:
        return self.model.predict(X, raw_score=True)


class XGBoost(Contender):
    """With a QuantileDMatrix, its fastest input."""

    def fit(self, X: Any, y: Any) -> None:
        import xgboost

        data = xgboost.QuantileDMatrix(X, y, nthread=self.threads)
        params: dict[str, Any] = dict(tree_method="hist", objective="binary:logistic", nthread=self.threads)
        classes = int(y.max()) + 1
        if classes > 2:
            params.update(objective="multi:softprob", num_class=classes)
        if self.leaves == 2:
            params.update(max_depth=1)
        else:
            params.update(max_depth=0, max_leaves=self.leaves, grow_policy="lossguide")
        self.model = xgboost.train(params, data, self.rounds)

    def predict(self, X: Any) -> Any:
        return self.model.inplace_predict(X, predict_type="margin")

    def probabilities(self, X: Any) -> Any:
        return self.model.inplace_predict(X)


class HistGradientBoosting(Contender):
    """Dense tables only; its threads are OpenMP's, which the environment sets."""

    def prepare(self, X: Any) -> Any:
        return dense(X)

    def fit(self, X: Any, y: Any) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        self.model = HistGradientBoostingClassifier(
            max_iter=self.rounds, max_leaf_nodes=self.leaves, early_stopping=False
        )
        self.model.fit(X, y)


class SklearnAdaBoost(Contender):
    def fit(self, X: Any, y: Any) -> None:
        from sklearn.ensemble import AdaBoostClassifier
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(max_leaf_nodes=self.leaves)
        self.model = AdaBoostClassifier(tree, n_estimators=self.rounds)
        self.model.fit(X, y)


OURS: dict[str, type[Contender]] = {"boostlab": Boostlab, "boostlab, dense": BoostlabDense}
PEERS: dict[str, type[Contender]] = {
    "LightGBM": LightGBM,
    "XGBoost": XGBoost,
    "HistGradientBoosting": HistGradientBoosting,
    "scikit-learn AdaBoost": SklearnAdaBoost,
}
CONTENDERS = {**OURS, **PEERS}
