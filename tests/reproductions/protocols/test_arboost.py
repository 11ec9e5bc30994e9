"""AR-Boost's protocol on toy data: sizes, folds, noise in training labels only, and rounds read off one run."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, ARBoostClassifier, DecisionTree, SAMMEClassifier
from boostlab.studies.plan import Method
from boostlab_reproductions.papers.arboost_errors import ADA, AR, BINARY, MULTICLASS, NOISE, SIZES, TREE
from boostlab_reproductions.papers.arboost_spheres import BLOCK as SPHERE_BLOCK
from boostlab_reproductions.problems import ARBOOST_BINARY
from boostlab_reproductions.protocols.arboost import SphereProtocol, TunedProtocol, _stages
from boostlab_reproductions.published import published

SMALL = Method("AR-Boost", "ARBoostClassifier", {}, {"rho": [1.0, 2.0, 5.0]})


@dataclass(frozen=True)
class Toy:
    X: Any
    y: Any
    classes: tuple[str, ...] = ("a", "b")
    test_rows: Any = None
    categorical_features: tuple[int, ...] = ()
    hash: str = "0123456789abcdef"


def toy(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return Toy(X, np.where(X[:, 0] + X[:, 1] ** 2 - 0.8 + 0.5 * rng.normal(size=n) > 0, 1, -1))


def protocol(learner="stumps", **settings):
    return TunedProtocol(learner, ((150, 100),), **{"rounds": 12, **settings})


def test_the_sizes_are_those_of_the_papers_table():
    table = {row["examples"]: row["train"] for row in published("arboost_table1_datasets")}
    assert all(table[n] == train for n, train in SIZES)
    assert {p.n_train for p in ARBOOST_BINARY} <= {train for _, train in SIZES}


def test_random_splits_are_stratified_and_of_the_papers_size():
    data = toy()
    parts = protocol().parts(data, 0)
    assert (len(parts.train), len(parts.test)) == (100, 50)
    assert sorted(np.concatenate([parts.train, parts.test])) == list(range(150))
    assert abs((parts.y == 1).mean() - (data.y == 1).mean()) < 0.01
    assert not np.array_equal(parts.train, protocol().parts(data, 1).train)


def test_an_official_split_goes_before_and_never_changes():
    data = replace(toy(), test_rows=np.arange(150) >= 110)
    for repeat in (0, 1):
        parts = protocol().parts(data, repeat)
        np.testing.assert_array_equal(parts.train, np.arange(110))


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_noise_is_in_training_labels_only(noise):
    data = toy()
    plain, noisy = protocol().parts(data, 3), protocol(noise=noise).parts(data, 3)
    np.testing.assert_array_equal(plain.train, noisy.train)
    np.testing.assert_array_equal(noisy.y_test, data.y[noisy.test])
    np.testing.assert_array_equal(noisy.clean, data.y[noisy.train])
    flipped = (noisy.y != noisy.clean).mean()
    assert noise - 0.15 < flipped < noise + 0.15
    assert flipped > 0
    np.testing.assert_array_equal(plain.y, plain.clean)


def test_the_same_labels_are_flipped_for_all_learners_and_more_with_more_noise():
    data = toy()
    few, many = (protocol("stumps", noise=p).parts(data, 0) for p in (0.1, 0.3))
    trees = protocol("depth3", noise=0.1).parts(data, 0)
    np.testing.assert_array_equal(few.y, trees.y)
    assert (many.y != many.clean)[few.y != few.clean].all()


@pytest.mark.parametrize("method", [SMALL, TREE, ADA], ids=lambda m: m.name)
def test_no_test_row_has_a_say(method):
    data, p = toy(), protocol()
    parts = p.parts(data, 0)
    rng = np.random.default_rng(1)
    X = data.X.copy()
    X[parts.test] = rng.normal(3, 9, X[parts.test].shape)
    ours, theirs = p.run(parts, method), p.run(p.parts(replace(data, X=X), 0), method)
    for name in ("chosen", "early_chosen", "early_rounds", "validation_error", "validation_wrong", "rounds", "stop"):
        assert ours.numbers[name] == theirs.numbers[name]
    assert ours.numbers["curve"] != theirs.numbers["curve"]


def test_folds_part_the_tuned_rows_and_are_stratified():
    parts = protocol().parts(toy(), 0)
    for label in (-1, 1):
        counts = np.bincount(parts.fold[parts.y == label])
        assert counts.max() - counts.min() <= 1
    few = protocol(most_tuned=60).parts(toy(), 0)
    assert few.tuned.sum() == 60
    assert parts.tuned.all()
    assert abs((few.y[few.tuned] == 1).mean() - (few.y == 1).mean()) < 0.02


def test_stages_of_one_run_are_separate_fits():
    parts = protocol().parts(toy(), 0)
    outcome = protocol().run(parts, ADA)
    for t in (1, 5, 12):
        model = AdaBoostClassifier(n_estimators=t).fit(parts.X, parts.y)
        assert outcome.numbers["curve"][t - 1] == (model.predict(parts.X_test) != parts.y_test).sum()


def test_rho_has_the_fewest_mistakes_in_cross_validation():
    parts = protocol().parts(toy(), 0)
    numbers = protocol().run(parts, SMALL).numbers
    wrong = []
    for rho in (1.0, 2.0, 5.0):
        model = ARBoostClassifier(rho=rho, n_estimators=12)
        wrong.append(0)
        for k in range(5):
            fit, held = np.flatnonzero(parts.fold != k), np.flatnonzero(parts.fold == k)
            model.fit(parts.X.take(fit), parts.y[fit])
            wrong[-1] += int((model.predict(parts.X.take(held)) != parts.y[held]).sum())
    assert numbers["validation_wrong"] == wrong
    assert numbers["chosen"] == {"rho": (1.0, 2.0, 5.0)[int(np.argmin(wrong))]}
    assert numbers["early_validation_error"] <= numbers["validation_error"]
    assert numbers["early_error"] == pytest.approx(
        (
            ARBoostClassifier(rho=numbers["early_chosen"]["rho"], n_estimators=numbers["early_rounds"])
            .fit(parts.X, parts.y)
            .predict(parts.X_test)
            != parts.y_test
        ).mean()
    )


def test_a_run_that_ends_early_keeps_its_last_error():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([-1, -1, 1, 1])
    model = SAMMEClassifier(DecisionTree(), n_estimators=9).fit(X, y)
    curve, said = _stages(model, X, -y, 9)
    assert curve.tolist() == [4] * 9
    np.testing.assert_array_equal(said, y)


def test_a_tree_pruned_to_its_root_predicts_the_majority():
    data = toy()
    flipped = replace(data, y=-data.y)  # one of the two has its majority in the second class
    root = Method("CART", "SAMMEClassifier", {}, {"ccp_alpha": [10.0]}, how="tree")
    for d in (data, flipped):
        p = protocol()
        parts = p.parts(d, 0)
        majority = 1 if (parts.y == 1).mean() > 0.5 else -1
        assert p.run(parts, root).numbers["test_error"] == (parts.y_test != majority).mean()


def test_noise_is_refused_for_several_classes():
    data = replace(toy(), classes=("a", "b", "c"))
    with pytest.raises(ValueError, match="two classes"):
        protocol(noise=0.1).parts(data, 0)


def test_every_weak_learner_and_noise_level_has_its_block():
    assert [b.protocol.learner for b in BINARY] == ["stumps", "depth3", "cart"]
    assert sorted({b.protocol.noise for b in NOISE}) == [0.1, 0.2, 0.3]
    assert {AR.name, ADA.name} <= {m.name for m in NOISE[0].methods}
    assert sum(len(b.problems) for b in MULTICLASS if b.protocol.learner == "cart") == 6


def test_the_spheres_are_split_as_in_the_paper_and_followed_round_by_round():
    data = SPHERE_BLOCK.problems[0].data()
    p = SphereProtocol(rounds=5)
    parts = p.parts(data, 0)
    assert (len(parts.y), len(parts.y_test)) == (2000, 10_000)
    radius = (parts.X_val**2).sum(axis=1)
    assert radius[parts.y_val == 1].max() < 9.3418177656 < radius[parts.y_val == -1].min()
    numbers = p.run(parts, SPHERE_BLOCK.methods[0]).numbers
    assert len(numbers["curve"]) == len(numbers["errors"]) == 5
    assert numbers["test_error"] == numbers["curve"][-1] / 10_000
