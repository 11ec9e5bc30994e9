"""The protocol of the VadaBoost paper on toy data."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, EBBoostClassifier, RQPBoostClassifier
from boostlab.boosters.staged_training import TrainTest
from boostlab.datasets import twonorm
from boostlab.studies.plan import Method
from boostlab_reproductions.protocols.costs import CostCurves
from boostlab_reproductions.protocols.vadaboost import Stopped, halves, stopped

ADABOOST = Method("AdaBoost", "AdaBoostClassifier")
VADA = Method("VadaBoost", "VadaBoostClassifier", grid={"variance_penalty": (0.0, 0.5, 1.0)})
EB = Method("EBBoost", "EBBoostClassifier", grid={"variance_penalty": (0.0, 0.5, 1.0)})
JITTER = Method("best of 3", "AdaBoostClassifier", grid={"run": (0, 1, 2)}, how="jitter")
RLP = Method("RLP-Boost", "RLPBoostClassifier", grid={"nu": (0.5, 0.2, 0.05, 0.001)}, how="reweigh")
RQP = Method("RQP-Boost", "RQPBoostClassifier", grid={"C": (0.1, 10.0)}, how="reweigh")
RATE = Method("rate of 3", "AdaBoostClassifier", grid={"learning_rate": (1.0, 0.5, 0.2)})
METHODS = (ADABOOST, VADA, EB, JITTER, RATE, RLP, RQP)


@pytest.fixture(scope="module")
def data():
    X, y = twonorm(203, random_state=3)
    noisy = np.where(np.random.default_rng(0).random(len(y)) < 0.15, -1, 1) * np.where(y > 0, 1, -1)
    return SimpleNamespace(X=X, y=noisy, hash="0123456789abcdef0123")


@pytest.fixture(scope="module")
def protocol():
    return Stopped(patience=10, longer=25, cap=200)


@pytest.mark.parametrize(("n", "sizes"), [(8, [4, 2, 2]), (203, [101, 50, 52]), (5000, [2500, 1250, 1250])])
def test_half_trains_a_quarter_chooses_a_quarter_tests(n, sizes):
    parts = halves(n, 4, "ab")
    assert [len(p) for p in parts] == sizes
    assert sorted(np.concatenate(parts)) == list(range(n))


def test_splits_depend_on_data_and_repeat_only():
    a, b = halves(50, 0, "ab"), halves(50, 0, "ab")
    assert all((x == y).all() for x, y in zip(a, b, strict=True))
    for other in (halves(50, 1, "ab"), halves(50, 0, "ac")):
        assert not (a[0] == other[0]).all()


@pytest.mark.parametrize(
    ("errors", "patience", "round_"),
    [
        ([9, 5, 4, 4, 4, 3], 2, 4),  # equal is no drop
        ([9, 5, 4, 4, 4, 3], 3, 5),  # a drop in the very last round
        ([9, 5, 4, 3, 2, 1], 1, 5),
        ([0, 5, 5, 5, 5, 5], 2, 3),  # round 0 does not count
        ([9, 5, 6, 5, 6, 4, 9], 4, 6),
        ([9], 3, 0),
    ],
)
def test_patience_ends_after_rounds_without_a_strict_decrease(errors, patience, round_):
    assert stopped(np.array(errors), patience) == round_


def staged_errors(model, X, y):
    return np.array([(p != y).sum() for p in model.staged_predict(X)])


def test_one_training_is_the_estimator_stopped_by_hand(data, protocol):
    train, validation, test = halves(len(data.y), 2, data.hash)
    numbers = protocol.run(protocol.parts(data, 2), ADABOOST).numbers
    model = AdaBoostClassifier(n_estimators=200, max_bins="exact").fit(data.X[train], data.y[train])
    held, tested = (staged_errors(model, data.X[rows], data.y[rows]) for rows in (validation, test))
    for which, patience in (("", 10), ("longer_", 25)):
        last = stopped(np.append(99, held), patience)
        best = int(held[:last].argmin())
        assert numbers[f"{which}rounds"] == best + 1
        assert numbers[f"{which}last_rounds"] == last
        assert numbers[f"{which}validation_error"] == held[best] / len(validation)
        assert numbers[f"{which}test_error"] == tested[best] / len(test)
        assert numbers[f"{which}last_test_error"] == tested[last - 1] / len(test)
    assert numbers["rounds"] <= numbers["longer_rounds"]
    assert numbers["stop"] == "patience"
    assert numbers["sizes"] == [len(train), len(validation), len(test)]


def test_the_grid_is_chosen_by_validation_and_the_first_of_equals(data, protocol):
    train, validation, test = halves(len(data.y), 0, data.hash)
    outcome = protocol.run(protocol.parts(data, 0), EB)
    grid = outcome.numbers["grid"]
    for k, penalty in enumerate(grid["values"]):
        model = EBBoostClassifier(variance_penalty=penalty, n_estimators=grid["last_rounds"][k], max_bins="exact")
        model.fit(data.X[train], data.y[train])
        held = staged_errors(model, data.X[validation], data.y[validation])
        assert held.min() == grid["validation"][k]
        assert held.argmin() + 1 == grid["rounds"][k]
    at = int(np.argmin(grid["validation"]))
    assert outcome.numbers["chosen"] == {"variance_penalty": grid["values"][at]}
    assert outcome.numbers["test_error"] == grid["test"][at] / len(test)
    # λ = 0 and λ = 1 are one classifier, so the first can never be beaten by the last
    assert grid["validation"][0] == grid["validation"][2]
    assert outcome.numbers["chosen"]["variance_penalty"] != 1.0
    predicted = outcome.arrays["predictions"]
    assert predicted.dtype == np.int8
    assert (predicted != (data.y[test] > 0)).mean() == outcome.numbers["test_error"]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_no_test_row_has_a_say(data, protocol, method):
    _, _, test = halves(len(data.y), 1, data.hash)
    poisoned = SimpleNamespace(X=data.X.copy(), y=data.y.copy(), hash=data.hash)
    poisoned.X[test] = np.random.default_rng(5).normal(size=(len(test), data.X.shape[1])) * 1e6
    poisoned.y[test] *= -1
    clean = protocol.run(protocol.parts(data, 1), method).numbers
    other = protocol.run(protocol.parts(poisoned, 1), method).numbers
    assert clean["test_error"] != other["test_error"]
    about_tests = ("test", "seconds")
    for name, value in clean.items():
        if name == "grid":
            for column in value:
                assert "test" in column or value[column] == other["grid"][column], column
        elif not any(word in name for word in about_tests):
            assert value == other[name], name


def test_methods_that_share_parts_do_not_depend_on_each_other(data, protocol):
    parts = protocol.parts(data, 0)
    together = [protocol.run(parts, m).numbers for m in METHODS]
    alone = [protocol.run(protocol.parts(data, 0), m).numbers for m in reversed(METHODS)][::-1]
    for a, b in zip(together, alone, strict=True):
        assert {k: v for k, v in a.items() if k != "seconds"} == {k: v for k, v in b.items() if k != "seconds"}


def test_jittered_runs_hold_adaboost_itself_and_differ(data, protocol):
    parts = protocol.parts(data, 1)
    plain, jittered = (protocol.run(parts, m).numbers for m in (ADABOOST, JITTER))
    grid = jittered["grid"]
    assert grid["validation"][0] == round(plain["validation_error"] * parts.sizes[1])
    assert jittered["validation_error"] <= plain["validation_error"]
    assert len({(grid["rounds"][k], grid["validation"][k], grid["test"][k]) for k in range(3)}) > 1


def test_a_rate_of_one_is_adaboosts_own_run_and_not_trained_twice(data, protocol, monkeypatch):
    begun, staged = [], TrainTest.training
    monkeypatch.setattr(
        TrainTest, "training", lambda self, rule, *a: begun.append(rule.learning_rate) or staged(self, rule, *a)
    )
    parts = protocol.parts(data, 1)
    plain, rates = (protocol.run(parts, m).numbers for m in (ADABOOST, RATE))
    assert begun == [1.0, 0.5, 0.2]
    assert rates["grid"]["last_rounds"][0] == plain["last_rounds"]
    assert protocol.run(protocol.parts(data, 1), RATE).numbers["grid"] == rates["grid"]


def test_protocols_of_two_studies_share_trainings_in_any_order(data, protocol, monkeypatch):
    """Patience ends a training and changes nothing else: the shorter is read off, the longer goes on."""
    short = replace(protocol, patience=3, longer=None, margins=True)
    assert short.basis() == protocol.basis()
    assert replace(protocol, learner="cart").basis() != protocol.basis()
    alone = [p.run(p.parts(data, 0), m).numbers for m in METHODS for p in (short, protocol)]
    begun, staged = [], TrainTest.training
    monkeypatch.setattr(TrainTest, "training", lambda self, *a: begun.append(a) or staged(self, *a))
    for order in ((short, protocol), (protocol, short)):
        parts = order[0].parts(data, 0)
        begun.clear()
        found = {(m.name, p.patience): p.run(parts, m).numbers for p in order for m in METHODS}
        together = [found[m.name, p.patience] for m in METHODS for p in (short, protocol)]
        for a, b in zip(together, alone, strict=True):
            assert {k: v for k, v in a.items() if k != "seconds"} == {k: v for k, v in b.items() if k != "seconds"}
        assert len({repr((a[0], a[3])) for a in begun}) == len(begun)  # no training is begun twice


def test_programs_weigh_all_voters_of_the_stopped_run(data, protocol):
    train, validation, test = halves(len(data.y), 0, data.hash)
    parts = protocol.parts(data, 0)
    rounds = protocol.run(parts, ADABOOST).numbers["last_rounds"]
    linear, quadratic = (protocol.run(parts, m).numbers for m in (RLP, RQP))
    assert linear["grid"]["values"] == [0.5, 0.2, 0.05]  # ν = 0.001 is less than one example
    assert linear["rounds"] == quadratic["rounds"] == rounds
    for k, C in enumerate(quadratic["grid"]["values"]):  # whose optimum is unique
        model = RQPBoostClassifier(C=C, n_estimators=rounds, max_bins="exact").fit(data.X[train], data.y[train])
        for name, rows in (("validation", validation), ("test", test)):
            assert (model.predict(data.X[rows]) != data.y[rows]).sum() == quadratic["grid"][name][k]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_margins_of_the_test_rows_are_kept_beside_the_predictions(data, protocol, method):
    _, _, test = halves(len(data.y), 0, data.hash)
    outcome = protocol.run(protocol.parts(data, 0), method)
    margins, right = outcome.arrays["margins"], outcome.arrays["predictions"] == (data.y[test] > 0)
    assert margins.dtype == np.float16
    assert (np.abs(margins) <= 1).all()
    decided = margins != 0  # a tie, or a margin below what three digits hold
    assert ((margins > 0) == right)[decided].all()
    assert decided.mean() > 0.9


def test_margins_are_those_of_the_estimator(data, protocol):
    train, _, test = halves(len(data.y), 0, data.hash)
    outcome = protocol.run(protocol.parts(data, 0), ADABOOST)
    model = AdaBoostClassifier(n_estimators=outcome.numbers["rounds"], max_bins="exact").fit(
        data.X[train], data.y[train]
    )
    scores = model.decision_function(data.X[test]) / np.abs(model.estimator_weights_).sum()
    np.testing.assert_allclose(outcome.arrays["margins"], data.y[test] * scores, atol=1e-3)


def test_full_trees_do_not_split_fewer_than_ten(data):
    protocol = Stopped("cart", patience=5, longer=None, cap=20)
    parts = protocol.parts(data, 0)
    numbers = protocol.run(parts, ADABOOST).numbers
    assert numbers["last_rounds"] <= 20
    run = next(iter(parts.kept.values()))
    tree = run.staged.rounds[0].voter
    leaf = tree.leaf_of(parts.split.table)
    sizes = np.bincount(leaf, minlength=len(tree.feature))
    for node in range(len(tree.feature) - 1, -1, -1):
        if tree.feature[node] >= 0:
            sizes[node] = sizes[tree.children[node]].sum()
            assert sizes[node] >= 10
        elif sizes[node] >= 10:
            assert len(set(parts.split.codes[leaf == node])) == 1  # nothing left to tell apart


def test_costs_of_every_round(data):
    protocol = CostCurves(rounds=30)
    parts = protocol.parts(data, 0)
    train, _, _ = halves(len(data.y), 0, data.hash)
    X, y = data.X[train], data.y[train]
    for method, model in (
        (ADABOOST, AdaBoostClassifier(n_estimators=30, max_bins="exact")),
        (
            Method("EB", "EBBoostClassifier", {"variance_penalty": 0.5}),
            EBBoostClassifier(variance_penalty=0.5, n_estimators=30, max_bins="exact"),
        ),
    ):
        logs = protocol.run(parts, method).arrays["log_cost"]
        lam = method.params.get("variance_penalty", 0.0)
        e = np.exp(-y * np.array(list(model.fit(X, y).staged_decision_function(X))))
        costs = e.mean(axis=1) ** 2 + lam * e.var(axis=1)
        np.testing.assert_allclose(np.exp(logs[1:]), costs, rtol=1e-5)
        assert logs[0] == 0


def test_trees_may_be_trained_on_drawn_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    data = SimpleNamespace(X=X, y=np.where(X[:, 0] * X[:, 1] > 0, 1, -1), hash="ab" * 32)
    found = {}
    for learner in ("depth 2", "depth 2, drawn"):
        protocol = Stopped(learner, patience=5, longer=None, cap=8, n_train=50)
        outcomes = [protocol.run(protocol.parts(data, 0), Method("AdaBoost", "AdaBoostClassifier")) for _ in range(2)]
        assert outcomes[0].numbers["test_error"] == outcomes[1].numbers["test_error"]
        assert outcomes[0].numbers["sizes"] == [50, 25, 45]
        found[learner] = outcomes[0].arrays["margins"]
    assert not np.array_equal(found["depth 2"], found["depth 2, drawn"])
