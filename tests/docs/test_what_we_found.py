"""The page of findings quotes the studies' own files."""

from __future__ import annotations

import csv
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs" / "what_we_found.md").read_text(encoding="utf-8").split())


def row(study, file, **where):
    with (ROOT / "studies" / study / file).open(encoding="utf-8", newline="") as lines:
        return next(line for line in csv.DictReader(lines) if all(line[k] == v for k, v in where.items()))


def points(value):
    return f"{abs(float(value)):.2f}"


def span(line):
    """The interval without signs, the smaller end first."""
    low, high = sorted(abs(float(line[name])) for name in ("95 % from", "to"))
    return f"{low:.2f} to {high:.2f}"


def test_small_steps_under_noise():
    where = {"where": "stumps, 20 % noise", "method": "rate 0.1"}
    line = row("lambda-study", "everybody-against-adaboost.csv", **where)
    problems = int(row("lambda-study", "hypotheses.csv", hypothesis="H4b")["sets"])
    assert (
        f"**{points(line['difference, points'])} points** ({span(line)}), on {line['lower on']} of {problems}" in PAGE
    )
    worse = row("lambda-study", "hypotheses.csv", hypothesis="H4b")
    assert f"{points(worse['difference, points'])} points ({span(worse)}; registered, holds)" in PAGE
    assert worse["verdict"] == "holds"
    clean = row("lambda-study", "everybody-against-adaboost.csv", where="stumps, clean", method="rate 0.1")
    ends = f"−{points(clean['95 % from'])} to +{points(clean['to'])}"
    assert f"nothing that we can see (−{points(clean['difference, points'])}, {ends})" in PAGE
    took = row("lambda-study", "rounds-and-caps.csv", where="stumps, clean", method="rate 0.1")["rounds"]
    assert f"half of the clean trainings took more than {int(float(took))}," in PAGE


def test_noise_in_one_class():
    line = row("noise-study", "friedman-s-test-and-wilcoxon-s-against-the-control.csv", setting="stumps, class, 20 %")
    assert line["better than the control (Holm, 5 %)"] == "RobustBoost, smooth, QuadBoost, l2"
    assert f"over twelve sets, corrected for {int(line['boosters']) - 1} comparisons" in PAGE
    assert line["sets"] == "12"
    errors = {
        name: f"{float(row('noise-study', 'mean-errors-in-percent.csv', booster=name)['stumps, class, 20 %']):.1f} %"
        for name in ("RobustBoost, smooth", "QuadBoost, l2", "AdaBoost, rate chosen")
    }
    robust, quad, control = errors.values()
    assert f"smooth RobustBoost errs on **{robust}** and QuadBoost (l2) on {quad}, AdaBoost with a tuned rate" in PAGE
    assert f"tuned rate on {control}" in PAGE
    robust, control = (
        f"{float(row('noise-study', 'mean-errors-in-percent.csv', booster=name)['stumps, uniform, 0 %']):.1f} %"
        for name in ("RobustBoost, smooth", "AdaBoost, rate chosen")
    )
    assert f"On clean labels smooth RobustBoost errs on {robust}, the tuned rate on {control}" in PAGE
    least = row("noise-study", "mean-errors-in-percent.csv", booster="L2Boost")
    there, clean = (f"{float(least[f'stumps, {kind} %']):.2f} %" for kind in ("class, 20", "uniform, 0"))
    assert f"L2Boost errs on {there} and on clean labels on {clean}" in PAGE
    with (ROOT / "studies/noise-study/friedman-s-test-and-wilcoxon-s-against-the-control.csv").open() as lines:
        assert sum(bool(one["better than the control (Holm, 5 %)"]) for one in csv.DictReader(lines)) == 1


def test_choosing_gains_by_itself():
    def contest(method, against):
        return row("ebboost-slides", "contests.csv", method=method, against=against)

    plain, chance = contest("EBBoost", "AdaBoost"), contest("AdaBoost, best of 14", "AdaBoost")
    fair = contest("EBBoost", "AdaBoost, best of 14")
    assert f"on {plain['sets better']} of 18 sets" in PAGE
    gains = [points(line["mean difference"]) for line in (chance, plain)]
    assert f"**−{gains[0]} points**, of EBBoost's −{gains[1]}" in PAGE
    said = f"a lower error on {fair['sets better']} sets and a higher one on {fair['worse']}, "
    assert f"{said}−{points(fair['mean difference'])} points on average" in PAGE
    assert f"(p = {float(fair['p (Wilcoxon)']):.2f})".replace("0.", ".") in PAGE


def test_the_rate_not_the_penalty():
    alike, alone = (row("lambda-study", "hypotheses.csv", hypothesis=name) for name in ("H3b", "H1"))
    assert f"**+{points(alike['difference, points'])} points** for λ, −{points(alike['95 % from'])} to +" in PAGE
    assert f"gains {points(alone['difference, points'])} ({span(alone)})" in PAGE
    assert float(alone["Holm p"]) > 0.05
    for name in ("rate of 5", "λ of 5"):
        line = row("lambda-study", "against-choosing-by-chance.csv", where="stumps, clean", method=name)
        assert float(line["Wilcoxon p"]) > 0.05


def test_trees_of_eight_leaves():
    def asked(method, against):
        return row("atlas", "asked-afterwards.csv", method=method, against=against)

    def hypothesis(name):
        return row("atlas", "hypotheses.csv", hypothesis=name)

    ada = asked("AdaBoost, 8 leaves", "AdaBoost, stumps")
    assert f"On {ada['sets']} sets of two classes" in PAGE
    assert f"by **{points(ada['difference, points'])} points** ({span(ada)}; asked afterwards)" in PAGE
    for name, verdict in {"H1": "holds", "H4": "holds", "H5": "holds", "H10": "partly"}.items():
        assert hypothesis(name)["verdict"] == verdict
    several = hypothesis("H4")
    low, high = (f"{float(several[end]):.1f}" for end in ("95 % from", "to"))
    assert f"by {float(several['difference, points']):.1f} points ({low} to {high}; registered, holds)" in PAGE
    for name, text in (("H1", "LogitBoost"), ("H5", "AdaBoost")):
        line = hypothesis(name)
        ends = f"−{points(line['95 % from'])} to +{points(line['to'])}"
        assert f"over {text} ({points(line['difference, points'])}, {ends})" in PAGE
    losses = [row("atlas", "hypotheses-by-log-loss.csv", hypothesis=name) for name in ("H1", "H5")]
    assert max(float(line["Wilcoxon p"]) for line in losses) < 0.05
    first, second = (" to ".join(f"{-float(line[end]) / 100:.2f}" for end in ("to", "95 % from")) for line in losses)
    less = [f"{-float(line['difference, × 100']) / 100:.2f}" for line in losses]
    assert f"log loss is lower by {less[0]} ({first}) and {less[1]} ({second})" in PAGE
    line = hypothesis("H10")
    assert f"by {points(line['difference, points'])} ({span(line)}), in" in PAGE
    seconds = {
        name: float(row("atlas", "all-methods-two-classes.csv", method=name)["seconds"])
        for name in ("CatBoost, default", "AutoBoost")
    }
    assert f"in {seconds['CatBoost, default']:g} seconds a fit to AutoBoost's {seconds['AutoBoost']:g}" in PAGE


def test_no_method_surely_beats_six_rates():
    def against(file, control):
        with (ROOT / "studies" / "atlas" / file).open(encoding="utf-8", newline="") as lines:
            return {line["method"]: line for line in csv.DictReader(lines) if line["control"] == control}

    rows = against("against-controls-two-classes-20-noise.csv", "AdaBoost, stumps (six rates)")
    forest = rows["random forest, tuned"]
    assert f"(random forests by {points(forest['difference, points'])}, −{points(forest['to'])} to " in PAGE
    tuned = {name: line for name, line in rows.items() if name.endswith(", tuned")}
    assert f"Of {len(tuned)} tuned rivals" in PAGE
    assert min(float(line["Holm p"]) for line in tuned.values() if float(line["difference, points"]) < 0) > 0.05


def test_quadboost_instead_of_a_program():
    wins = row("quadboost-table1", "wins.csv", pair="QuadBoost-L1 : LPBoost", on="mean risk of 10 splits")
    assert f"wins {float(wins['wins']):g}, ties {float(wins['ties']):g} and loses {float(wins['losses']):g}" in PAGE
    quad, program = (
        float(row("quadboost-table1", "seconds.csv", algorithm=name)["mean seconds"])
        for name in ("QuadBoost-L1", "LPBoost")
    )
    assert f"{quad:.3f} seconds to LPBoost's {program:.2f}" in PAGE
    assert f"**{program / quad:.0f} times faster**" in PAGE
    line = row("quadboost-table1", "differences.csv", pair="QuadBoost-L1 : LPBoost")
    ends = (points(line["95 % from"]), points(line["to"]))
    assert f"+{points(line['difference, points'])} points (−{ends[0]} to +{ends[1]})" in PAGE
    assert f"{line['voters of the first']} on average, LPBoost {line['of the second']}" in PAGE
