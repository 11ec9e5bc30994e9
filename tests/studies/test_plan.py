"""What tells one cell from another: the code of a booster, and not where that code lies or how it is explained."""

from __future__ import annotations

from types import SimpleNamespace

from boostlab.boosters import REGISTRY
from boostlab.studies import plan, schedule

HERE = '''"""A rule."""
from boostlab.here import (
    exp,  # of the row
    log,
)


def alpha(e):
    """Step 3."""
    return log((1 - e) / e) / 2
'''
THERE = """import boostlab.there as log

# The vote.
def alpha(e):
    'Step 3'

    return log((1 - e) / e) / 2  # half
"""


def test_a_rule_that_is_moved_or_explained_better_is_the_same_code():
    assert plan.statements(HERE) == plan.statements(THERE) == "def alpha(e):\n    return log((1 - e) / e) / 2"
    assert plan.statements(HERE.replace("/ 2", "/ 3")) != plan.statements(HERE)
    assert plan.statements('text = "# no comment"') == 'text = "# no comment"'


def test_a_rewritten_rule_keeps_its_cells(monkeypatch):
    """Where golden models are the same to the bit; a chain of rewritings would need the first hash in every line."""
    same = plan.same_code()
    assert not set(same) & set(same.values())
    plan.code_version.cache_clear()
    monkeypatch.setattr(plan, "same_code", dict)
    now = plan.code_version("ArcGVClassifier")
    plan.code_version.cache_clear()
    monkeypatch.setattr(plan, "same_code", lambda: {now: "before"})
    assert plan.code_version("ArcGVClassifier") == "before"
    plan.code_version.cache_clear()


def test_cells_from_before_their_rule_was_named_are_found(monkeypatch):
    part = SimpleNamespace(definition=lambda: {})
    parts = part, plan.Method("", "ArcGVClassifier"), part, 0
    plan.code_version.cache_clear()
    monkeypatch.setattr(plan, "same_code", dict)
    now, other = plan.code_version("ArcGVClassifier"), schedule.kind(plan.Cell(part, plan.Method("", ""), part, 0))
    computed = schedule.kind(plan.Cell(*parts))
    plan.code_version.cache_clear()
    for module in (plan, schedule):
        monkeypatch.setattr(module, "same_code", lambda: {now: "before"})
    cell = plan.Cell(*parts)
    place = schedule.Place("", cell, "", SimpleNamespace(data="d"))
    assert schedule.kind(cell) != computed == schedule.rewritten_kind(cell)
    assert place.computes("d", computed[:16])
    assert place.computes("d", schedule.kind(cell)[:16])
    assert not place.computes("e", computed[:16])
    assert not place.computes("d", other[:16])
    plan.code_version.cache_clear()


def test_the_code_that_a_booster_is_made_of_is_part_of_its_definition(monkeypatch):
    """A formula beside the rule, a program it solves, a default, a booster whose voters it starts from."""
    before = {name: plan.code_version(name) for name in ("L1BoostClassifier", "ERLPBoostClassifier")}
    sources, whole = [], plan.inspect.getsource
    monkeypatch.setattr(plan.inspect, "getsource", lambda thing: sources.append(thing.__name__) or whole(thing))
    plan.code_version.cache_clear()
    assert {name: plan.code_version(name) for name in before} == before
    assert {"L1Boost", "less_a_constant", "Exponential", "boostlab.solvers.capped_entropy"} <= set(sources)
    assert "L1BoostClassifier" not in sources  # its documentation may change
    plan.code_version.cache_clear()
    monkeypatch.setattr(REGISTRY["L1BoostClassifier"].cls, "beta", 0.125)
    monkeypatch.setattr(REGISTRY["L1BoostClassifier"].cls, "get_params", lambda self, deep=True: {"beta": self.beta})
    assert plan.code_version("L1BoostClassifier") != before["L1BoostClassifier"]
    plan.code_version.cache_clear()
    alone, after = (plan.Method("x", "RLPBoostClassifier", after=name) for name in ("", "AdaBoostClassifier"))
    assert alone.definition()["code"] != after.definition()["code"]
