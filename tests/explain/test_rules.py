"""Voters as rules that a person reads."""

from html import escape

import numpy as np
import pandas as pd
import pytest

from boostlab import AdaBoostClassifier, L2BoostRegressor, LogitBoostClassifier
from boostlab.theory import hard_examples


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    job = rng.choice(["clerk", "cook", "driver", "judge"], 300)
    X = pd.DataFrame({"age": rng.integers(20, 60, 300), "job": job})
    return X, np.where((X.age > 37) ^ (rng.random(300) < 0.05), "yes", "no"), np.isin(job, ["cook", "judge"])


def test_stumps_print_as_rules(table):
    X, y, by_job = table
    told = AdaBoostClassifier(n_estimators=1).fit(X, y).rules()
    assert [line.rule for line in told] in (["age > 37.5 → +1, else -1"], ["age ≤ 37.5 → -1, else +1"])
    assert told.lines[0].rule in str(told)
    assert f"<td>{escape(told.lines[0].rule)}</td>" in told._repr_html_()
    (line,) = AdaBoostClassifier(n_estimators=1).fit(X, by_job).rules()
    assert line.rule in ("job in {cook, judge} → +1, else -1", "job in {clerk, driver} → -1, else +1")
    model = AdaBoostClassifier(n_estimators=1).fit(X[["age"]].to_numpy(float), y)
    assert str(model.estimators_[0]) == told.lines[0].rule.replace("age", "x0")
    X_missing = np.where(np.arange(300) % 7, X.age.to_numpy(float), np.nan)[:, None]
    (line,) = AdaBoostClassifier(n_estimators=1).fit(X_missing, np.isnan(X_missing[:, 0]) | (X.age > 37)).rules()
    assert line.rule == "x0 ≤ 37.5 → -1, else +1"  # so that missing values fall under "else"


def test_the_rules_of_a_vote_say_what_it_predicts(table):
    """Every rule, read as a person reads it, gives the voter's own vote."""
    X, y, by_job = table
    model = LogitBoostClassifier(max_leaf_nodes=4, n_estimators=5).fit(X, by_job ^ (y == "yes"))
    for line, voter in zip(model.rules(), model.estimators_, strict=True):
        assert len(line.rule.split("\n")) == voter.n_leaves
        read = np.zeros(len(X))
        for rule in line.rule.split("\n"):
            tests, vote = rule.split(" → ")
            holds = np.ones(len(X), bool)
            for test in tests.split(" and "):
                name, how, what = test.strip("()").removesuffix(" or missing").split(" ", 2)
                names = what.strip("{}").split(", ")
                found = X[name]
                if how == ">":
                    holds &= found > float(what)
                elif how == "≤":
                    holds &= found <= float(what)
                else:
                    holds &= found.isin(names)
            read[holds] += float(vote)
        own = voter.predict(np.column_stack([X.age, pd.Categorical(X.job).codes]).astype(float))
        np.testing.assert_allclose(read, own, rtol=2e-3)


def test_classes_numbers_and_binary_problems(table):
    X, _, _ = table
    y = np.select([X.age < 30, X.age < 45], ["low", "mid"], "high")
    assert "→ low, else high" in str(AdaBoostClassifier(n_estimators=9).fit(X, y).rules())
    per_class = LogitBoostClassifier(n_estimators=2).fit(X, y).rules()
    assert [line.score for line in per_class] == ["high", "low", "mid"] * 2
    reduced = AdaBoostClassifier(n_estimators=2, multiclass="ovr").fit(X, y).rules(1)
    assert [line.score for line in reduced] == ["high", "low", "mid"]
    assert list(reduced.frame.columns) == ["round", "score", "weight", "rule"]
    assert "age " in L2BoostRegressor(n_estimators=1).fit(X, X.age.to_numpy()).rules().lines[0].rule


def test_hard_examples_are_a_table_and_a_frame(table):
    X, y, _ = table
    hard = hard_examples(AdaBoostClassifier(n_estimators=5).fit(X, y), X, y)
    assert repr(hard) == str(hard)
    assert str(hard).split()[:4] == ["row", "weight", "margin", "influence"]
    assert hard._repr_html_().count("<tr>") == 11
    assert hard.frame.row.tolist() == hard.ranking.tolist()


def test_category_names_can_be_read():
    import matplotlib.pyplot as plt

    from boostlab.plots.style import name_categories

    axes = plt.figure().add_subplot()
    name_categories(axes, range(8), ["Married-civ-spouse-of-somebody", *"abcdefg"])
    texts = axes.get_xticklabels()
    assert texts[0].get_text() == "Married-civ-spous…"
    assert texts[0].get_rotation() == 90
    plt.close("all")
