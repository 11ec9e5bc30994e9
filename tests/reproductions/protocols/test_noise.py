"""The noise study plants noise where it says, and no test row has a say in any choice."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, BrownBoostClassifier
from boostlab.datasets import twonorm
from boostlab.studies.plan import Method
from boostlab_reproductions.protocols.noise import KINDS, Noise, predicted


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
    parts = Noise(kind, 0.25, rounds=5).parts(toy, 0)
    assert np.array_equal(parts.y_test, truth(toy, parts.rows["test"]))
    train = np.concatenate([parts.rows["fit"], parts.rows["choose"]])
    noisy = np.concatenate([parts.y_fit, parts.y_choose])
    wrong = noisy != truth(toy, train)
    of = truth(toy, train) == 1 if kind == "class" else np.ones(len(train), bool)
    assert wrong.sum() == round(0.25 * of.sum())
    assert not wrong[~of].any()
    assert np.array_equal(parts.flipped_fit, parts.y_fit != truth(toy, parts.rows["fit"]))
    assert (parts.y_choose != truth(toy, parts.rows["choose"])).any()  # what chooses has the noise too


def test_noise_by_margin_is_near_the_border(toy):
    parts = Noise("margin", 0.2, rounds=5).parts(toy, 0)
    distance = np.abs(toy.X[parts.rows["fit"]].sum(axis=1))
    assert distance[parts.flipped_fit].mean() < 0.9 * distance[~parts.flipped_fit].mean()


def test_the_parts_have_no_row_in_common_and_the_sizes_that_are_said(toy):
    parts = Noise("uniform", 0.1, rounds=5).parts(toy, 0)
    rows = np.concatenate(list(parts.rows.values()))
    assert sorted(rows) == list(range(240))
    assert [len(parts.rows[part]) for part in ("fit", "choose", "test")] == [80, 40, 120]
    small = Noise("uniform", 0.1, rounds=5, most_train=60, most_test=50).parts(toy, 0)
    assert [len(small.rows[part]) for part in ("fit", "choose", "test")] == [40, 20, 50]


def test_two_repeats_are_the_two_halves_of_a_split(toy):
    first, second, third = (Noise("uniform", 0.1, rounds=5).parts(toy, r).rows for r in (0, 1, 2))
    assert set(first["test"]) == set(second["fit"]) | set(second["choose"])
    assert set(first["test"]) != set(third["test"])


def test_more_noise_flips_the_same_labels_and_some_more_in_the_same_rows(toy):
    few, many = (Noise("uniform", share, rounds=5).parts(toy, 3) for share in (0.1, 0.3))
    assert np.array_equal(few.rows["fit"], many.rows["fit"])
    assert (many.flipped_fit | ~few.flipped_fit).all()
    assert many.flipped_fit.sum() > few.flipped_fit.sum()


def test_all_methods_see_the_same(toy):
    protocol = Noise("uniform", 0.2, rounds=5)
    one, other = protocol.parts(toy, 1), protocol.parts(toy, 1)
    before = [one.X_fit.numbers.copy(), one.y_fit.copy(), one.y_choose.copy(), one.y_test.copy()]
    for booster in ("AdaBoostClassifier", "BrownBoostClassifier"):
        protocol.run(one, Method(booster, booster))
    after = [one.X_fit.numbers, one.y_fit, one.y_choose, one.y_test]
    again = [other.X_fit.numbers, other.y_fit, other.y_choose, other.y_test]
    for was, now, new in zip(before, after, again, strict=True):
        assert np.array_equal(was, now)
        assert np.array_equal(was, new)


@pytest.mark.parametrize("refit", [False, True])
def test_no_test_row_in_any_choice(toy, refit):
    protocol = Noise("uniform", 0.2, rounds=20, refit=refit)
    test = protocol.parts(toy, 0).rows["test"]
    X, y = toy.X.copy(), toy.y.copy()
    X[test] = 1e6 * np.random.default_rng(0).normal(size=X[test].shape)
    y[test] = -y[test]
    ours, spoilt = (protocol.run(protocol.parts(data, 0), CHOSEN).numbers for data in (toy, replace(toy, X=X, y=y)))
    for name in ("chosen", "rounds", "validation_error", "learnt_noise", "stop"):
        assert ours[name] == spoilt[name]
    assert ours["test_error"] != spoilt["test_error"]


def test_the_staged_reading_equals_separate_fits(toy):
    protocol = Noise("uniform", 0.2, rounds=25)
    parts = protocol.parts(toy, 0)
    found = protocol.run(parts, CHOSEN)
    X, y = toy.X[parts.rows["fit"]], parts.y_fit
    X_choose, X_test = toy.X[parts.rows["choose"]], toy.X[parts.rows["test"]]
    best = None
    for rate in (1.0, 0.25):  # a plain table, a fit of its own for every number of rounds
        for rounds in range(1, 26):
            model = AdaBoostClassifier(learning_rate=rate, n_estimators=rounds, n_jobs=1).fit(X, y)
            wrong = np.count_nonzero(model.predict(X_choose) != parts.y_choose)
            if best is None or wrong < best[0]:
                best = wrong, rate, rounds, model.predict(X_test)
    wrong, rate, rounds, said = best
    assert found.numbers["chosen"] == {"learning_rate": rate}
    assert found.numbers["rounds"] == rounds
    assert found.numbers["validation_error"] == wrong / 40
    assert np.array_equal(found.arrays["predictions"], said)
    assert found.numbers["test_error"] == np.mean(said != parts.y_test)


def test_the_choice_is_trained_once_more_on_the_whole_part(toy):
    protocol = Noise("uniform", 0.2, rounds=25, refit=True)
    parts = protocol.parts(toy, 0)
    found = protocol.run(parts, CHOSEN)
    order = np.argsort(np.concatenate([parts.rows["fit"], parts.rows["choose"]]))
    train = np.concatenate([parts.rows["fit"], parts.rows["choose"]])[order]
    noisy = np.concatenate([parts.y_fit, parts.y_choose])[order]
    numbers = found.numbers
    model = AdaBoostClassifier(**numbers["chosen"], n_estimators=numbers["rounds"], n_jobs=1).fit(toy.X[train], noisy)
    assert np.array_equal(found.arrays["predictions"], model.predict(toy.X[parts.rows["test"]]))


def test_what_is_made_to_end_answers_by_its_last_round(toy):
    protocol = Noise("uniform", 0.2, rounds=30)
    parts = protocol.parts(toy, 0)
    found = protocol.run(parts, Method("BrownBoost", "BrownBoostClassifier", {"target_error": 0.3}, how="last"))
    model = BrownBoostClassifier(target_error=0.3, n_estimators=30).fit(toy.X[parts.rows["fit"]], parts.y_fit)
    assert found.numbers["rounds"] == model.n_estimators_
    assert np.array_equal(found.arrays["predictions"], model.predict(toy.X[parts.rows["test"]]))


def test_a_candidate_that_cannot_be_trained_is_told(toy):
    protocol = Noise("uniform", 0.2, rounds=5)
    parts = protocol.parts(toy, 0)
    some = Method("AdaBoost", "AdaBoostClassifier", {}, {"learning_rate": (-1.0, 0.5)})
    found = protocol.run(parts, some).numbers
    assert found["chosen"] == {"learning_rate": 0.5}
    assert "learning_rate" in found["failed_candidates"][0]
    with pytest.raises(RuntimeError, match="could not be trained"):
        protocol.run(parts, Method("AdaBoost", "AdaBoostClassifier", {"learning_rate": -1.0}))


def test_an_unknown_kind_is_refused(toy):
    with pytest.raises(ValueError, match="kind='salt' is not a kind of noise"):
        Noise("salt", 0.1).parts(toy, 0)


def test_the_first_rounds_of_a_model(toy):
    model = AdaBoostClassifier(n_estimators=12).fit(toy.X, toy.y)
    short = AdaBoostClassifier(n_estimators=5).fit(toy.X, toy.y)
    assert np.array_equal(predicted(model, toy.X, 5), short.predict(toy.X))
    assert np.array_equal(predicted(model, toy.X, 12), model.predict(toy.X))
