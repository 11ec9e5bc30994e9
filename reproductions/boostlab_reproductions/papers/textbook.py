"""Figures 2.5 and 2.6 of the textbook: a single tree against AdaBoost, in the plane and over all data sets."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.plan import Block, Method
from boostlab.studies.statistics import sign_test, wilcoxon
from boostlab.studies.study import Claim, Report, Results, Study
from boostlab.studies.tables import Spread, difference, mean_and_error, percent
from boostlab_reproductions.papers import textbook_margins
from boostlab_reproductions.problems import TEXTBOOK, PaperProblem
from boostlab_reproductions.protocols.textbook import PRUNED, STUMP, UNPRUNED, Errors
from boostlab_reproductions.published import published

Array = npt.NDArray[Any]

BOOK = "Zhou, Ensemble Methods: Foundations and Algorithms, 2012, chapter 2"

M1 = "AdaBoostM1Classifier"
PRUNING = (
    "Pruned and unpruned J48 trees are CART trees here (scikit-learn's, by the gini index, two branches a node), with "
    "at least two cases a leaf as in J48. Pruning by J48's confidence factor 0.25 is cost-complexity pruning at the "
    "price of one training error a leaf, which is about what that factor asks of a leaf without errors."
)
FIRST = (
    "If the first voter errs on half of the weight or more, the boosted vote is that voter, as in Weka; it happens "
    "with stumps on many classes."
)


def studies() -> list[Study]:
    """Return the studies of the textbook."""
    return [_figure_2_5(), _figure_2_6(), *textbook_margins.studies()]


# -- 2.5: borders ----------------------------------------------------------------------------------------------------

_CLOUDS = PaperProblem(
    "three Gaussians",
    "three_gaussians",
    made=(10_500, 0),
    exact=False,
    reading="The book does not give its data. Three round normal clouds at the corners of a triangle of side 3.5; the "
    "best possible error is 7.0 %.",
)
_TREES = {"pruned tree": PRUNED, "unpruned tree": UNPRUNED, "tree of 8 leaves": {"max_leaf_nodes": 8}}


def _figure_2_5() -> Study:
    methods = [Method(name, M1, {"learner": dict(tree)}) for name, tree in _TREES.items()]
    protocol = Errors(train=500, rounds=10, grid=120)
    return Study(
        name="textbook-figure2.5",
        title="Borders of a single tree and of AdaBoost with ten trees",
        source=f"{BOOK}, figure 2.5 and section 2.3.",
        blocks=(Block("clouds", [_CLOUDS], methods, protocol, {"quick": 5, "full": 50}),),
        assumptions=(
            "500 rows to train on and 10,000 to test on, drawn anew in every repeat from 10,500 that are made once.",
            "AdaBoost is AdaBoost.M1 by re-weighting, ten rounds.",
            "The book does not say which tree: a pruned one, an unpruned one, and one of 8 leaves are all shown.",
            PRUNING,
        ),
        report=_report_2_5,
        reads={"grid_*": 1, "shown": 1},
    )


def _report_2_5(results: Results) -> Report:
    book = {row["item"]: row["value"] for row in published("zhou_text_values")}
    single_book = float(book["three-Gaussians single tree error"])
    boosted_book = float(book["three-Gaussians AdaBoost error (10 trees)"])
    _, methods, boosted = results.matrix("clouds")
    _, _, single = results.matrix("clouds", "single_error")
    report = Report()
    if not boosted.size:
        return report
    rows, better, evidence = [], [], []
    for name, after, before in zip(methods, boosted[0], single[0], strict=True):
        (b, se_b), (s, se_s) = mean_and_error(100 * after), mean_and_error(100 * before)
        rows.append(
            {
                "tree": name,
                "single": Spread(s, se_s, 2),
                "book, single": single_book,
                "single, difference in s.e.": round(difference(s, se_s, single_book), 1),
                "AdaBoost, 10 trees": Spread(b, se_b, 2),
                "book, AdaBoost": boosted_book,
                "boosted, difference in s.e.": round(difference(b, se_b, boosted_book), 1),
            }
        )
        better.append(b < s)
        evidence.append(f"{name} {percent(before, 2)} % alone, {percent(after, 2)} % boosted")
    report.tables["Errors in percent"] = rows
    report.claims.append(
        Claim(
            "AdaBoost of ten trees errs less than a single tree (8.3 % against 9.4 %).",
            "holds" if all(better) else "partly" if any(better) else "does not hold",
            "; ".join(evidence)
            + ". The data are our own, so levels mean little. The clouds overlap, and boosting a tree that is already "
            "near the best possible 7.0 % cannot gain: it chases the rows on the wrong side.",
        )
    )
    first = {one.method: one.outcome.arrays for one in results.rows("clouds") if one.repeat == 0 and one.outcome}
    drawn = {name: arrays for name, arrays in first.items() if "grid_single" in arrays}
    if drawn:
        alone, vote = (np.mean([_border(a[k]) for a in drawn.values()]) for k in ("grid_single", "grid_boosted"))
        report.claims.append(
            Claim(
                "The border of AdaBoost is more flexible than that of a single tree.",
                "holds" if vote > 1.1 * alone else "does not hold",
                f"On the grid of the picture {vote:.0f} pairs of neighbours lie on two sides of AdaBoost's border and "
                f"{alone:.0f} on two sides of the tree's (means over the {len(drawn)} trees).",
            )
        )
        name, arrays = next(iter(drawn.items()))
        report.figures[f"Borders ({name})"] = lambda figure: _draw_borders(figure, arrays)
    return report


def _border(classes: Array) -> int:
    """Return how many neighbours of a square grid differ: how long the border is."""
    side = round(len(classes) ** 0.5)
    grid = classes.reshape(side, side)
    return int((grid[1:] != grid[:-1]).sum() + (grid[:, 1:] != grid[:, :-1]).sum())


def _draw_borders(figure: Any, arrays: dict[str, Array]) -> None:
    (x_low, y_low), (x_high, y_high) = arrays["grid_ends"]
    panels = [("single tree", arrays["grid_single"]), ("AdaBoost", arrays["grid_boosted"])]
    panels += [(f"tree {t + 1}", grid) for t, grid in enumerate(arrays["grid_voters"])]
    figure.set_size_inches(12, 6)
    x, y, label = arrays["shown"].T
    for place, (title, grid) in enumerate(panels, 1):
        axes = figure.add_subplot(2, 6, place)
        side = round(len(grid) ** 0.5)
        axes.imshow(
            grid.reshape(side, side),
            origin="lower",
            extent=(x_low, x_high, y_low, y_high),
            aspect="auto",
            alpha=0.35,
            cmap="viridis",
        )
        axes.scatter(x, y, c=label, s=3 if place <= 2 else 1, cmap="viridis")
        axes.set_title(title, fontsize=9)
        axes.set_xticks([])
        axes.set_yticks([])


# -- 2.6: all sets ---------------------------------------------------------------------------------------------------

_LEARNERS = {"stumps": STUMP, "pruned trees": PRUNED, "unpruned trees": UNPRUNED}


def _figure_2_6() -> Study:
    problems = [replace(problem, encoding="one-hot") for problem in TEXTBOOK]
    methods = [Method(name, M1, {"learner": dict(tree)}) for name, tree in _LEARNERS.items()]
    return Study(
        name="textbook-figure2.6",
        title="AdaBoost.M1 against its base learner over the UCI data sets",
        source=f"{BOOK}, figure 2.6.",
        blocks=(
            Block("all sets", problems, methods, Errors(), {"quick": 0, "full": 20}),
            Block(
                *("all sets, 1,000 rows", problems, methods),
                *(Errors(most_train=1000, most_test=2000), {"quick": 5, "full": 0}),
            ),
        ),
        assumptions=(
            f"The book's 40 sets are not named: these are the {len(problems)} UCI sets at hand, all classes included.",
            "Errors are means over random splits, two thirds to train on (the book does not say how it tested). In the "
            "quick tier at most 1,000 rows train and 2,000 test; the full tier uses all.",
            "AdaBoost.M1 by re-weighting, 50 rounds.",
            "Categories are one column a word; missing values stay and go to the better side.",
            PRUNING,
            FIRST,
        ),
        report=_report_2_6,
    )


def _report_2_6(results: Results) -> Report:
    block = next((b for b in results.blocks if results.rows(b)), None)
    report = Report()
    if block is None:
        return report
    problems, methods, boosted = results.matrix(block)
    _, _, single = results.matrix(block, "single_error")
    report.tables["Errors in percent, single and boosted"] = [
        {
            "data": problem,
            **{
                f"{method}, {what}": Spread(*mean_and_error(100 * errors[i, j]), bold=bool(bold))
                for j, method in enumerate(methods)
                for what, errors, bold in _pair(single, boosted, i, j)
            },
        }
        for i, problem in enumerate(problems)
    ]
    counts = []
    for j, method in enumerate(methods):
        before, after = _means(single[:, j]), _means(boosted[:, j])
        there = ~(np.isnan(before) | np.isnan(after))
        before, after = before[there], after[there]
        if not len(before):
            continue
        signs, test = sign_test(after, before), wilcoxon(after, before)
        ratio = float(np.median(after[before > 0] / before[before > 0])) if (before > 0).any() else float("nan")
        counts.append(
            {
                "base learner": method,
                "boosting better": signs.wins,
                "worse": signs.losses,
                "equal": signs.ties,
                "sign test p": float(f"{signs.p:.2g}"),
                "Wilcoxon p": float(f"{test.p:.2g}"),
                "median error, boosted / single": round(ratio, 2),
            }
        )
        decided = signs.wins + signs.losses
        usual = "holds" if signs.wins >= 0.75 * decided and signs.p < 0.05 else "partly"
        worst = np.argsort(before - after)[: min(3, signs.losses)]
        named = [np.array(problems)[there][k] for k in worst]
        report.claims.append(
            Claim(
                f"AdaBoost usually outperforms its base learner, with a few exceptions: {method}.",
                "cannot be judged" if not decided else usual if signs.wins > signs.losses else "does not hold",
                f"Better on {signs.wins} sets, worse on {signs.losses}, equal on {signs.ties} (sign test p = "
                f"{signs.p:.2g})." + (f" It hurts most on {', '.join(named)}." if named else ""),
            )
        )
    report.tables["Counts"] = counts
    report.figures["Single learner against AdaBoost"] = lambda figure: _draw_scatter(figure, methods, single, boosted)
    equal = [p for p, gap in zip(problems, _means(boosted[:, 0] - single[:, 0]), strict=True) if gap == 0]
    if equal:
        report.notes.append(
            f"Stumps, boosted and not, are equal on {', '.join(equal)}: with many classes a stump errs on half of the "
            "rows or more, which AdaBoost.M1 does not allow."
        )
    return report


def _means(values: Array) -> Array:
    """Return the mean of every row, of what is not missing."""
    return np.array([mean_and_error(row)[0] for row in values])


def _pair(single: Array, boosted: Array, i: int, j: int) -> list[tuple[str, Array, bool]]:
    (a, _), (b, _) = mean_and_error(single[i, j]), mean_and_error(boosted[i, j])
    known = not (isnan(a) or isnan(b))
    return [("single", single, known and a < b), ("boosted", boosted, known and b < a)]


def _draw_scatter(figure: Any, methods: list[str], single: Array, boosted: Array) -> None:
    figure.set_size_inches(12, 4)
    for j, method in enumerate(methods):
        axes = figure.add_subplot(1, 3, j + 1)
        x, y = 100 * _means(boosted[:, j]), 100 * _means(single[:, j])
        end = float(np.nanmax(np.concatenate([x, y, [1.0]])))
        axes.plot([0, end], [0, end], color="0.6", linewidth=1)
        axes.plot(x, y, "o", markersize=4)
        axes.set_xlabel("error of AdaBoost, %")
        axes.set_ylabel("error of the single learner, %")
        axes.set_title(method)
