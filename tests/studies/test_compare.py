"""The comparison: fair splits, honest noise, and failures that are reported instead of raised."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from boostlab import AdaBoostClassifier, LogitBoostClassifier
from boostlab.datasets import three_gaussians, twonorm
from boostlab.estimators import REGISTRY
from boostlab.estimators.registry import Entry
from boostlab.studies import RequestError, compare

X, Y = twonorm(120, random_state=0)
PAIR = ["AdaBoost", "LogitBoost"]
FAST = {"folds": 3, "rounds": 5}


@pytest.fixture
def booster(monkeypatch):
    """Register a booster for one test."""

    def register(cls, name):
        made = dataclass(eq=False, repr=False)(cls)
        monkeypatch.setitem(REGISTRY, name, Entry(made, "nobody", "testing"))

    return register


@pytest.fixture
def seen(booster):
    """Register two boosters that write down what they are given; the list holds (name, X, y, X_test) of every fit."""
    log = []

    def spy(name, base):
        class Spy(base):
            def fit(self, X, y):
                super().fit(X, y)
                self.given = X, y
                return self

            def predict(self, X):
                if self.n_estimators != 2:  # not the warm-up
                    log.append((name, *self.given, X))
                return super().predict(X)

        booster(Spy, name)

    spy("OneClassifier", AdaBoostClassifier)
    spy("TwoClassifier", LogitBoostClassifier)
    return log


def test_every_cell_is_there():
    result = compare(X, Y, PAIR, folds=3, repeats=2, rounds=5, noise=[0.0, 0.2])
    assert len(result.cells) == result.planned == 2 * 3 * 2 * 2
    keys = {(c.booster, c.noise, c.repeat, c.fold) for c in result.cells}
    assert len(keys) == len(result.cells)
    assert all(0 <= c.error <= 1 and c.seconds > 0 and c.rounds == 5 for c in result.cells)
    assert all(c.stop_reason.startswith("max_rounds") for c in result.cells)
    assert not result.interrupted


def test_all_boosters_get_the_same_splits_and_labels(seen):
    compare(X, Y, ["One", "Two"], folds=3, repeats=2, rounds=5, noise=[0.0, 0.3])
    one, two = ([row[1:] for row in seen if row[0] == name] for name in ("OneClassifier", "TwoClassifier"))
    assert len(one) == len(two) == 12
    for a, b in zip(one, two, strict=True):
        for left, right in zip(a, b, strict=True):
            np.testing.assert_array_equal(left, right)
    tests = [row[2] for row in one[:6:2]]  # one repeat without its noisy twins
    np.testing.assert_array_equal(np.sort(np.concatenate(tests), axis=0), np.sort(X, axis=0))


def test_noise_is_in_the_training_labels_only(seen):
    result = compare(X, Y, ["One"], folds=3, rounds=5, noise=0.25)
    truth = {row.tobytes(): label for row, label in zip(X, Y, strict=True)}
    for (_, X_train, labels, X_test), cell in zip(seen, result.cells, strict=True):
        clean = np.array([truth[row.tobytes()] for row in X_train])
        assert (labels != clean).sum() == round(0.25 * len(labels))
        model = AdaBoostClassifier(n_estimators=5).fit(X_train, labels)
        assert cell.error == np.mean(model.predict(X_test) != [truth[row.tobytes()] for row in X_test])


def test_the_seed_decides():
    def errors(**more):
        return [c.error for c in compare(X, Y, PAIR, **FAST, noise=0.2, **more).cells]

    assert errors() == errors(random_state=0, n_jobs=1)
    assert errors() != errors(random_state=1)


def test_summary_and_ranks():
    result = compare(X, Y, [*PAIR, "AdaBoostM2"], folds=4, rounds=5)
    for summary in result.ranking():
        errors = [c.error for c in result.cells if c.booster == summary.booster]
        assert summary.error == pytest.approx(np.mean(errors))
        assert summary.standard_error == pytest.approx(np.std(errors, ddof=1) / 2)
        assert (summary.fits, summary.failed, summary.rounds) == (4, 0, 5)
    ranked = [s.error for s in result.ranking()]
    assert ranked == sorted(ranked)
    ranks = result.ranks()
    # With two classes AdaBoost.M2 is AdaBoost: they share a rank.
    assert ranks["AdaBoostClassifier"] == ranks["AdaBoostM2Classifier"]
    assert sorted(ranks.values()) in ([1, 1, 3], [1, 2, 2])


def test_a_booster_that_fails_is_a_row_that_says_why(booster):
    class Broken(AdaBoostClassifier):
        def fit(self, X, y):
            raise ArithmeticError("the abacus is jammed\nand more")

    booster(Broken, "BrokenClassifier")
    result = compare(X, Y, ["Broken", "AdaBoost"], **FAST)
    assert len(result.cells) == 6
    assert [s.booster for s in result.ranking()] == ["AdaBoostClassifier", "BrokenClassifier"]
    assert result.remarks("BrokenClassifier") == ["failed: ArithmeticError: the abacus is jammed (3 of 3 fits)"]
    last = result.ranking()[-1]
    assert (last.fits, last.failed, np.isnan(last.error)) == (3, 3, True)
    assert result.ranks() == {"AdaBoostClassifier": 1}


def test_one_failure_keeps_a_booster_out_of_the_ranks(booster):
    fits = []

    class Moody(AdaBoostClassifier):
        def fit(self, X, y):
            fits.append(1)
            if len(fits) == 3:  # the warm-up is the first
                raise ValueError("not today")
            return super().fit(X, y)

    booster(Moody, "MoodyClassifier")
    result = compare(X, Y, ["Moody", "LogitBoost"], **FAST)
    assert result.summary("MoodyClassifier", 0.0).failed == 1
    assert result.ranks() == {"LogitBoostClassifier": 1}


def test_warnings_become_remarks(recwarn):
    # A constant column leaves no voter with an edge, which the boosters warn about.
    y = np.array([0, 1] * 12)
    result = compare(np.ones((24, 1)), y, ["AdaBoost"], **FAST)
    (remark,) = result.remarks("AdaBoostClassifier")
    assert "kept no voter" in remark
    assert remark.endswith("(3 of 3 fits)")
    assert not [w for w in recwarn if issubclass(w.category, ConvergenceWarning)]


def test_cutting_off_a_booster_that_would_end_by_itself_is_remarked_on():
    result = compare(X, Y, ["LPBoost", "AdaBoost"], folds=2, rounds=3)
    remark = "cut off at 3 rounds, before its own rule said stop (2 of 2 fits)"
    assert result.remarks("LPBoostClassifier") == [remark]
    assert result.remarks("AdaBoostClassifier") == []


def test_all_boosters_take_three_classes():
    X3, y3 = three_gaussians(90, random_state=0)
    result = compare(X3, y3, ["AdaBoost.M2", "VadaBoost"], **FAST)
    assert result.boosters == ["AdaBoostM2Classifier", "VadaBoostClassifier"]
    assert result.left_out == {}
    assert len(result.cells) == 6


def test_a_booster_of_two_classes_is_left_out_of_three(monkeypatch):
    class Binary(REGISTRY["VadaBoostClassifier"].cls):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.classifier_tags.multi_class = False
            return tags

    monkeypatch.setitem(REGISTRY, "VadaBoostClassifier", replace(REGISTRY["VadaBoostClassifier"], cls=Binary))
    X3, y3 = three_gaussians(90, random_state=0)
    result = compare(X3, y3, ["AdaBoost.M2", "VadaBoost"], **FAST)
    assert result.boosters == ["AdaBoostM2Classifier"]
    assert result.left_out == {"VadaBoostClassifier": "it takes two classes, and these data have 3"}


def test_none_means_all_boosters():
    assert compare(X, Y, folds=2, rounds=2).boosters == list(REGISTRY)


def test_on_cell_sees_every_cell():
    counts = []
    compare(X, Y, PAIR, **FAST, on_cell=lambda so_far: counts.append(len(so_far.cells)))
    assert counts == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("where", ["on_cell", "fit", "engine"])
def test_ctrl_c_returns_what_is_there(where, booster):
    def interrupt(*_):
        raise KeyboardInterrupt

    fits = []

    class Patient(AdaBoostClassifier):
        def fit(self, X, y):
            fits.append(1)
            if len(fits) == 4 and where == "fit":
                interrupt()
            if len(fits) == 4 and where == "engine":  # the engine ends the fit itself and keeps its rounds
                self.callbacks = interrupt
            return super().fit(X, y)

    booster(Patient, "PatientClassifier")
    stop = (lambda so_far: len(so_far.cells) == 2 and interrupt()) if where == "on_cell" else None
    result = compare(X, Y, ["Patient"], **FAST, on_cell=stop)
    assert result.interrupted
    assert len(result.cells) == 2
    assert result.ranking()[0].fits == 2


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({"boosters": ["AdaBost"]}, r"There is no booster 'AdaBost'; did you mean AdaBoost\?"),
        ({"boosters": ["brownbooster"]}, r"did you mean BrownBoost\?"),
        ({"boosters": ["zzz"]}, "There is no booster 'zzz'; choose from .*LogitBoost"),
        ({"boosters": "AdaBoost"}, "give a list of names"),
        ({"boosters": []}, "No booster was named"),
        ({"folds": 1}, "folds=1 is not possible"),
        ({"folds": 100}, "every part needs a row of every class"),
        ({"repeats": 0}, "repeats=0 is not possible"),
        ({"rounds": 0}, "rounds=0 is not possible"),
        ({"noise": 0.5}, "noise=0.5 is not possible"),
        ({"noise": [0.0, -0.1]}, "noise=-0.1 is not possible"),
        ({"noise": []}, "at least one level"),
        ({"random_state": -1}, "The seed -1 is not possible"),
    ],
)
def test_impossible_requests_are_one_sentence(request_, sentence):
    with pytest.raises(RequestError, match=sentence) as caught:
        compare(X, Y, **request_)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_labels_must_be_classes():
    with pytest.raises(RequestError, match="nothing to learn"):
        compare(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="continuous"):
        compare(X, X[:, 0])
