"""The advice quotes the study of many sets, and changes with it."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
from pathlib import Path

import numpy as np

from boostlab.comparison import atlas
from boostlab.comparison.advice import advise
from boostlab.comparison.ranking import Ranking, Standing
from boostlab.tables.table import LabelledTable

ROOT = Path(__file__).parents[2]


def line(take="L2Boost, tuned", **own):
    base = {
        "situation": "two classes, few rows",
        "classes": "two",
        "rows": "few",
        "balance": "",
        "noise, %": "0",
        "sets": "14",
        "tuning": "tuned",
        "ranked by": "error",
        "take": take,
        "mean, %": "12.34",
        "mean rank": "3.2",
        "best peer": "CatBoost, tuned",
        "its mean, %": "12.0",
        "its rank": "2.5",
        "difference, points": "-0.3",
        "p": "0.2",
    }
    return base | own


def write(path, lines):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def table(counts=(60, 60)):
    y = np.repeat(np.arange(len(counts)), counts)
    return LabelledTable("t", np.zeros((len(y), 1)), y, tuple("abc"[: len(counts)]), [], "y")


def test_a_table_is_told_of_its_own_kind(tmp_path):
    path = write(tmp_path / "a.csv", [line(), line("MadaBoost, tuned", rows="", **{"noise, %": "20"})])
    assert "L2Boost ranked first" in atlas.sentence(table(), path=path)
    says = atlas.sentence(table(), path=path)
    assert "CatBoost of other libraries' (typically 0.3 points better, not distinguishably)" in says
    assert "MadaBoost ranked first" in atlas.sentence(table(), noise=True, path=path)
    assert atlas.sentence(table((60, 60, 60)), path=path) == ""
    assert atlas.sentence(table(), path=tmp_path / "none.csv") == ""


def test_a_difference_that_rounds_to_nothing_has_no_direction():
    assert "(typically equal)" in atlas.said(line(**{"difference, points": "-0.03"}))
    more = {"ranked by": "AUC", "difference, points": "0.4", "p": "0.01"}
    assert "(typically 0.4 points better, distinguishably so)" in atlas.said(line(**more))


def test_the_sentence_is_part_of_the_advice():
    best = Standing("AdaBoost", "AdaBoostClassifier", cost=0.1, splits=5, seconds=0.1, rounds=10)
    ranking = Ranking(0.0, [best], 5, True, 0.4, 0.01)
    said = advise([ranking], "a", "In our study of 14 sets ...").sentences
    assert said[-1] == "In our study of 14 sets ..."
    assert len(said) == 1 + len(advise([ranking], "a").sentences)


def test_lists_are_made_of_a_full_run_only(tmp_path):
    spec = importlib.util.spec_from_file_location("make_lists_of_atlas", ROOT / "docs" / "make_lists.py")
    lists = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lists)
    write(tmp_path / lists.ATLAS_TABLE, [line("AdaBoost, stumps", tuning="untuned"), line()])
    assert lists.atlas_table(tmp_path) == ""
    (tmp_path / "study.json").write_text(json.dumps({"asked": "quick"}))
    assert lists.atlas_table(tmp_path) == ""
    (tmp_path / "study.json").write_text(json.dumps({"asked": "full"}))
    made = lists.which(lists.atlas_table(tmp_path), all_groups=True)
    own, peer = ("AdaBoost, stumps 12.34 %, rank 3.2", "L2Boost 12.34 %, rank 3.2"), "CatBoost 12.00 %, rank 2.5"
    assert f"| two classes, few rows | 14 | {own[0]} | {peer} | {own[1]} | {peer} |" in made
    surely = line() | {"p": "0.01", "difference, points": "-1.0"}
    write(tmp_path / lists.ATLAS_TABLE, [line("AdaBoost, stumps", tuning="untuned"), surely])
    assert f"| **{peer}** |" in lists.which(lists.atlas_table(tmp_path), all_groups=True)
    assert "few rows" not in lists.which(lists.atlas_table(tmp_path), all_groups=False)
