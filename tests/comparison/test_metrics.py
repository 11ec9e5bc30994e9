"""Metrics against scikit-learn's, the one that fits a table, and a warning with power."""

import numpy as np
import pytest
from sklearn import metrics as sk

from boostlab.comparison.metrics import METRICS, evidence, find_metric, fitting_metric, together
from boostlab.comparison.protocol import constant_answers
from boostlab.studies import RequestError

RNG = np.random.default_rng(0)
Y2, P2 = RNG.integers(0, 2, 80), RNG.random(80).round(1)
Y2[:30] = 0
P2 = np.column_stack([1 - P2, P2])
Y3 = RNG.integers(0, 3, 90)
P3 = RNG.dirichlet(np.ones(3), 90)
HOT = np.eye(3)[Y3]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("error", (np.mean(P2.argmax(1) != Y2), np.mean(P3.argmax(1) != Y3))),
        ("log_loss", (sk.log_loss(Y2, P2), sk.log_loss(Y3, P3))),
        ("roc_auc", (1 - sk.roc_auc_score(Y2, P2[:, 1]), 1 - sk.roc_auc_score(Y3, P3, multi_class="ovr"))),
        (
            "average_precision",
            (1 - sk.average_precision_score(Y2, P2[:, 1]), 1 - sk.average_precision_score(HOT, P3, average="macro")),
        ),
        (
            "balanced_error",
            (1 - sk.balanced_accuracy_score(Y2, P2.argmax(1)), 1 - sk.balanced_accuracy_score(Y3, P3.argmax(1))),
        ),
        ("f1", (1 - sk.f1_score(Y2, P2.argmax(1)), 1 - sk.f1_score(Y3, P3.argmax(1), average="macro"))),
        ("brier", (sk.brier_score_loss(Y2, P2[:, 1]), np.mean(np.sum((P3 - HOT) ** 2, 1)) / 2)),
    ],
)
def test_costs_are_scikit_learns(name, expected):
    for (y, p), value in zip([(Y2, P2), (Y3, P3)], expected, strict=True):
        needs = METRICS[name].needs
        answer = {"labels": p.argmax(1), "probabilities": p, "scores": p[:, 1] if p.shape[1] == 2 else p}[needs]
        assert METRICS[name].cost(y, answer) == pytest.approx(value, abs=1e-12)


def test_the_rarer_class_is_to_be_found():
    assert METRICS["average_precision"].cost(1 - Y2, -P2[:, 1]) == METRICS["average_precision"].cost(Y2, P2[:, 1])
    assert METRICS["f1"].cost(1 - Y2, 1 - P2.argmax(1)) == METRICS["f1"].cost(Y2, P2.argmax(1))


def test_numbers():
    y, guess = RNG.normal(size=50), RNG.normal(size=50)
    assert METRICS["squared_error"].cost(y, guess) == pytest.approx(sk.mean_squared_error(y, guess))
    assert METRICS["absolute_error"].cost(y, guess) == pytest.approx(sk.mean_absolute_error(y, guess))


def test_the_metric_that_fits_is_said_with_a_reason():
    def fitting(counts):
        y = np.repeat(np.arange(len(counts)), counts)
        return fitting_metric(y, tuple("abcd"[: len(counts)]))

    assert fitting([70, 30])[0].name == fitting([40, 30, 30])[0].name == "error"
    metric, why = fitting([1990, 10])
    assert (metric.name, why[:32]) == ("average_precision", "only one in 200 rows is 'b', and")
    assert fitting([500, 30, 400])[0].name == "log_loss"
    assert fitting_metric(np.linspace(0, 1, 9), ())[0].name == "squared_error"


def test_names_are_found_and_shown():
    assert find_metric("AUC") is METRICS["roc_auc"]
    with pytest.raises(RequestError, match=r"There is no metric 'logg_loss'; did you mean log_loss\?"):
        find_metric("logg_loss")
    assert METRICS["roc_auc"].span(0.1, 0.3) == "0.700 to 0.900"
    assert METRICS["error"].show(0.1234) == "12.34"
    assert METRICS["squared_error"].say(1e9) == "1,000,000,000"


@pytest.mark.parametrize("name", ["error", "log_loss", "roc_auc", "average_precision", "balanced_error", "brier"])
def test_a_few_parts_are_enough_to_see_that_columns_say_something(name):
    """29 % of errors against 50 % in two parts of 60 rows is no chance; a coin is."""

    def p_value(right):
        z = []
        for seed in range(2):
            rng = np.random.default_rng(seed)
            y = rng.permutation(np.arange(60) % 2)
            said = np.where(rng.permutation(60) < 60 * right, y, 1 - y)
            p = np.column_stack([0.7 - 0.4 * said, 0.3 + 0.4 * said])
            answers = {"labels": said, "probabilities": p, "scores": p[:, 1]}
            needs, base = METRICS[name].needs, constant_answers(y, 2, 60)
            z.append(evidence(METRICS[name], y, answers[needs], base[needs]))
        return together(z)

    assert p_value(0.71) < 0.01
    assert p_value(0.5) > 0.05
