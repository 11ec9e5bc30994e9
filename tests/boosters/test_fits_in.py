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

import boostlab
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


@pytest.fixture(scope="module")
def recipes():
    """What the page defines."""
    names = {}
    text = (Path(__file__).parents[2] / "docs" / "ecosystem.md").read_text(encoding="utf-8")
    for block in text.split("\n```python\n")[1:]:
        code = block.split("```")[0]
        if "import optuna" not in code:
            exec(code, names)
    return names


def test_optuna_prunes_trials_by_the_recipe(recipes):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    X, y = noisy_table(200, seed=2)

    def objective(trial):
        # Later trials are worse from the first round on, so that the median prunes them.
        wrong = y[:100] if trial.number < 3 else 1 - y[:100]
        model = AdaBoostClassifier(n_estimators=12, callbacks=recipes["pruning"](trial))
        model.fit(X[:100], wrong, X_val=X[100:], y_val=y[100:])
        rounds.append((model.n_estimators_, model.stop_reason_))
        if trial.should_prune():
            raise optuna.TrialPruned
        return float(model.history_["validation_score"].min())

    rounds = []
    study = optuna.create_study(pruner=optuna.pruners.MedianPruner(n_startup_trials=3, n_warmup_steps=4))
    study.optimize(objective, n_trials=5)
    assert [t.state.name for t in study.trials] == ["COMPLETE"] * 3 + ["PRUNED"] * 2
    assert rounds[0][0] == 12
    assert rounds[3] == (4, "callback: the trial is not promising")
    assert len(study.trials[3].intermediate_values) == 4


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_mlflow_logs_every_fit_by_the_recipe(recipes, tmp_path):
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")  # where MLflow keeps runs
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    mlflow.create_experiment("boosters", artifact_location=(tmp_path / "files").as_uri())
    mlflow.set_experiment("boosters")
    X, y = noisy_table(90, seed=2)
    stop = recipes["autolog"](mlflow)
    try:
        model = AdaBoostClassifier(n_estimators=4, monotone={0: 1}).fit(X, y)
    finally:
        stop()
    AdaBoostClassifier(n_estimators=4).fit(X, y)
    (run,) = mlflow.MlflowClient().search_runs([mlflow.get_experiment_by_name("boosters").experiment_id])
    assert run.data.params["n_estimators"] == "4"
    assert run.data.params["monotone"] == "{0: 1}"
    assert run.data.metrics["alpha"] == model.estimator_weights_[-1]
    (file,) = (tmp_path / "files").rglob("model.boost")
    assert np.array_equal(boostlab.load(file).decision_function(X), model.decision_function(X))
