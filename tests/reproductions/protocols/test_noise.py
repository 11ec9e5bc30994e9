"""The noise study plants noise where it says, and no test row has a say in any choice."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from boostlab import BrownBoostClassifier, RQPBoostClassifier
from boostlab.datasets import twonorm
from boostlab.studies.plan import Method
from boostlab_reproductions.protocols.noise import KINDS, Noise


@dataclass(frozen=True, eq=False)
class Toy:
    X: np.ndarray
    y: np.ndarray
    hash: str = "toy"
    categorical_features: list = field(default_factory=list)
    test_rows: None = None


@pytest.fixture(scope="module")
def toy():
    return Toy(*twonorm(240, random_state=0))


CHOSEN = Method("AdaBoost, rate chosen", "AdaBoostClassifier", {}, {"learning_rate": (1.0, 0.25)})


def truth(data, rows):
    return (data.y[rows] == 1).astype(int)


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_in_the_training_part_only(toy, kind):
    parts = Noise(5, 0.25, kind=kind).parts(toy, 0)
    assert np.array_equal(parts.y_test, truth(toy, parts.rows["test"]))
    train = np.concatenate([parts.rows["fit"], parts.rows["choose"]])
    noisy = np.concatenate([parts.y_fit, parts.y_choose])
    wrong = noisy != truth(toy, train)
    of = truth(toy, train) == 1 if kind == "class" else np.ones(len(train), bool)
    assert wrong.sum() == round(0.25 * of.sum())
    assert not wrong[~of].any()
    assert np.array_equal(parts.flipped, parts.y_fit != truth(toy, parts.rows["fit"]))
    assert (parts.y_choose != truth(toy, parts.rows["choose"])).any()  # what chooses has the noise too


def test_noise_by_margin_is_near_the_border(toy):
    parts = Noise(5, 0.2, kind="margin").parts(toy, 0)
    distance = np.abs(toy.X[parts.rows["fit"]].sum(axis=1))
    assert distance[parts.flipped].mean() < 0.9 * distance[~parts.flipped].mean()


def test_more_noise_flips_the_same_labels_and_some_more_in_the_same_rows(toy):
    few, many = (Noise(5, share).parts(toy, 3) for share in (0.1, 0.3))
    assert np.array_equal(few.rows["fit"], many.rows["fit"])
    assert (many.flipped | ~few.flipped).all()
    assert many.flipped.sum() > few.flipped.sum()


def test_all_methods_see_the_same(toy):
    protocol = Noise(5, 0.2)
    one, other = protocol.parts(toy, 1), protocol.parts(toy, 1)
    before = [one.X_fit.numbers.copy(), one.y_fit.copy(), one.y_choose.copy(), one.y_test.copy()]
    for booster in ("AdaBoostClassifier", "BrownBoostClassifier"):
        protocol.run(one, Method(booster, booster))
    after = [one.X_fit.numbers, one.y_fit, one.y_choose, one.y_test]
    again = [other.X_fit.numbers, other.y_fit, other.y_choose, other.y_test]
    for was, now, new in zip(before, after, again, strict=True):
        assert np.array_equal(was, now)
        assert np.array_equal(was, new)


def test_no_test_row_in_any_choice(toy):
    protocol = Noise(20, 0.2)
    test = protocol.parts(toy, 0).rows["test"]
    X, y = toy.X.copy(), toy.y.copy()
    X[test] = 1e6 * np.random.default_rng(0).normal(size=X[test].shape)
    y[test] = -y[test]
    ours, spoilt = (protocol.run(protocol.parts(data, 0), CHOSEN).numbers for data in (toy, replace(toy, X=X, y=y)))
    for name in ("chosen", "rounds", "validation_error", "learnt_noise", "stop"):
        assert ours[name] == spoilt[name]
    assert ours["test_error"] != spoilt["test_error"]


def test_what_is_made_to_end_answers_by_its_last_round(toy):
    protocol = Noise(30, 0.2)
    parts = protocol.parts(toy, 0)
    found = protocol.run(parts, Method("BrownBoost", "BrownBoostClassifier", {"target_error": 0.3}, how="last")).numbers
    model = BrownBoostClassifier(target_error=0.3, n_estimators=30).fit(toy.X[parts.rows["fit"]], parts.y_fit)
    assert found["rounds"] == model.n_estimators_
    assert found["test_error"] == np.mean(model.predict(toy.X[parts.rows["test"]]) != parts.y_test)
    wrong = parts.flipped
    repeated = model.predict(toy.X[parts.rows["fit"]][wrong]) == parts.y_fit[wrong]
    assert found["learnt_noise"] == np.mean(repeated)


def test_candidates_that_weigh_the_same_voters_share_one_training_and_small_steps_have_an_end(toy):
    protocol = Noise(20, 0.2, longest=50)
    parts = protocol.parts(toy, 0)
    prices = (0.1, 1.0, 10.0)
    found = protocol.run(parts, Method("RQP-Boost", "RQPBoostClassifier", {}, {"C": prices}, "last")).numbers
    X, y = toy.X[parts.rows["fit"]], parts.y_fit
    for C, wrong in zip(prices, found["grid"]["wrong"], strict=True):
        model = RQPBoostClassifier(C=C, n_estimators=20).fit(X, y)
        assert wrong == (model.predict(toy.X[parts.rows["choose"]]) != parts.y_choose).sum()
    assert protocol.cap({}) == 20
    assert [protocol.cap({"learning_rate": rate}) for rate in (0.5, 0.1)] == [40, 50]
    assert protocol.cap({"exponent": 0.5}) == protocol.cap({"regularizer": "l2", "strength": 1.0}) == 40


def test_a_candidate_that_cannot_be_trained_is_told(toy):
    protocol = Noise(5, 0.2)
    parts = protocol.parts(toy, 0)
    some = Method("AdaBoost", "AdaBoostClassifier", {}, {"learning_rate": (-1.0, 0.5)})
    found = protocol.run(parts, some).numbers
    assert found["chosen"] == {"learning_rate": 0.5}
    assert "learning_rate" in found["failed_candidates"][0]
    with pytest.raises(RuntimeError, match="could not be trained"):
        protocol.run(parts, Method("AdaBoost", "AdaBoostClassifier", {"learning_rate": -1.0}))


def test_an_unknown_kind_is_refused(toy):
    with pytest.raises(ValueError, match="kind='salt' is not a kind of noise"):
        Noise(5, 0.1, kind="salt").parts(toy, 0)
