"""Nested cross-validation: who sees which rows, and what is chosen by what."""

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, BoostByMajorityClassifier
from boostlab.comparison.methods import LARGE, suitable
from boostlab.comparison.protocol import NestedCV
from boostlab.datasets import twonorm
from boostlab.studies.plan import Method
from boostlab.tables.table import LabelledTable

X, Y = twonorm(150, random_state=0)
TABLE = LabelledTable("t", X, (Y > 0).astype(int), ("a", "b"))
ADA = Method("AdaBoost", "AdaBoostClassifier", grid={"max_leaf_nodes": (2, 4)})


def rows_of(part):
    """Return which rows of the table a part holds."""
    known = {row.tobytes(): i for i, row in enumerate(X)}
    return [known[row.tobytes()] for row in np.ascontiguousarray(part.X)]


def test_every_row_is_tested_once_a_repeat_and_never_chosen_by():
    protocol = NestedCV(folds=5, inner=3)
    tested = []
    for repeat in range(5):
        split = protocol.parts(TABLE, repeat)
        train, test = rows_of(split.train), rows_of(split.test)
        tested += test
        assert sorted(train + test) == list(range(150))
        chosen_by = []
        for fit, choose in split.inner:
            assert sorted(rows_of(fit) + rows_of(choose)) == sorted(train)
            chosen_by += rows_of(choose)
        assert sorted(chosen_by) == sorted(train)
        np.testing.assert_array_equal(split.test.y, TABLE.y[test])
        assert abs(split.test.y.mean() - TABLE.y.mean()) < 0.04  # stratified
    assert sorted(tested) == list(range(150))
    assert rows_of(protocol.parts(TABLE, 5).test) != tested[:30]  # the second division is another one
    assert len(NestedCV(folds=5, inner=4, hold_out=True).parts(TABLE, 0).inner) == 1


def test_noise_is_in_the_training_labels_only_and_chooses_too():
    clean, noisy = (NestedCV(noise=level).parts(TABLE, 1) for level in (0.0, 0.25))
    assert rows_of(clean.train) == rows_of(noisy.train)
    assert (clean.train.y != noisy.train.y).sum() == round(0.25 * 120)
    np.testing.assert_array_equal(noisy.test.y, TABLE.y[rows_of(noisy.test)])
    truth = dict(zip(rows_of(noisy.train), noisy.train.y, strict=True))
    for fit, choose in noisy.inner:
        for part in (fit, choose):
            assert part.y.tolist() == [truth[row] for row in rows_of(part)]


def test_the_choice_is_that_of_a_plain_search():
    protocol = NestedCV(folds=3, rounds=12)
    split = protocol.parts(TABLE, 0)
    found = protocol.run(split, ADA).numbers

    def wrong(leaves, rounds):
        model = AdaBoostClassifier(n_estimators=rounds, max_leaf_nodes=None if leaves == 2 else leaves)
        return sum(int((model.fit(a.X, a.y).predict(b.X) != b.y).sum()) for a, b in split.inner)

    table = {(leaves, rounds): wrong(leaves, rounds) for leaves in (2, 4) for rounds in range(1, 13)}
    leaves, rounds = min(table, key=table.get)
    assert (found["chosen"], found["rounds"]) == ({"max_leaf_nodes": leaves}, rounds)
    assert found["curve"] == pytest.approx([table[leaves, r] / 100 for r in range(1, 13)])
    assert found["validation_cost"] == table[leaves, rounds] / 100
    model = AdaBoostClassifier(n_estimators=rounds, max_leaf_nodes=None if leaves == 2 else leaves)
    model.fit(split.train.X, split.train.y)
    assert found["test_error"] == found["cost"] == np.mean(model.predict(split.test.X) != split.test.y)
    usual = np.bincount(split.train.y).argmax()
    assert found["baseline"] == np.mean(split.test.y != usual)


def test_a_booster_that_plans_its_rounds_keeps_them():
    protocol = NestedCV(folds=3, rounds=9)
    split = protocol.parts(TABLE, 0)
    method = Method("BoostByMajority", "BoostByMajorityClassifier", grid={"gamma": (0.05,)})
    found = protocol.run(split, method).numbers
    model = BoostByMajorityClassifier(n_estimators=9, gamma=0.05).fit(split.train.X, split.train.y)
    assert found["test_error"] == np.mean(model.predict(split.test.X) != split.test.y)


def test_rare_classes_do_not_stop_the_inner_parts():
    y = np.r_[np.zeros(80, int), np.ones(67, int), np.full(3, 2)]
    split = NestedCV(folds=3, rounds=3).parts(LabelledTable("t", X, y, ("a", "b", "c")), 0)
    method = Method("SAMME", "SAMMEClassifier", grid={"max_leaf_nodes": (8,)})
    assert 0 <= NestedCV(folds=3, rounds=3).run(split, method).numbers["test_error"] <= 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_large_tables_get_fewer_boosters_and_say_so(n_classes):
    small, not_left_out = suitable(None, n_classes, LARGE)
    large, left_out = suitable(None, n_classes, LARGE + 1)
    assert not_left_out == {}
    assert {m.name for m in small} == {m.name for m in large} | set(left_out)
    assert 2 <= len(large) < len(small)
    assert all("the table is large" in why for why in left_out.values())


def test_two_classes_get_eight_boosters_and_all_means_all():
    from boostlab.boosters import REGISTRY

    assert len(suitable(None, 2, 100)[0]) == 8
    assert len(suitable(["All"], 2, 100)[0]) == len(REGISTRY)
    methods, left_out = suitable(["all"], 3, 100)
    assert {m.booster.removesuffix("Classifier") for m in methods} | set(left_out) == {
        name.removesuffix("Classifier") for name in REGISTRY
    }


def test_every_booster_takes_all_its_candidates():
    curves = []

    class Watched(NestedCV):
        def _costs(self, *args, **kwargs):
            curves.append(super()._costs(*args, **kwargs))
            return curves[-1]

    for method in suitable(["all"], 2, 100)[0]:
        curves.clear()
        Watched().warm(method)
        assert len(curves) == 1 + sum(len(values) - 1 for values in method.grid.values())  # one parameter at a time
        assert all(len(curve) and ((curve >= 0) & (curve <= 1)).all() for curve in curves)
