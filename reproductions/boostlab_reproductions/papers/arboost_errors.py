"""AR-Boost's experiments: algorithms with their grids, blocks, and the errors that come out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.boosters import REGISTRY
from boostlab.studies.plan import Block, Method
from boostlab.studies.study import Results
from boostlab.studies.tables import Spread, mean_and_error
from boostlab_reproductions.problems import ARBOOST_BINARY, ARBOOST_MULTICLASS
from boostlab_reproductions.protocols.arboost import TunedProtocol
from boostlab_reproductions.published import published

Array = npt.NDArray[Any]

SOURCE = "Saha, Kunapuli, Ray, Maldjian & Natarajan 2013"
RHO = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0]
SIZES = ((351, 238), (1000, 675), (768, 531), (198, 141), (569, 423), (4601, 3215), (215, 160))
PRICES = [0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001, 0.0]  # of a leaf, as a share of the weight
NAMES = {"stumps": "stumps", "depth3": "trees of depth 3", "cart": "unpruned CART"}

TREE = Method("CART", "SAMMEClassifier", {}, {"ccp_alpha": PRICES}, how="tree")
ADA = Method("AdaBoost", "AdaBoostClassifier")
AR = Method("AR-Boost", "ARBoostClassifier", {}, {"rho": RHO})
SHRUNK = Method("eps-boost", "AdaBoostClassifier", {}, {"learning_rate": [1.0, 0.3, 0.1, 0.05, 0.01]})
L1 = Method("L1-boost", "L1BoostClassifier", {}, {"beta": [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3]})
ABR = Method("AdaBoost_Reg", "SoftMarginBoostClassifier", {}, {"C": [0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]})
WEIGHT = Method("WeightBoost", "WeightBoostClassifier", {"beta": 0.5})
RIVALS = (SHRUNK, L1, ABR, WEIGHT)
MH = Method("AdaBoost.MH", "AdaBoostMHClassifier")
SAMME = Method("SAMME", "SAMMEClassifier")
TOLERANT = (
    Method("MadaBoost", "MadaBoostClassifier", {"target_error": 0.0}),
    Method("FilterBoost", "FilterBoostClassifier"),
    Method("boost by majority", "BoostByMajorityClassifier", {}, {"gamma": [0.2, 0.1, 0.05, 0.02]}),
    Method("BrownBoost", "BrownBoostClassifier", {}, {"target_error": [0.05, 0.1, 0.2, 0.3]}),
    Method("RobustBoost", "RobustBoostClassifier", {}, {"target_error": [0.05, 0.1, 0.2, 0.3]}),
)
LEVELS = (0.1, 0.2, 0.3)

ASSUMPTIONS = (
    "The weak learner is not said: stumps, trees of depth 3 and CART trees as MATLAB grows them (parents of ten "
    "examples at least, not pruned) stand side by side. A tree grown to the end makes no error, and boosting ends "
    "with it.",
    "Splits have the sizes of the paper's first table: official ones where there are some, else random and stratified, "
    "repeated.",
    "Up to 100 rounds, all of them used unless the rule ends by itself; beside it, as a control, the number of "
    "rounds is chosen by cross-validation, too.",
    "Parameters by five-fold stratified cross-validation of the 0/1 error on the training part (on 2,000 of its rows"
    " where it has more): rho in {1, 1.5, 2, 3, 4, 5, 6, 8, 10}, eps-boost's nu in {1, .3, .1, .05, .01}, L1-boost's"
    " beta in {0, .01, .02, .05, .1, .2, .3}, AdaBoost_Reg's C in {0, .1, .3, 1, 3, 10, 30, 100}, WeightBoost's beta"
    " is .5. Of equals the first of these.",
    "CART alone is a tree pruned by cost complexity, chosen in the same way.",
)
FEWER = ("Full tier: stumps have 50 repeats, trees 20.",)
ONE_REPEAT = (
    "Official split: one repeat, in every tier, for vowel, pen digits, letter, satimage and segmentation. Nothing is "
    "drawn there, so a second repeat would be the same; only thyroid is repeated.",
)
NO_PICTURES = (
    "The bars of Figures 7 and 8: the paper prints its errors as pictures only, and the document that this project has "
    "is the paper's text without them: nothing can be measured. The numbers and sentences of the text are compared.",
)
NOT_RUN_NOISE = (
    "Unpruned CART trees as weak learner under noise: left out for their time; the paper does not say its learner.",
    "Trees of depth 3 as weak learner of AdaBoost_Reg, WeightBoost, MadaBoost, FilterBoost, boost by majority, "
    "BrownBoost and RobustBoost: left out for their time. They run with stumps.",
)
NOISY = (
    "Under noise the learners are stumps and, for AdaBoost, eps-boost and AR-Boost, trees of depth 3.",
    "Every training label is flipped with the probability named, test labels never; parameters are chosen on the noisy "
    "training labels.",
    "Our own noise-tolerant boosters stand beside the paper's three, and AdaBoost with the learning rate chosen in "
    "the same way (eps-boost): what that gains is no merit of robustness.",
    "Their parameters are chosen in the same way: boost by majority's gamma in {.2, .1, .05, .02}, the target error of "
    "BrownBoost and of RobustBoost in {.05, .1, .2, .3}. MadaBoost (target error 0) and FilterBoost have none to "
    "choose.",
)


def _protocol(learner: str, noise: float = 0.0) -> TunedProtocol:
    return TunedProtocol(learner, SIZES, noise, version=2 if learner == "cart" else 1)  # ties in trees of categories


def _there(*methods: Method) -> tuple[Method, ...]:
    return tuple(m for m in methods if m.booster in REGISTRY)


BINARY = (
    Block("stumps", ARBOOST_BINARY, (TREE, ADA, *RIVALS, AR), _protocol("stumps"), {"quick": 5, "full": 50}),
    Block("depth3", ARBOOST_BINARY, (ADA, *RIVALS, AR), _protocol("depth3"), {"quick": 5, "full": 20}),
    Block("cart", ARBOOST_BINARY, (ADA, *RIVALS, AR), _protocol("cart"), {"quick": 5, "full": 20}),
)
_OFFICIAL = tuple(p for p in ARBOOST_MULTICLASS if p.official)
_DRAWN = tuple(p for p in ARBOOST_MULTICLASS if not p.official)
MULTICLASS = tuple(
    Block(
        name + ending, problems, ((TREE,) if name == "stumps" else ()) + _there(MH, SAMME, AR), _protocol(name), often
    )
    for name in NAMES
    for ending, problems, often in (
        ("", _OFFICIAL, {"quick": 1, "full": 1}),
        (", repeated", _DRAWN, {"quick": 5, "full": 50}),
    )
)
NOISE = tuple(
    Block(f"{name}, {level:.0%} noise", ARBOOST_BINARY, methods, _protocol(name, level), often)
    for name, methods, often in (
        ("stumps", (TREE, ADA, SHRUNK, ABR, WEIGHT, *TOLERANT, AR), {"quick": 5, "full": 50}),
        ("depth3", (ADA, SHRUNK, AR), {"quick": 5, "full": 20}),
    )
    for level in LEVELS
)


class BlockErrors:
    """Mean test errors in percent of some blocks, by problem and method.

    Parameters
    ----------
    results : Results
        The finished cells.
    blocks : sequence of str
        Blocks that stand below each other: the same methods on different problems.
    value : str
        Which error.
    """

    def __init__(self, results: Results, blocks: Sequence[str], value: str = "test_error") -> None:
        self.problems: list[str] = []
        self.methods: list[str] = []
        self.values: dict[tuple[str, str], Array] = {}
        for block in blocks:
            problems, methods, values = results.matrix(block, value)
            self.problems += problems
            self.methods += [m for m in methods if m not in self.methods]
            for i, problem in enumerate(problems):
                for j, method in enumerate(methods):
                    here = values[i, j]
                    self.values[problem, method] = 100 * here[np.isfinite(here)]

    def mean(self, problem: str, method: str) -> float:
        """Return the mean over the repeats; NaN where there is none."""
        values = self.values.get((problem, method), np.empty(0))
        return float(values.mean()) if len(values) else float("nan")

    def table(self) -> list[dict[str, Any]]:
        """Return a row a problem: mean and standard error."""
        return [{"data set": p} | {m: self._shown(p, m) for m in self.methods} for p in self.problems]

    def caption(self) -> str:
        """Say what a table shows, and which rows have no standard error."""
        once = [p for p in self.problems if max(len(self.values[p, m]) for m in self.methods) == 1]
        told = "Test errors in percent, mean ± standard error over the repeats."
        return told + (f" One repeat, without a standard error: {', '.join(once)}." if once else "")

    def _shown(self, problem: str, method: str) -> Spread:
        return Spread(*mean_and_error(self.values.get((problem, method), np.empty(0))))

    def lower(self, a: str, b: str) -> tuple[int, int, int]:
        """Return on how many problems a's mean is lower, equal, higher than b's."""
        pairs = [(self.mean(p, a), self.mean(p, b)) for p in self.problems]
        d = np.round([x - y for x, y in pairs if np.isfinite(x) and np.isfinite(y)], 9)
        return int((d < 0).sum()), int((d == 0).sum()), int((d > 0).sum())

    def best(self, problem: str, among: Sequence[str]) -> tuple[str, float]:
        """Return the method with the lowest mean, and that."""
        means = [self.mean(problem, m) for m in among]
        known = [(x, m) for x, m in zip(means, among, strict=True) if np.isfinite(x)]
        return (min(known)[1], min(known)[0]) if known else ("", float("nan"))


def text_values() -> dict[str, Any]:
    """Return the numbers of the paper's text by what they are."""
    return {row["item"]: row["value"] for row in published("arboost_text_values")}


def beside(rows: list[tuple[str, float, Array, str]]) -> list[dict[str, Any]]:
    """Return numbers of the text beside ours: (what, published, our values over the repeats, data set).

    The paper's number is a share of one test part, whose size it prints; so is ours where there is one repeat.
    """
    sizes = {str(row["dataset"]): int(row["test"]) for row in published("arboost_table1_datasets")}
    table: list[dict[str, Any]] = []
    for what, theirs, ours, data in rows:
        if not len(ours):
            continue
        mean, error = mean_and_error(ours)
        p = (mean + theirs) / 200
        drawn = 100 * float(np.sqrt(p * (1 - p) / sizes[data]))
        scale = float(np.hypot(drawn, error if len(ours) > 1 else drawn))
        row: dict[str, Any] = {"what": what, "ours": Spread(mean, error), "published": theirs}
        table.append(
            row | {"difference": round(mean - theirs, 2), "in standard errors": round((mean - theirs) / scale, 1)}
        )
    return table


def failures(results: Results) -> list[str]:
    """Return a sentence for every cell that failed."""
    return [
        f"Failed: {one.method} on {one.problem}, {one.block}, repeat {one.repeat + 1}: {one.failure}"
        for one in results.rows()
        if one.failure
    ]


def verdict(*enough: bool) -> str:
    """Return what a claim is worth of whose parts some hold."""
    return "holds" if all(enough) else "partly" if any(enough) else "does not hold"


def counts(c: tuple[int, int, int]) -> str:
    """Say what `BlockErrors.lower` counted."""
    return f"{c[0]} lower, {c[1]} equal, {c[2]} higher"


def chosen(results: Results) -> list[dict[str, Any]]:
    """Return how often AR-Boost's cross-validation chose every rho."""
    table = []
    for block in results.blocks:
        picked = [
            one.outcome.numbers["chosen"]["rho"]
            for one in results.rows(block)
            if one.method == AR.name and one.outcome is not None
        ]
        if picked:
            row: dict[str, Any] = {"block": block}
            table.append(row | {f"rho = {rho:g}": sum(c == rho for c in picked) for rho in RHO})
    return table


def bars(figure: Any, errors: Sequence[BlockErrors], titles: Sequence[str]) -> None:
    """Draw the bar charts of the paper's figures, one panel an entry; a method has one colour in all of them."""
    figure.set_size_inches(8, 2.2 * len(errors) + 0.8)
    axes = np.atleast_1d(figure.subplots(len(errors), 1))
    names = dict.fromkeys(m for e in errors for m in e.methods if m != AR.name)
    colours = {name: f"C{k}" for k, name in enumerate(names)} | {AR.name: "black"}  # there are but ten colours
    shown: dict[str, Any] = {}
    for ax, e, title in zip(axes, errors, titles, strict=True):
        width = 0.8 / max(len(e.methods), 1)
        for k, method in enumerate(e.methods):
            heights = [e.mean(p, method) for p in e.problems]
            places = np.arange(len(heights)) + k * width
            shown[method] = ax.bar(places, heights, width, color=colours[method])
        ax.set_xticks(np.arange(len(e.problems)) + 0.4 - width / 2, e.problems, fontsize=8)
        ax.set_title(title, fontsize=9)
        ax.set_ylabel("test error, %")
    figure.legend(list(shown.values()), list(shown), loc="outside lower center", ncols=6, fontsize=7)
