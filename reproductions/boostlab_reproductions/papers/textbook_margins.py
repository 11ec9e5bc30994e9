"""Figures 2.7 and 2.8 of the textbook: margins of AdaBoost on letter, and of arc-gv on clean1."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.plan import Block, Method
from boostlab.studies.statistics import paired_t_test
from boostlab.studies.study import Claim, Done, Report, Results, Study
from boostlab.studies.tables import Spread, mean_and_error
from boostlab_reproductions.problems import CLEAN1, LETTER
from boostlab_reproductions.protocols.textbook import UNPRUNED, Margins
from boostlab_reproductions.published import published

Array = npt.NDArray[Any]

BOOK = "Zhou, Ensemble Methods: Foundations and Algorithms, 2012, chapter 2"


def studies() -> list[Study]:
    """Return the studies of figures 2.7 and 2.8."""
    return [_figure_2_7(), _figure_2_8()]


# -- 2.7: letter -----------------------------------------------------------------------------------------------------

_MARKS = (5, 100, 1000)


def _figure_2_7() -> Study:
    methods = [Method("AdaBoost", "AdaBoostM1Classifier", {"learner": dict(UNPRUNED)})]
    return Study(
        name="textbook-figure2.7",
        title="Errors and margins of AdaBoost with trees on letter",
        source=f"{BOOK}, figure 2.7 (after Schapire, Freund, Bartlett & Lee 1998) and section 2.4.2.",
        blocks=(
            Block("letter", [LETTER], methods, Margins(official=True, marks=_MARKS), {"quick": 0, "full": 1}),
            Block(
                *("letter, 4,000 rows", [LETTER], methods),
                *(Margins(official=True, most_train=4000, marks=_MARKS), {"quick": 5, "full": 0}),
            ),
        ),
        assumptions=(
            "The last 4,000 rows test, as usual. Full tier: the first 16,000 rows train, and there is one run, for "
            "nothing is random.",
            "Quick tier: 4,000 of the 16,000 rows train, drawn anew in every repeat.",
            "AdaBoost.M1 with unpruned trees of at least two cases a leaf (scikit-learn's, by the gini index); the "
            "original has C4.5.",
            "The margin of a row is the share of the vote for its letter less that of the best other letter.",
        ),
        report=_report_2_7,
        reads={"margins_*": None},
    )


def _report_2_7(results: Results) -> Report:
    done = [one for one in results.rows() if one.outcome and one.outcome.numbers["rounds"]]
    cells = [one for one in done if one.block == "letter"] or done
    report = Report()
    if not cells:
        return report
    test, train = (_curves(cells, *names) for names in (("wrong", "n_test"), ("train_wrong", "n_train")))
    by_cell = [_margins(one) for one in cells]
    margins = {t: [found[t] for found in by_cell] for t in by_cell[0] if all(t in found for found in by_cell)}
    report.tables["Errors in percent and margins"] = [
        {
            "rounds": t,
            "training error": _spread(100 * train[:, t - 1], 2),
            "test error": _spread(100 * test[:, t - 1], 2),
            **{name: _spread([_summary(m)[name] for m in samples], 3) for name in _summary(samples[0])},
            "margins <= 0.5, %": _spread([100 * (m <= 0.5).mean() for m in samples], 1),
        }
        for t, samples in margins.items()
    ]
    book = {row["item"]: row["value"] for row in published("zhou_text_values")}
    zero = [int(np.argmax(curve == 0)) + 1 if (curve == 0).any() else None for curve in train]
    there = [z for z in zero if z is not None]
    report.tables["Beside the book"] = [
        {
            "item": "rounds to zero training error",
            "ours": _spread(there, 1) if there else None,
            "book": book["rounds to zero training error on letter"],
        },
        {"item": "rounds shown", "ours": test.shape[1], "book": book["rounds shown on letter"]},
    ]
    report.claims.extend(_claims_of_errors(test, train, zero))
    if len(margins) > 1:
        report.claims.append(_claim_of_margins(margins))
    report.figures["Training and test error"] = lambda figure: _draw_errors(
        figure, train.mean(axis=0), test.mean(axis=0)
    )
    report.figures["Margin distribution"] = lambda figure: _draw_margins(
        figure, {f"{t} rounds": samples for t, samples in margins.items()}
    )
    if len(cells) > 1:
        report.notes.append("Numbers and curves are means over the repeats; margins are those of all repeats together.")
    return report


def _claims_of_errors(test: Array, train: Array, zero: list[int | None]) -> Iterator[Claim]:
    """Yield what the book says of both errors, given the round in which every repeat's training error is zero."""
    there = [z for z in zero if z is not None]
    yield Claim(
        "AdaBoost reaches zero training error in fewer than ten rounds.",
        _in_all([z is not None and z < 10 for z in zero]),
        f"Zero after {_listed(there)} rounds." if there else f"It is {100 * train.min():.2f} % at best.",
    )
    after = [(curve, z) for curve, z in zip(test, zero, strict=True) if z is not None and z < len(curve)]
    if after:
        when, last, least = (
            100 * float(np.mean(values))
            for values in ([c[z - 1] for c, z in after], [c[-1] for c, _ in after], [c.min() for c, _ in after])
        )
        yield Claim(
            "The test error keeps falling after the training error is zero.",
            _in_all([curve[-1] < curve[z - 1] for curve, z in after]),
            f"{when:.2f} % when the training error is zero, {last:.2f} % after {test.shape[1]} rounds; the least "
            f"is {least:.2f} %, after {_listed([int(c.argmin()) + 1 for c, _ in after])} rounds.",
        )


def _claim_of_margins(margins: dict[int, list[Array]]) -> Claim:
    """Return what the book says of the margins, given those of every repeat after some numbers of rounds."""
    first, *_, last = margins.values()
    pairs = zip(first, last, strict=True)
    rises = [bool(np.quantile(late, q) > np.quantile(early, q)) for early, late in pairs for q in (0.01, 0.1)]
    text = "; ".join(
        f"after {t} rounds the least is {np.mean([m.min() for m in samples]):.2f}, a tenth is below "
        f"{np.mean([np.quantile(m, 0.1) for m in samples]):.2f}"
        for t, samples in margins.items()
    )
    return Claim(
        "The margin distribution keeps improving after the training error is zero: small margins grow.",
        _in_all(rises),
        text[0].upper() + text[1:] + ". Large margins shrink at the same time: the distribution gets narrower.",
    )


def _curves(cells: list[Done], wrong: str, of: str) -> Array:
    """Return the errors after every round, one row a cell; as many rounds as all have."""
    curves = [np.array(one.outcome.numbers[wrong]) / one.outcome.numbers[of] for one in cells if one.outcome]
    shortest = min(map(len, curves))
    return np.array([curve[:shortest] for curve in curves])


def _spread(values: Any, digits: int) -> Spread:
    return Spread(*mean_and_error(np.asarray(values, np.float64)), digits)


def _in_all(agree: list[bool]) -> str:
    return "holds" if all(agree) else "partly" if any(agree) else "does not hold"


def _listed(numbers: list[int]) -> str:
    """Return numbers as 5, or as 4 to 6."""
    return str(min(numbers)) if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"


def _margins(one: Done) -> dict[int, Array]:
    """Return the margins of a cell by round, in order."""
    assert one.outcome is not None
    return {t: one.outcome.arrays[f"margins_{t}"] for t in one.outcome.numbers["marks"]}


def _summary(margins: Array) -> dict[str, float]:
    return {
        "minimum margin": margins.min(),
        "margin at 10 %": np.quantile(margins, 0.1),
        "median margin": np.median(margins),
        "mean margin": margins.mean(),
    }


def _draw_errors(figure: Any, train: Array, test: Array) -> None:
    axes = figure.add_subplot()
    rounds = np.arange(1, len(test) + 1)
    axes.semilogx(rounds, 100 * test, label="test")
    axes.semilogx(rounds, 100 * train, label="training")
    axes.set_xlabel("rounds")
    axes.set_ylabel("error, %")
    axes.legend()


def _draw_margins(figure: Any, samples: dict[str, list[Array]]) -> None:
    """Draw the share of margins up to a value, over all samples of a name together."""
    axes = figure.add_subplot()
    for name, parts in samples.items():
        values = np.sort(np.concatenate(parts))
        axes.plot(values, np.arange(1, len(values) + 1) / len(values), label=name)
    axes.set_xlabel("margin")
    axes.set_ylabel("share of training rows up to it")
    axes.legend()


# -- 2.8: arc-gv -----------------------------------------------------------------------------------------------------

_BOTH = {"AdaBoost": "AdaBoostClassifier", "arc-gv": "ArcGVClassifier"}
_SIZES = {"trees of 16 leaves": 16, "stumps": 2}


def _figure_2_8() -> Study:
    blocks = [
        Block(
            *(size, [CLEAN1]),
            [Method(name, booster, {"learner": {"max_leaf_nodes": leaves}}) for name, booster in _BOTH.items()],
            *(Margins(rounds=500, marks=(100, 500)), {"quick": 5, "full": 50}),
        )
        for size, leaves in _SIZES.items()
    ]
    return Study(
        name="textbook-figure2.8",
        title="AdaBoost and arc-gv on clean1: the depth of trees and the margins of stumps",
        source=f"{BOOK}, figure 2.8 (after Reyzin & Schapire 2006) and section 2.4.2 (Breiman 1999).",
        blocks=tuple(blocks),
        assumptions=(
            "Random splits, two thirds to train on; 500 rounds, margins also after 100. The book does not say.",
            "Trees of 16 leaves, as Reyzin and Schapire have them, grown by the gini index, the best leaf first.",
            "arc-gv has no cap on its steps and aims at a margin of at least 0; it is AdaBoost until the training "
            "error "
            "is zero. It ends where the tree found has no edge above the smallest margin: trees are not searched "
            "exhaustively, so this need not be the largest margin possible.",
        ),
        report=_report_2_8,
        reads={"margins_*": None},
    )


def _report_2_8(results: Results) -> Report:
    report, rows = Report(), []
    cells = {
        (size, name): [one for one in results.rows(size) if one.method == name and one.outcome]
        for size in _SIZES
        for name in _BOTH
    }
    for (size, name), done in cells.items():
        if done:
            rows.append({"base learner": size, "booster": name, **_line(done)})
    report.tables["Depth, margins and errors"] = rows
    trees, stumps = _SIZES
    report.claims += [
        _less(cells, trees, "depth", "The trees of arc-gv are deeper than those of AdaBoost, with as many leaves."),
        _less(cells, trees, "minimum_margin", "arc-gv has the larger minimum margin (trees)."),
        _less(cells, trees, "test_error", "arc-gv has the larger test error (trees)."),
        _less(cells, stumps, "minimum_margin", "arc-gv has the larger minimum margin (stumps)."),
        _less(
            *(cells, stumps, "median_margin"),
            "With stumps the margin distribution of AdaBoost is better than that of arc-gv (larger median margin).",
            sign=-1,
        ),
        _less(cells, stumps, "test_error", "arc-gv has the larger test error (stumps)."),
    ]
    report.figures["Tree depth"] = lambda figure: _draw_depth(figure, {n: cells[trees, n] for n in _BOTH})
    for size in _SIZES:
        samples = {n: [_margins(one)[max(_margins(one))] for one in cells[size, n] if _margins(one)] for n in _BOTH}
        if all(samples.values()):
            report.figures[f"Margin distribution, {size}"] = partial(_draw_margins, samples=samples)
    report.notes.append(
        "The figures show all repeats together. On 318 training rows trees of 16 leaves reach large margins in few "
        "rounds with both boosters. With stumps arc-gv converges slowly: its minimum margin may still be below that of "
        "AdaBoost after 500 rounds, although its limit is the largest possible."
    )
    return report


def _value(one: Done, name: str) -> float:
    if name == "depth":
        return float(np.mean(one.outcome.numbers["depths"])) if one.outcome else float("nan")
    return one.number(name)


def _line(done: list[Done]) -> dict[str, Any]:
    names = {
        "mean depth": ("depth", 1.0, 2),
        "minimum margin": ("minimum_margin", 1.0, 3),
        "median margin": ("median_margin", 1.0, 3),
        "mean margin": ("mean_margin", 1.0, 3),
        "rounds": ("rounds", 1.0, 0),
        "test error, %": ("test_error", 100.0, 1),
    }
    return {
        label: Spread(*mean_and_error([scale * _value(one, name) for one in done]), digits)
        for label, (name, scale, digits) in names.items()
    }


def _less(cells: dict[tuple[str, str], list[Done]], size: str, name: str, text: str, sign: int = 1) -> Claim:
    """Judge that AdaBoost has the smaller number (sign = -1: the larger), over the repeats that both have."""
    ours, arc = ({one.repeat: _value(one, name) for one in cells[size, n]} for n in _BOTH)
    both = sorted(ours.keys() & arc.keys())
    if not both:
        return Claim(text, "cannot be judged", "Nothing is computed yet.")
    a, b = np.array([ours[r] for r in both]), np.array([arc[r] for r in both])
    test = paired_t_test(b, a, test_ratio=0.5)  # random splits overlap
    gap, p = sign * test.difference, test.p
    verdict = "does not hold" if gap <= 0 else "holds" if p < 0.05 else "partly"
    scale, unit = (100.0, " %") if name == "test_error" else (1.0, "")
    said = f"arc-gv {scale * b.mean():.3g}{unit}, AdaBoost {scale * a.mean():.3g}{unit}"
    said += f" (paired t-test, corrected for overlapping splits: p = {p:.2g})."
    if verdict == "partly":
        said += " The difference has the right sign but is within chance."
    return Claim(text, verdict, said)


def _draw_depth(figure: Any, cells: dict[str, list[Done]]) -> None:
    axes = figure.add_subplot()
    for name, done in cells.items():
        curves = [
            np.cumsum(d) / np.arange(1, len(d) + 1) for d in (o.outcome.numbers["depths"] for o in done if o.outcome)
        ]
        if not curves:
            continue
        shortest = min(map(len, curves))
        axes.plot(np.arange(1, shortest + 1), np.mean([c[:shortest] for c in curves], axis=0), label=name)
    axes.set_xlabel("rounds")
    axes.set_ylabel("mean depth of the trees so far")
    axes.legend()
