"""Models among the tools of others: notebooks, metadata routing, partial_fit, Optuna and MLflow as recipes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boostlab import AdaBoostClassifier, L2BoostRegressor
from tables import noisy_table


def test_a_notebook_shows_a_picture_without_markup_of_the_table():
    X, y = noisy_table(60, seed=1)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"<script>{j}" for j in range(X.shape[1])])
    fresh, model = AdaBoostClassifier(n_estimators=4), AdaBoostClassifier(n_estimators=4).fit(frame, y)
    assert "rounds" not in fresh._repr_html_()
    for shown in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "4 rounds, 6 columns, 2 classes" in shown
        assert "<svg" in shown
        assert "&lt;script&gt;" in shown
        assert "<script>0" not in shown.split("4 rounds")[1]
    assert "4 rounds, 6 columns</b>" in L2BoostRegressor(n_estimators=4).fit(X, y)._repr_html_()


def test_partial_fit_is_refused_with_a_pointer():
    model = AdaBoostClassifier()
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="warm_start=True, for examples that come as a stream Filter"):
        model.partial_fit([[1]], [1])
    clone(model)


def test_sample_weights_are_routed():
    X, y = noisy_table(90, seed=2)
    weight = np.where(np.arange(90) % 3, 1.0, 5.0)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = (
            AdaBoostClassifier(n_estimators=3).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        )
        found = cross_validate(
            make_pipeline(StandardScaler().set_fit_request(sample_weight=False), inner),
            X,
            y,
            params={"sample_weight": weight},
            cv=2,
            return_estimator=True,
        )
        folds = found["estimator"]
    assert len(folds) == 2
    plain = cross_validate(AdaBoostClassifier(n_estimators=3), X, y, cv=2, return_estimator=True)["estimator"]
    routed = [f[-1].estimator_weights_ for f in folds]
    assert any(not np.array_equal(a, b.estimator_weights_) for a, b in zip(routed, plain, strict=True))


class Trial:
    """What Optuna's trial has of it: reports, and whether to prune."""

    def __init__(self, patience):
        self.reported, self.patience = [], patience

    def report(self, value, step):
        self.reported.append((step, value))

    def should_prune(self):
        return len(self.reported) >= self.patience


def test_the_recipes_of_the_page_run():
    """With stand-ins of a few lines for Optuna's trial and MLflow's run, which are no dependencies."""
    names = {}
    text = (Path(__file__).parents[2] / "docs" / "ecosystem.md").read_text(encoding="utf-8")
    for block in text.split("```python\n")[1:]:
        exec(block.split("```")[0], names)
    X, y = noisy_table(90, seed=2)
    trial = Trial(5)
    model = AdaBoostClassifier(n_estimators=20, callbacks=names["pruning"](trial)).fit(X, y)
    assert len(trial.reported) == 5 == model.n_estimators_
    assert model.stop_reason_ == "callback: the trial is not promising"
    logged = []

    class Log:
        @staticmethod
        def log_params(params):
            logged.append(("params", params["n_estimators"]))

        @staticmethod
        def log_metrics(metrics, step):
            logged.append((step, set(metrics)))

        @staticmethod
        def log_artifact(path):
            logged.append(("artifact", path.endswith(".boost")))

    names["log_model"](Log, model)
    assert logged[0] == ("params", 20)
    assert logged[1] == (0, {"alpha", "error", "objective"})
    assert logged[-1] == ("artifact", True)
