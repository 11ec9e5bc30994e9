"""Label noise: exactly the share asked for, always to another class."""

import numpy as np
import pytest

from boostlab.datasets import flip_by_class, flip_by_margin, flip_labels


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.333, 0.5, 1.0])
@pytest.mark.parametrize("classes", [[-1, 1], ["no", "yes"], [0, 1, 2]])
def test_exactly_the_share_is_flipped(share, classes):
    y = np.random.default_rng(0).choice(classes, 137)
    before = y.copy()
    noisy = flip_labels(y, share, random_state=1)
    assert (noisy != y).sum() == round(share * 137)
    assert set(noisy.tolist()) <= set(classes)
    np.testing.assert_array_equal(y, before)


def test_two_classes_go_to_the_other_class():
    y = np.array([-1, 1] * 20)
    np.testing.assert_array_equal(flip_labels(y, 1.0, random_state=0), -y)


def test_more_classes_go_to_any_other_evenly():
    y = np.zeros(9000, int)
    y[:3] = [1, 2, 3]
    noisy = flip_labels(y, 1.0, random_state=0)[3:]
    np.testing.assert_allclose(np.bincount(noisy, minlength=4) / len(noisy), [0, 1 / 3, 1 / 3, 1 / 3], atol=0.02)


def test_all_rows_are_equally_likely():
    y = np.array([0, 1] * 10)
    flips = np.mean([flip_labels(y, 0.3, random_state=seed) != y for seed in range(2000)], axis=0)
    np.testing.assert_allclose(flips, 0.3, atol=0.05)


def test_more_noise_flips_the_same_labels_and_more():
    y = np.random.default_rng(0).integers(3, size=200)
    little, much = (flip_labels(y, share, random_state=5) for share in (0.1, 0.4))
    np.testing.assert_array_equal(much[little != y], little[little != y])


def test_the_seed_decides():
    y = np.array([0, 1] * 50)
    np.testing.assert_array_equal(flip_labels(y, 0.2, 7), flip_labels(y, 0.2, 7))
    assert (flip_labels(y, 0.2, 7) != flip_labels(y, 0.2, 8)).any()


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_impossible_share(share):
    with pytest.raises(ValueError, match="must be a number from 0 to 1"):
        flip_labels([0, 1], share)


def test_one_class_cannot_be_flipped():
    with pytest.raises(ValueError, match="no other class"):
        flip_labels([1, 1, 1], 0.5)
    assert flip_labels([1, 1, 1], 0.0).tolist() == [1, 1, 1]


def test_independent_flips_have_the_chance_asked_for():
    y = np.zeros(20_000, int)
    y[0] = 1
    counts = [(flip_labels(y, 0.3, seed, independent=True) != y).sum() for seed in range(20)]
    assert len(set(counts)) > 5, "a binomial number, not always the same"
    assert np.mean(counts) == pytest.approx(6000, abs=4 * np.sqrt(20_000 * 0.3 * 0.7 / 20))
    little, much = (flip_labels(y, share, 5, independent=True) != y for share in (0.1, 0.4))
    assert (little <= much).all()


def test_every_class_has_its_own_share():
    y = np.repeat(["a", "b", "c"], [100, 50, 30])
    noisy = flip_by_class(y, {"a": 0.2, "c": 0.5}, random_state=0)
    wrong = noisy != y
    assert [int(wrong[y == label].sum()) for label in "abc"] == [20, 0, 15]
    assert (flip_by_class(y, {"a": 0.1}, 3) != y)[flip_by_class(y, {"a": 0.4}, 3) == y].sum() == 0
    with pytest.raises(ValueError, match="no label 'd'"):
        flip_by_class(y, {"d": 0.1})


def test_noise_near_the_border_is_a_draw_without_replacement():
    margins = np.array([0.0, 1.0, -1.0, 2.0])  # the median of |margin| is 1
    y = np.array([0, 1, 0, 1])
    first = np.mean([flip_by_margin(y, margins, 0.25, seed) != y for seed in range(3000)], axis=0)
    chance = np.exp(-np.abs(margins))
    np.testing.assert_allclose(first, chance / chance.sum(), atol=0.025)


def test_noise_near_the_border_keeps_the_share_and_grows():
    rng = np.random.default_rng(0)
    margins, y = rng.normal(size=500), rng.integers(3, size=500)
    little, much = (flip_by_margin(y, margins, share, 1) for share in (0.1, 0.4))
    assert (little != y).sum() == 50
    np.testing.assert_array_equal(much[little != y], little[little != y])
    even = [flip_by_margin(y, margins, 0.2, seed, concentration=0.0) != y for seed in range(200)]
    assert np.corrcoef(np.mean(even, axis=0), np.abs(margins))[0, 1] == pytest.approx(0.0, abs=0.15)


def test_impossible_margins():
    for margins in ([1.0], [1.0, np.nan]):
        with pytest.raises(ValueError, match="one finite number a label"):
            flip_by_margin([0, 1], margins, 0.5)
    with pytest.raises(ValueError, match="concentration"):
        flip_by_margin([0, 1], [1, 2], 0.5, concentration=-1)
    assert flip_by_margin([0, 1], [0, 0], 1.0).tolist() == [1, 0]
