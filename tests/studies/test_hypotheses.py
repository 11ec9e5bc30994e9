"""Registered hypotheses: verdicts by size, interval and correction, over sets and over families of them."""

from functools import partial

import numpy as np
import pytest

from boostlab.studies.hypotheses import Hypothesis, in_short, judge, means_over_repeats
from boostlab.studies.plan import Block, Method, Outcome
from boostlab.studies.study import Done, Results
from boostlab_reproductions.papers.lambda_report import DEFAULTS, report, what_follows
from boostlab_reproductions.papers.lambda_study import CLEAN, HYPOTHESES, studies
from boostlab_reproductions.problems import FAMILIES

SETS = [f"set {k}" for k in range(20)]


class Named:
    def __init__(self, name):
        self.name = name


def results(errors, drop=()):
    """Make a block of two repeats from mean errors in percent, a list a method."""
    block = Block("errors", [Named(s) for s in SETS], [Method(m, "") for m in errors], None, {})
    done = [
        Done("errors", s, m, r, Outcome({"test_error": (e + (-1) ** r) / 100}))
        for m, column in errors.items()
        for s, e in zip(SETS, column, strict=True)
        for r in range(2)
        if (s, m, r) not in drop
    ]
    return Results([block], done)


def verdict(difference, expected="lower", pilot=-0.2, others=0):
    base = np.linspace(5, 30, 20)
    found = results({"a": base + difference, "b": base})
    one = Hypothesis("H1", "a against b", "errors", "a", "b", expected, pilot)
    return judge(found, [one, *[one] * others], {}, 0.1)[0]


def test_verdicts():
    steady, wavering = np.full(20, -0.2) + 0.01 * np.arange(20), 2.0 * (-1.0) ** np.arange(20)
    assert verdict(steady).verdict == "holds"
    assert verdict(-steady).verdict == "does not hold"
    assert verdict(-steady, "higher", 0.2).verdict == "holds"
    assert verdict(wavering).verdict == "cannot be judged"  # zero and the pilot's difference are both possible
    assert verdict(0.01 * wavering).verdict == "does not hold"  # the pilot's is not
    assert verdict(0.01 * wavering, "not lower").verdict == "holds"
    assert verdict(wavering, "not lower").verdict == "cannot be judged"
    assert verdict(steady, "not lower").verdict == "does not hold"
    near = np.where(np.arange(20) < 18, -0.3, 0.4)
    assert verdict(near, others=5).verdict == "partly"  # only without the correction
    assert verdict(near).verdict == "holds"


def test_verdicts_in_short():
    """A line a verdict, with who errs less by how much; what explores is left out."""
    base, steady = np.linspace(5, 30, 20), np.full(20, -0.2) + 0.01 * np.arange(20)
    found = results({"a": base + steady, "b": base, "c": base + 2.0 * (-1.0) ** np.arange(20)})
    pairs = {"H1": ("a", "lower"), "H2": ("c", "lower"), "H3": ("a", "not lower"), "E1": ("a", "lower")}
    asked = [
        Hypothesis(name, "", "errors", method, "b", expected, -0.2, primary=name != "E1")
        for name, (method, expected) in pairs.items()
    ]
    lines = in_short(judge(found, asked, {}, 0.1))
    assert lines[0].startswith("**Holds** (1 of 3 registered hypotheses): H1: a errs less than b (errors) by 0.1")
    assert "H3: a errs less than b (errors) by 0.1" in lines[1]
    assert lines[1].endswith(", expected no less.")
    assert lines[2:] == ["**Cannot be judged** (1 of 3 registered hypotheses): H2: c against b (errors)."]


def test_a_family_counts_once_and_repeats_that_are_missing_do_not_count():
    base = np.linspace(5, 30, 20)
    found = results({"a": base - 0.5, "b": base}, drop={("set 3", "a", 1), ("set 4", "b", 0), ("set 4", "b", 1)})
    problems, means = means_over_repeats(found, "errors")
    assert problems == [s for s in SETS if s != "set 4"]
    assert 100 * (means["a"] - means["b"]) == pytest.approx(np.full(19, -0.5))
    one = Hypothesis("H1", "", "errors", "a", "b", "lower")
    apart, together = (judge(found, [one], of, 0.1)[0] for of in ({}, dict.fromkeys(SETS[:17], "one")))
    assert apart.p_families == apart.p < together.p_families  # 19 sets, and three families
    assert apart.row()["lower on"] == 19
    assert "lower on 19" in apart.claim().evidence
    assert judge(results({"a": base, "c": base}), [one], {}, 0.1) == []


def test_the_lambda_study_sees_what_is_planted():
    """Errors in which λ = 5 helps by two points and auto by none, on all problems; other numbers by chance."""
    (study,) = studies()
    assert len(FAMILIES) == len(study.blocks[0].problems) >= 40
    rng, done = np.random.default_rng(0), []
    for block in study.blocks:
        for cell in block.cells(1):
            gain = 0.02 if "λ" in cell.method.name else 0.0
            error = 0.2 - gain + 0.002 * rng.normal()
            values = [[0.0], [5.0]]
            numbers = {"test_error": error, "log_loss": 0.5, "calibration_error": 0.1, "rounds": 10, "near_cap": 0.0}
            numbers |= {"tied": 1.0, "chosen": {"x": 1.0} if cell.method.grid else {}, "variance_penalty": 5.0}
            numbers["grid"] = {"values": values, "test_errors": [0.2, 0.18]}
            done.append(Done(block.name, cell.problem.name, cell.method.name, cell.repeat, Outcome(numbers)))
    some = [h for h in HYPOTHESES if h.name in ("H1", "H4a", "H5", "H7")]  # judging takes its time
    made = report(Results(study.blocks, done), some)
    verdicts = {claim.text.split(":")[0].split(" ")[0]: claim.verdict for claim in made.claims}
    expected = {"H1": "holds", "H4a": "does not hold", "H5": "holds", "H7": "does not hold"}
    assert verdicts == expected
    each = made.tables["each penalty without a choice"]
    assert [(row["λ"], row["stumps, clean, %"]) for row in each] == [(0.0, 20.0), (5.0, 18.0)]
    against = {row["method"]: row for row in made.tables["everybody against AdaBoost"] if row["where"] == CLEAN}
    assert against["λ = 5"]["difference, points"] == pytest.approx(-2.0, abs=0.1)
    assert against["λ = 5"]["lower on"] == 46
    chance = [row for row in made.tables["against choosing by chance"] if row["where"] == CLEAN]
    controls = {row["method"]: row["against"] for row in chance}
    assert controls["λ = 5"] == "jitter, one run"
    assert controls["rate of 5"] == controls["λ of 5"] == "jitter, best of 5"
    h1 = made.tables["hypotheses"][0]
    assert against["λ = 5"]["95 % from"] == pytest.approx(h1["95 % from"], abs=0.0051)  # one interval, two tables
    assert not any(note.startswith("**What follows.**") for note in made.headline)  # not all hypotheses are judged
    assert any("a λ above 1 in 100%" in note for note in made.notes)
    from matplotlib.figure import Figure

    for draw in made.figures.values():
        partial(draw, Figure())()


@pytest.mark.parametrize(("gain", "follows"), [(0.0, "the defaults stay as they are"), (0.03, "the defaults change")])
def test_the_registration_decides_what_follows(gain, follows):
    """The defaults change if λ = 5 and λ of five beat AdaBoost and all controls, else not."""
    (study,) = studies()
    rng, done = np.random.default_rng(0), []
    for cell in study.blocks[0].cells(1):
        error = 0.2 - (gain if "λ" in cell.method.name else 0.0) + 0.002 * rng.normal()
        numbers = {"test_error": error, "variance_penalty": 0.0}
        done.append(Done(CLEAN, cell.problem.name, cell.method.name, cell.repeat, Outcome(numbers)))
    some = [h for h in HYPOTHESES if h.name in (*DEFAULTS, "H5", "H6")]
    note = what_follows(judge(Results(study.blocks, done), some, {}, 0.1))[0]
    assert follows in note
