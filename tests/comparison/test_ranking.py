"""Rankings and advice, read off cells made by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from boostlab.comparison.advice import _seconds, _settings, advise
from boostlab.comparison.protocol import NestedCV
from boostlab.comparison.ranking import Standing, interval, rank
from boostlab.studies.plan import Block, Method, Outcome
from boostlab.studies.study import Done, Results

SPLITS = 10


def ranking(errors, *, noise=0.0, seconds=None, baseline=0.5, rounds=20, failures=()):
    """Rank boosters by errors given as lists, one a split; None is a cell that is not finished."""
    methods = [Method(name, f"{name}Classifier") for name in errors]
    block = Block("b", [], methods, NestedCV(folds=5, noise=noise), {"full": SPLITS})
    done = []
    for name, of in errors.items():
        for i, error in enumerate(of):
            if name in failures and i == 1:
                done.append(Done("b", "t", name, i, failure="ValueError: no"))
            elif error is not None:
                numbers = {
                    "cost": error,
                    "costs": {"error": error},
                    "z": 40.0 * (baseline - error),
                    "rounds": rounds,
                    "chosen": {"max_leaf_nodes": 2 if i < 4 else 8},
                    "seconds": (seconds or {}).get(name, 0.1),
                    "baseline": baseline + 0.01 * (i % 2),
                }
                done.append(Done("b", "t", name, i, Outcome(numbers)))
    return rank(Results([block], done), block)


def around(mean, wobble=0.01, seed=0):
    return list(mean + wobble * np.random.default_rng(seed).normal(size=SPLITS))


def test_the_interval_is_nadeau_and_bengios():
    errors = around(0.2)
    mean, low, high = interval(errors, 0.25)
    reach = stats.t.ppf(0.975, 9) * np.sqrt((1 / 10 + 0.25) * np.var(errors, ddof=1))
    assert (mean, low, high) == pytest.approx((np.mean(errors), mean - reach, mean + reach))
    assert interval([0.001, 0.1], 0.25)[1] == 0.0
    assert np.isnan(interval([0.1], 0.25)[1:]).all()


def test_no_error_on_any_part_is_not_certainty():
    mean, low, high = interval([0.0] * 5, 0.25, tested=100)
    assert (mean, low) == (0.0, 0.0)
    assert high == pytest.approx(1 - 0.025 ** (1 / 100))  # so likely none of 100 rows is wrong
    assert interval([0.2] * 5, 0.25, tested=50)[1:] == pytest.approx(
        (stats.beta(10, 41).ppf(0.025), stats.beta(11, 40).ppf(0.975))
    )
    assert np.isnan(interval([0.0] * 5, 0.25)[1:]).all()


def test_who_is_near_the_best_and_who_is_not():
    base = around(0.2)
    found = ranking({"Far": [e + 0.1 for e in around(0.2, seed=1)], "Best": base, "Near": around(0.201, seed=2)})
    assert [one.name for one in found.standings] == ["Best", "Near", "Far"]
    assert [one.near for one in found.standings] == [True, True, False]
    assert found.standings[0].p == 1.0
    a, b = np.array(found.standings[2].error), np.array(found.standings[0].error)
    assert a - b == pytest.approx(0.1, abs=0.02)
    assert found.standings[0].chosen == {"max_leaf_nodes": 8}
    assert found.places() == {"Best": 1, "Near": 2, "Far": 3}
    assert ranking({"A": base, "B": base}).places() == {"A": 1, "B": 1}


def test_unfinished_runs_are_compared_over_the_splits_that_all_have():
    easy_first = [0.1, 0.1, 0.1, *[0.9] * 7]
    found = ranking({"A": easy_first, "B": [0.2, 0.2, 0.2, *[None] * 7], "C": [None] * 10})
    assert (found.splits, found.fair) == (3, True)
    assert [one.error for one in found.ranked] == pytest.approx([0.1, 0.2])
    assert [one.name for one in found.standings] == ["A", "B", "C"]
    few = ranking({"A": easy_first, "B": [0.2, *[None] * 9]})
    assert not few.fair


def test_who_ever_failed_is_last_and_says_why():
    found = ranking({"A": around(0.3), "B": around(0.1)}, failures=["B"])
    assert [one.name for one in found.standings] == ["A", "B"]
    assert (found.standings[1].failed, found.standings[1].failure) == (1, "ValueError: no")
    assert "B" not in found.places()


def test_advice_names_the_best_its_settings_and_its_equals():
    found = advise([ranking({"AdaBoost": around(0.2), "MadaBoost": around(0.201, seed=2)})], "no")
    assert found.pick.name == "AdaBoost"
    first, second = found.sentences
    assert first.startswith("Choose AdaBoost with trees of 8 leaves: its error of 20.")
    assert "is the lowest, and 20 rounds take 0.1 s." in first
    assert second.startswith("Over 10 splits MadaBoost is not distinguishable from the best")
    assert found.code == "boostlab.AdaBoostClassifier(n_estimators=20, max_leaf_nodes=8)"


def test_advice_when_the_winner_is_clear():
    found = advise([ranking({"AdaBoost": around(0.2), "MadaBoost": around(0.3, seed=2)})], "no")
    assert "All others are distinguishably worse over 10 splits, the next, MadaBoost, by" in found.sentences[1]


def test_advice_takes_the_fast_one_where_time_matters():
    errors = {"Slow": around(0.2), "Fast": around(0.201, seed=2)}
    assert advise([ranking(errors, seconds={"Slow": 0.5, "Fast": 0.01})], "no").pick.name == "Slow"
    found = advise([ranking(errors, seconds={"Slow": 20.0, "Fast": 1.0})], "no")
    assert found.pick.name == "Fast"
    assert "not distinguishable from the lowest" in found.sentences[0]
    assert "trains 20 times faster" in found.sentences[0]
    clear = {"Slow": around(0.2), "Fast": around(0.3, seed=2)}
    assert advise([ranking(clear, seconds={"Slow": 20.0, "Fast": 1.0})], "no").pick.name == "Slow"


def test_advice_takes_the_steady_one_where_noise_was_asked_for():
    errors = {"Rash": around(0.2), "Calm": around(0.201, seed=2), "Poor": around(0.4, seed=3)}
    noisy = {"Rash": around(0.35), "Calm": around(0.25, seed=4), "Poor": around(0.4, seed=5)}
    found = advise([ranking(errors), ranking(noisy, noise=0.2)], "no")
    assert found.pick.name == "Calm"
    assert "with 20 % of the training labels flipped it rises to 2" in found.sentences[0]
    # A lead under noise that may be chance is no reason to leave the best.
    same = advise([ranking(errors), ranking({**noisy, "Rash": around(0.251)}, noise=0.2)], "no")
    assert same.pick.name == "Rash"
    assert "is the lowest, with 20 % of the training labels flipped it is 25" in same.sentences[0]
    assert "(not distinguishable from the lowest)" in same.sentences[0]


def test_advice_says_when_nothing_was_learnt():
    found = advise([ranking({"AdaBoost": around(0.5), "MadaBoost": around(0.51, seed=2)})], "no")
    assert "not distinguishable from always answering 'no', which errs on 50.5 %" in found.sentences[1]


def test_advice_with_little_to_go_by():
    one_split = [0.2, *[None] * 9]
    found = advise([ranking({"AdaBoost": one_split, "MadaBoost": [0.3, *[None] * 9]})], "no")
    assert found.sentences[0].startswith("So far choose AdaBoost with")
    assert found.sentences[1] == "But that is over 1 of 10 test parts: let it finish before you rely on it."
    waits = advise([ranking({"AdaBoost": around(0.2), "MadaBoost": [None] * 10, "BrownBoost": one_split})], "no")
    assert "MadaBoost has no result yet: let it finish" in waits.sentences[1]
    most = advise([ranking({"AdaBoost": [*around(0.2)[:9], None], "MadaBoost": around(0.4)})], "no")
    assert "All others are distinguishably worse over 9 splits" in most.sentences[1]
    alone = advise([ranking({"AdaBoost": around(0.2)})], "no")
    assert "had nobody to be compared with" in alone.sentences[0]
    assert alone.sentences[1] == "It is better than always answering 'no', which errs on 50.5 %."
    assert advise([ranking({"AdaBoost": [None] * 10})], "no").pick is None


def test_settings_are_named_as_people_write_them():
    """Also where a booster's setting is a word, as the votes of AdaBoost.MH are."""
    one = Standing("MH", "MHClassifier", rounds=9, seconds=0.00002, chosen={"votes": "free", "C": 1e7, "nu": 1e-5})
    assert _settings(one) == "stumps and votes=free and C=10000000 and nu=0.00001"
    assert _seconds(one.seconds) == "0.00002 s"


def test_a_tiny_share_of_noise_is_no_power_of_ten():
    calm, noisy = ranking({"A": around(0.2)}), ranking({"A": around(0.2)}, noise=1e-7)
    both = ranking({"A": around(0.2), "B": around(0.3)}), ranking({"A": around(0.2), "B": around(0.3)}, noise=1e-7)
    assert "with 0.00001 % of the training labels flipped" in advise(both, "yes").sentences[0]
    assert not any("e-" in sentence for sentence in advise([calm, noisy], "yes").sentences)


def test_advice_names_a_better_yardstick_however_early():
    found = ranking({"AdaBoost": [0.2, *[None] * 9], "forest": [0.1, *[None] * 9]})
    marked = [replace(one, is_peer=one.name == "forest") for one in found.standings]
    said = advise([replace(found, standings=marked)], "no").sentences
    assert "had no other booster to be compared with" in said[0]
    assert said[2] == "Of the yardsticks forest has 10.0 %: one part cannot tell whether by chance."
