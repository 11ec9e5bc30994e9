"""From what a user passes as `estimator` to a learner, or to one clear sentence."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from boostlab import AdaBoostClassifier, EBBoostClassifier, LogitBoostClassifier
from boostlab.boosters.adaboost import AdaBoost, RealAdaBoost
from boostlab.boosters.adaboost_m2 import AdaBoostM2
from boostlab.boosters.ebboost import EBBoost
from boostlab.boosters.logitboost import LogitBoost
from boostlab.boosters.lpboost import LPBoost
from boostlab.boosters.quadboost import QuadBoost
from boostlab.boosters.vadaboost import VadaBoost
from boostlab.contract import Learner
from boostlab.learners import DecisionStump, VoterPool, as_learner
from boostlab.learners.adapter import EstimatorLearner

EBB = EBBoost(0.5)


def test_nothing_and_the_word_are_stumps():
    for given in (None, "stump"):
        learner = as_learner(given, AdaBoost(), "AdaBoostClassifier")
        assert isinstance(learner, DecisionStump)
        assert learner.polarity == "both"


@pytest.mark.parametrize("own", [DecisionStump("+"), VoterPool()])
def test_the_packages_own_learners_pass_through(own):
    assert as_learner(own, AdaBoost(), "AdaBoostClassifier") is own


def test_a_learner_from_elsewhere_passes_through():
    class Mine(Learner):
        def searches(self):
            return frozenset(["svp"])

    mine = Mine()
    assert as_learner(mine, EBB, "EBBoostClassifier") is mine


def test_scikit_learn_estimators_are_adapted():
    tree = DecisionTreeClassifier(max_depth=2)
    learner = as_learner(tree, AdaBoost(), "AdaBoostClassifier")
    assert isinstance(learner, EstimatorLearner)
    assert learner.estimator is tree
    assert isinstance(as_learner(DecisionTreeRegressor(), LogitBoost(), "LogitBoostClassifier"), EstimatorLearner)


@pytest.mark.parametrize(
    "strange", ["stumps", "trees", "", 3, DecisionTreeClassifier, DecisionStump, VoterPool, object()]
)
def test_what_is_no_learner_is_named(strange):
    with pytest.raises(ValueError, match=r"is not a weak learner; use None, \"stump\", \"tree\"") as raised:
        as_learner(strange, AdaBoost(), "AdaBoostClassifier")
    sentence = str(raised.value)
    assert sentence.startswith(f"estimator={strange!r} ")
    assert "scikit-learn estimator object" in sentence


@pytest.mark.parametrize(
    ("estimator", "rule", "booster", "parts"),
    [
        (
            LogisticRegression(),
            EBB,
            "EBBoostClassifier",
            ["EBBoostClassifier needs", "'svp'", "LogisticRegression offers only 'edge', ", "VadaBoostClassifier"],
        ),
        (
            VoterPool(),
            RealAdaBoost(),
            "AdaBoostClassifier",
            ["'z'", "VoterPool offers only 'coordinate', 'edge', 'least_squares', 'risk', 'svp'"],
        ),
        (DecisionStump("-"), EBB, "EBBoostClassifier", ["'svp'", "DecisionStump offers only 'edge'"]),
        (
            make_pipeline(StandardScaler(), LinearRegression()),
            RealAdaBoost(),
            "AdaBoostClassifier",
            ["'z'", "LinearRegression offers only 'edge', 'least_squares'; use a classifier in its place, or stumps"],
        ),
        (
            Ridge(),
            AdaBoostM2(),
            "AdaBoostM2Classifier",
            ["'hamming'", "Ridge offers only 'edge', 'least_squares'; use a classifier in its place"],
        ),
        (
            KNeighborsClassifier(),
            LogitBoost(),
            "LogitBoostClassifier",
            [
                "'least_squares'",
                "KNeighborsClassifier offers",
                "use a regressor, a classifier that takes sample_weight",
            ],
        ),
        (KMeans(), AdaBoost(), "AdaBoostClassifier", ["'edge'", "KMeans offers none"]),
    ],
    ids=lambda v: type(v).__name__,
)
def test_a_learner_that_cannot_serve_the_rule_is_refused(estimator, rule, booster, parts):
    with pytest.raises(ValueError, match="needs a weak learner that can search the criterion") as raised:
        as_learner(estimator, rule, booster)
    sentence = str(raised.value)
    assert sentence.startswith(booster)
    assert sentence.endswith(".")
    for part in parts:
        assert part in sentence


@pytest.mark.parametrize("estimator", [Ridge(), make_pipeline(StandardScaler(), Ridge())], ids=["plain", "pipeline"])
@pytest.mark.parametrize("rule", [AdaBoost(), VadaBoost()], ids=lambda r: type(r).__name__)
def test_a_regressor_is_refused_where_votes_must_be_labels(rule, estimator):
    with pytest.raises(ValueError, match="needs voters that say -1 or") as raised:
        as_learner(estimator, rule, "SomeClassifier")
    sentence = str(raised.value)
    assert sentence.startswith("SomeClassifier needs")
    assert "Ridge is a regressor; use a classifier in its place" in sentence
    for real in (QuadBoost(), LPBoost()):
        assert not as_learner(estimator, real, "SomeClassifier").labels
    assert as_learner(LogisticRegression(), rule, "SomeClassifier").labels


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (EBBoostClassifier(LogisticRegression()), "VadaBoostClassifier"),
        (AdaBoostClassifier(DecisionTreeClassifier), "is not a weak learner"),
        (AdaBoostClassifier("forest"), "estimator='forest' is not a weak learner"),
        (LogitBoostClassifier(KNeighborsClassifier()), "'least_squares'"),
        (AdaBoostClassifier(Ridge()), "is a regressor"),
    ],
)
def test_the_sentence_reaches_the_user_at_fit(model, match):
    with pytest.raises(ValueError, match=match):
        model.fit(np.arange(8.0)[:, None], [0, 1] * 4)
