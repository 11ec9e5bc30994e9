"""Solvers as decisions: in Python they take the step of the general loop, and compiled they are what they are."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab import BrownBoostClassifier, RobustBoostClassifier, SoftMarginBoostClassifier
from boostlab.backend.cpu.kernels.usual_rounds import INTEGERS, SAID
from boostlab.backend.cpu.usual import decisions_of
from boostlab.boosters import brownboost, soft_margin_boost
from boostlab.contract import AGAIN, OTHER, TAKEN
from boostlab.contract.formula import parameters
from boostlab.solvers import drift_rounds

MADE = {
    "RobustBoost": (RobustBoostClassifier, {}),
    "RobustBoost, smooth": (RobustBoostClassifier, {"clip": False, "target_error": 0.2}),
    "RobustBoost, soon over": (RobustBoostClassifier, {"target_error": 0.3}),
    "BrownBoost": (BrownBoostClassifier, {}),
    "BrownBoost, soon over": (BrownBoostClassifier, {"target_error": 0.3}),
    "SoftMargin": (SoftMarginBoostClassifier, {}),
    "SoftMargin, slow": (SoftMarginBoostClassifier, {"learning_rate": 0.3, "power": 2}),
    "SoftMargin, literal": (SoftMarginBoostClassifier, {"penalty": "literal", "C": 0.01}),
}


def by_decisions(rule, s, seen):
    """Return the numbers and sums of a round that a rule's decisions take; None if it is unusual."""
    usual = rule.usual(s)
    numbers, sums, after = list(usual.numbers.values()), s.total(usual.sums), ()
    said = usual.step(sums, numbers)
    if said == TAKEN or said >= OTHER:  # the check is asked next
        while not after or said == AGAIN or said >= OTHER:
            what = usual.others[said - OTHER] if said >= OTHER else usual.after
            seen[what.__name__] += 1
            named = dict(zip(usual.numbers, numbers, strict=True))
            after = s.total(what, *(named[name] for name in parameters(what) if name in named))
            after = after if isinstance(after, tuple) else (after,)
            said = usual.check(after, numbers)
    return (usual, numbers, sums, after) if said == TAKEN else None


def checked(cls, seen):
    """Return the booster whose every step is taken by decisions as well."""

    class Checked(cls):
        def _rule(self):
            rule = super()._rule()
            general = type(rule).step

            def step(self, s, task, h):
                before, made = dict(vars(s.own)), by_decisions(rule, s, seen)
                told = None if made is None else made[0].facts(s, *made[1:])
                own = dict(vars(s.own))
                vars(s.own).update(before)
                answer = general(self, s, task, h)
                seen["rounds"] += 1
                if made is not None:
                    usual, numbers, *_ = made
                    seen["taken"] += 1
                    assert own == vars(s.own)
                    assert told == answer.facts
                    assert (numbers[0], answer.stop) == (answer.alpha, None)
                    if usual.decay is not None:
                        assert numbers[list(usual.numbers).index(usual.decay)] == answer.decay
                return answer

            asked = type(type(rule).__name__, (type(rule),), {"step": step})
            return asked(**{f.name: getattr(rule, f.name) for f in fields(rule)})

    Checked.__name__ = cls.__name__
    return Checked


def noisy(seed, n=400):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n) > 0.5).astype(int)


@pytest.mark.parametrize("made", MADE)
def test_decisions_take_the_step_of_the_general_loop(made):
    (cls, params), seen = MADE[made], Counter()
    for seed in range(3):
        checked(cls, seen)(n_estimators=40, **params).fit(*noisy(seed))
    assert seen["taken"] >= 0.5 * seen["rounds"]


UNPLACED = {soft_margin_boost: "", brownboost: "c per unit log_unit one", drift_rounds: "unit floor"}


@pytest.mark.parametrize("module", UNPLACED)
def test_the_places_of_numbers_are_those_of_their_names(module):
    """Formulas ask for numbers by name, decisions by place."""
    called = [{"missed": "MISS", "t": "TIME"}.get(name, name.upper()) for name in module.NUMBERS]
    places = {name: at for at, name in enumerate(called) if module.NUMBERS[at] not in UNPLACED[module].split()}
    assert {name: getattr(module, name) for name in places} == places
    assert len(set(called)) == len(called)


def test_every_look_is_taken():
    seen = Counter()
    for seed in range(3):
        checked(RobustBoostClassifier, seen)(n_estimators=40, target_error=0.2).fit(*noisy(seed))
    looks = drift_rounds.FIRST, *drift_rounds.LOOKS
    assert all(seen[what.__name__] > 5 for what in looks)


SIZE = st.sampled_from([0.0, 1e-300, 1e-9, 0.01, 0.1, 0.3, 0.5, 1.0, 3.0, 300.0, 1e200])
SIGNED = st.one_of(SIZE, SIZE.map(lambda x: -x), st.floats(-2.0, 2.0))
EDGE = st.sampled_from([1e-7, 0.1, 0.9])
DECISIONS = [
    (module, decision)
    for module in (soft_margin_boost, brownboost, drift_rounds)
    for decision in (module.begin_step, module.end_step)
]


@pytest.mark.parametrize(("module", "decision"), DECISIONS)
@settings(max_examples=60)
@given(data=st.data())
def test_compiled_decisions_are_the_formulas(module, decision, data):
    """Of any numbers, what is written before a round turns out to be unusual is the same, too."""
    n = len(module.NUMBERS)
    numbers = data.draw(st.lists(SIGNED, min_size=n, max_size=n))
    if module is drift_rounds:
        numbers[drift_rounds.TIME] = data.draw(st.sampled_from([0.0, 0.3, 0.9]))
        numbers[drift_rounds.SPREAD] = data.draw(st.sampled_from([1.01, 2.0]))
        numbers[drift_rounds.LOOKING] = data.draw(st.sampled_from([0, OTHER, OTHER + 1, OTHER + 2]))
        numbers[drift_rounds.EDGE] = data.draw(EDGE)
        for at in (drift_rounds.DS, drift_rounds.DT, drift_rounds.WIDTH, drift_rounds.DS_PER_EDGE, drift_rounds.WIDE):
            numbers[at] = abs(numbers[at]) or 0.2
        numbers[drift_rounds.DT] = min(numbers[drift_rounds.DT], 1.0 - numbers[drift_rounds.TIME])
    if module is brownboost:
        numbers[brownboost.ROOT], numbers[brownboost.EDGE] = 1.3, data.draw(EDGE)
    if module is soft_margin_boost:
        numbers[soft_margin_boost.ALPHA] = abs(numbers[soft_margin_boost.ALPHA])
        numbers[soft_margin_boost.HIGH] = data.draw(st.sampled_from([inf, 2.0]))
    sums = [data.draw(st.floats(1e-3, 10.0)), *data.draw(st.lists(st.floats(-2.0, 2.0), min_size=8, max_size=8))]
    if module is soft_margin_boost:
        sums = [abs(x) for x in sums]
    mine, compiled = list(numbers), np.append(numbers, sums)[None]
    ints = np.zeros((1, INTEGERS), np.int64)
    said = decision(sums, mine)
    decisions_of(None, decision, None)(1, n, n + len(sums), compiled, ints)
    assert ints[0, SAID] == said
    assert np.array_equal(compiled[0, :n], mine, equal_nan=True)
