"""One rule for ties: of equals the strongest regularisation."""

import numpy as np

from boostlab.comparison.arrays import LabelledTable
from boostlab.comparison.methods import suitable
from boostlab.comparison.protocol import NestedCV
from boostlab.studies.choice import direction, preference
from boostlab.studies.plan import Method

CATEGORIES = {"votes"}  # parameters of grids that regularise nothing


def best(method, tried):
    return min(tried, key=lambda one: preference(method, *one))


def test_of_equals_the_smaller_step_then_the_larger_penalty_then_the_smaller_voter_then_fewer_rounds():
    method = Method("", "VadaBoostClassifier", grid={"max_leaf_nodes": (2, 8), "variance_penalty": (0.1, 0.5)})
    both = Method(method.name, method.booster, grid={**method.grid, "learning_rate": (1.0, 0.1)})
    values = [
        dict(max_leaf_nodes=leaves, variance_penalty=penalty, learning_rate=rate)
        for leaves in (8, 2)
        for penalty in (0.1, 0.5)
        for rate in (1.0, 0.1)
    ]
    chosen = best(both, [(one, 0.25, rounds) for one in values for rounds in (9, 5)])
    assert chosen == (dict(max_leaf_nodes=2, variance_penalty=0.5, learning_rate=0.1), 0.25, 5)
    assert best(both, [(one, 0.25 + (one["learning_rate"] < 1), 1) for one in values])[0]["learning_rate"] == 1.0
    third = sum([0.1] * 3)  # 0.30000000000000004: rounding is no difference
    assert best(both, [(values[0], 0.3, 1), (values[-1], third, 99)])[0] == values[-1]


def test_what_is_strong_depends_on_the_booster():
    cap = Method("", "QuadBoostClassifier", {"regularizer": "linf"}, {"strength": (1.0, 0.1)})
    ridge = Method("", "QuadBoostClassifier", {"regularizer": "l2"}, {"strength": (1.0, 0.1)})
    assert (direction(cap, "strength"), direction(ridge, "strength")) == (-1, 1)
    price = Method("", "RQPBoostClassifier", grid={"C": (0.3, 3.0)})
    slack = Method("", "SoftMarginBoostClassifier", grid={"C": (0.01, 0.05)})
    assert (direction(price, "C"), direction(slack, "C")) == (-1, 1)
    for method in suitable(["all"], 2, 1000)[0] + suitable(["all"], 3, 1000)[0]:
        assert all(direction(method, name) or name in CATEGORIES for name in method.grid), method.name


def test_a_comparison_follows_the_rule():
    """One column tells the classes apart: every rate and tree is right from the first round on."""
    X = np.linspace(-1, 1, 60)[:, None]
    table = LabelledTable("t", X, (X[:, 0] > 0).astype(int), ("no", "yes"))
    protocol = NestedCV(folds=2, rounds=4)
    method = Method("", "AdaBoostClassifier", grid={"max_leaf_nodes": (4, 2), "learning_rate": (1.0, 0.1)})
    found = protocol.run(protocol.parts(table, 0), method).numbers
    assert (found["chosen"], found["rounds"]) == ({"max_leaf_nodes": 2, "learning_rate": 0.1}, 1)
