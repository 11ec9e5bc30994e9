"""The textbook's figures: splits, single learners, and what is read off one staged run."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, AdaBoostM1Classifier, DecisionTree
from boostlab.datasets import three_gaussians, twonorm
from boostlab.studies.plan import Method
from boostlab_reproductions.protocols.textbook import (
    PRUNED,
    STUMP,
    UNPRUNED,
    Errors,
    Margins,
    TrainingSets,
    learner,
    single,
    staged_margins,
)

FOUR = {"max_leaf_nodes": 4}


@dataclass(frozen=True, eq=False)
class Toy:
    X: np.ndarray
    y: np.ndarray
    hash: str = "toy"
    categorical_features: list = field(default_factory=list)
    test_rows: np.ndarray | None = None


@pytest.fixture(scope="module")
def clouds():
    return Toy(*three_gaussians(300, random_state=0))


@pytest.fixture(scope="module")
def two():
    return Toy(*twonorm(200, random_state=0))


def m1(tree):
    return Method("AdaBoost", "AdaBoostM1Classifier", {"learner": dict(tree)})


def test_two_thirds_train_and_the_others_test(clouds):
    train, test = Errors().rows(clouds, 0)
    assert (len(train), len(test)) == (200, 100)
    assert not set(train) & set(test)
    other, _ = Errors().rows(clouds, 1)
    assert set(train) != set(other)
    train, test = Errors(train=50, most_test=40).rows(clouds, 0)
    assert (len(train), len(test)) == (50, 40)


def test_an_official_split_is_kept(clouds):
    last = np.arange(300) >= 250
    data = Toy(clouds.X, clouds.y, test_rows=last)
    train, test = Margins(official=True, most_train=80).rows(data, 0)
    assert np.array_equal(test, np.flatnonzero(last))
    assert len(train) == 80
    assert train.max() < 250
    assert np.array_equal(Margins(official=True).rows(data, 3)[0], np.flatnonzero(~last))


def test_training_sets_differ_and_test_rows_do_not(clouds):
    protocol = TrainingSets(train=60)
    (first, test), (second, again) = (protocol.rows(clouds, r) for r in (0, 1))
    assert np.array_equal(test, again)
    assert len(test) == 150
    assert len(first) == len(second) == 60
    assert set(first) != set(second)
    assert not (set(first) | set(second)) & set(test)


def test_the_single_learner_is_the_first_voter(clouds):
    protocol = Errors(rounds=5)
    parts = protocol.parts(clouds, 0)
    found = protocol.run(parts, m1(FOUR)).numbers
    alone = AdaBoostM1Classifier(DecisionTree(4), n_estimators=1).fit(parts.X_train, parts.y_train)
    assert found["single_error"] == np.mean(alone.predict(parts.X_test) != parts.y_test)
    assert found["wrong"][0] == np.count_nonzero(alone.predict(parts.X_test) != parts.y_test)
    assert found["leaves"] == 4


def test_errors_are_those_of_separate_fits(clouds):
    protocol = Errors(rounds=8)
    parts = protocol.parts(clouds, 0)
    found = protocol.run(parts, m1(FOUR))
    for rounds in (3, 8):
        model = AdaBoostM1Classifier(DecisionTree(4), n_estimators=rounds).fit(parts.X_train, parts.y_train)
        assert found.numbers["wrong"][rounds - 1] == np.count_nonzero(model.predict(parts.X_test) != parts.y_test)
    assert found.numbers["test_error"] == found.numbers["wrong"][-1] / 100
    assert np.array_equal(found.arrays["predictions"], model.predict(parts.X_test))


def test_a_first_voter_without_an_edge_votes_alone():
    rng = np.random.default_rng(0)
    data = Toy(rng.normal(size=(120, 3)), np.arange(120) % 6)  # nothing to learn, and six classes
    protocol = Errors(rounds=5)
    parts = protocol.parts(data, 0)
    found = protocol.run(parts, m1(STUMP)).numbers
    assert found["rounds"] == 0
    assert found["stop"].startswith("no_edge")
    assert found["test_error"] == found["single_error"]


def test_pruned_trees_are_smaller(clouds):
    parts = Errors().parts(clouds, 0)
    pruned, unpruned = (single(m1(tree), parts).estimators_[0].estimator for tree in (PRUNED, UNPRUNED))
    assert 1 < pruned.get_n_leaves() < unpruned.get_n_leaves()
    assert learner(PRUNED, 200, 0).ccp_alpha == 2 / 200
    assert unpruned.min_samples_leaf == 2


def test_margins_at_some_rounds_are_those_of_separate_fits(clouds, two):
    marks = (2, 7)
    long = AdaBoostM1Classifier(DecisionTree(4), n_estimators=7).fit(clouds.X, clouds.y)
    for t, margins in staged_margins(long, clouds.X, clouds.y, marks):
        short = AdaBoostM1Classifier(DecisionTree(4), n_estimators=t).fit(clouds.X, clouds.y)
        assert margins == pytest.approx(short.margins(clouds.X, clouds.y))
    codes = (two.y == 1).astype(int)
    long = AdaBoostClassifier(n_estimators=7).fit(two.X, codes)
    seen = []
    for t, margins in staged_margins(long, two.X, codes, marks):
        short = AdaBoostClassifier(n_estimators=t).fit(two.X, codes)
        assert margins == pytest.approx(short.margins(two.X, codes))
        seen.append(t)
    assert seen == [2, 7]


def test_what_a_cell_of_margins_keeps(two):
    protocol = Margins(rounds=30, marks=(5, 30))
    parts = protocol.parts(two, 0)
    found = protocol.run(parts, Method("arc-gv", "ArcGVClassifier", {"learner": FOUR}))
    numbers = found.numbers
    assert numbers["marks"][0] == 5
    last = found.arrays[f"margins_{numbers['rounds']}"]
    assert numbers["minimum_margin"] == pytest.approx(last.min(), abs=1e-6)
    assert numbers["median_margin"] == pytest.approx(np.median(last), abs=1e-6)
    assert len(numbers["depths"]) == len(numbers["wrong"]) == numbers["rounds"]
    assert set(numbers["depths"]) <= {2, 3}  # four leaves
    assert (numbers["train_wrong"][-1] == 0) == (last.min() > 0)


def test_the_picture_is_made_in_the_first_repeat_only(clouds):
    protocol = Errors(train=100, rounds=3, grid=10)
    first, second = (protocol.run(protocol.parts(clouds, r), m1(UNPRUNED)).arrays for r in (0, 1))
    assert first["grid_boosted"].shape == (100,)
    assert first["grid_voters"].shape == (3, 100)
    assert set(np.unique(first["grid_voters"])) <= {0, 1, 2}
    assert "grid_boosted" not in second


def test_a_training_set_gives_predictions_and_the_truth(clouds):
    protocol = TrainingSets(train=60, rounds=5)
    parts = protocol.parts(clouds, 0)
    alone = Method("tree", "SAMMEClassifier", {"learner": FOUR}, how="single")
    for method in (alone, m1(FOUR)):
        found = protocol.run(parts, method)
        wrong = found.arrays["predictions"] != found.arrays["truth"]
        assert found.numbers["test_error"] == wrong.mean()
        assert found.numbers["rounds"] == (1 if method is alone else 5)
