"""All methods choose alike: the same rows, one rule for ties, trainings shared and never changed by sharing."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from boostlab import AdaBoostClassifier
from boostlab.datasets import twonorm, waveform
from boostlab.studies.plan import Method
from boostlab_reproductions.protocols.equal_choice import EqualChoice, calibration_error

ADA = Method("AdaBoost", "AdaBoostClassifier", {"learning_rate": 1.0})
RATES = Method("rate of 3", "AdaBoostClassifier", {}, {"learning_rate": (1.0, 0.5, 0.25)})
JITTER = Method("jitter, best of 2", "AdaBoostClassifier", {"learning_rate": 1.0}, {"run": (0, 1)}, "jitter")


@dataclass(frozen=True, eq=False)
class Toy:
    X: np.ndarray
    y: np.ndarray
    hash: str = "toy"
    categorical_features: list = field(default_factory=list)


TOY = Toy(*twonorm(240, random_state=0))


def test_a_choice_is_that_of_separate_fits_and_of_equals_the_smallest_rate():
    protocol = EqualChoice(5)
    parts = protocol.parts(TOY, 0)
    found = protocol.run(parts, RATES).numbers
    table = {}
    for rate in (0.25, 0.5, 1.0):  # of equals the first: the strongest
        for rounds in range(1, round(5 / rate) + 1):
            model = AdaBoostClassifier(learning_rate=rate, n_estimators=rounds).fit(parts.X_fit, parts.y_fit)
            table[rate, rounds] = int((model.predict(parts.X_choose) != parts.y_choose).sum())
    rate, rounds = min(table, key=table.get)
    assert (found["chosen"], found["rounds"]) == ({"learning_rate": rate}, rounds)
    assert found["validation_error"] == table[rate, rounds] / len(parts.y_choose)
    model = AdaBoostClassifier(learning_rate=rate, n_estimators=rounds).fit(parts.X_fit, parts.y_fit)
    assert found["test_error"] == np.mean(model.predict(parts.X_test) != parts.y_test)
    assert (found["cap"], found["tried"]) == (round(5 / rate), 3)
    assert found["near_cap"] == float(rounds > 0.9 * found["cap"])


def test_shared_trainings_change_nothing_and_test_labels_choose_nothing():
    protocol = EqualChoice(6, share=0.2)
    parts = protocol.parts(TOY, 1)
    assert sorted(np.concatenate(list(parts.rows.values()))) == list(range(240))
    truth = (TOY.y == np.unique(TOY.y)[1]).astype(int)
    assert np.array_equal(parts.y_test, truth[parts.rows["test"]])
    for name, noisy in (("fit", parts.y_fit), ("choose", parts.y_choose)):
        assert (noisy != truth[parts.rows[name]]).sum() == round(0.2 * len(noisy))
    together = [protocol.run(parts, method).numbers for method in (ADA, RATES, JITTER)]
    assert len(parts.kept) == 4  # AdaBoost, two rates and one jittered run more
    alone = [protocol.run(protocol.parts(TOY, 1), method).numbers for method in (ADA, RATES, JITTER)]
    assert together == alone
    other = protocol.parts(TOY, 1)
    other.y_test[:] = 1 - other.y_test
    turned = protocol.run(other, RATES).numbers
    same = ("chosen", "rounds", "validation_error")
    assert [turned[name] for name in same] == [alone[1][name] for name in same]
    assert turned["test_error"] == pytest.approx(1 - alone[1]["test_error"])


def test_several_classes_and_one_that_was_not_trained_on():
    X, y = waveform(120, random_state=0)
    y = np.where(np.arange(120) == 7, 9, y)  # a class of one row
    protocol, trees = EqualChoice(4), {"max_leaf_nodes": 4}
    for repeat in range(3):
        parts = protocol.parts(Toy(X, y), repeat)
        found = protocol.run(parts, Method("", "VadaBoostClassifier", trees | {"step": "exact"})).numbers
        assert 0 <= found["test_error"] < 0.7
        assert np.isfinite([found["log_loss"], found["calibration_error"]]).all()


def test_the_calibration_error_of_confidence_that_is_too_high():
    p = np.column_stack([np.full(100, 0.1), np.full(100, 0.9)])
    assert calibration_error(p, np.r_[np.ones(60, int), np.zeros(40, int)]) == pytest.approx(0.3)
