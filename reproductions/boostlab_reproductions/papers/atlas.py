"""Our own study: where does the AdaBoost line stand among what people use?

Sets, contenders, hypotheses and analysis were registered before the first run: studies/atlas/registration.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from boostlab.studies.hypotheses import Expected, Hypothesis
from boostlab.studies.plan import Block, Method
from boostlab.studies.study import Study
from boostlab_reproductions.papers.atlas_contenders import (
    AUTO,
    BROWN_AFTERWARDS,
    CONTROLS,
    PEERS,
    PROGRAMS,
    SEVERAL_CLASSES,
    TWO_CLASSES,
    all_of,
    is_tuned,
)
from boostlab_reproductions.papers.atlas_folds import FOLDS
from boostlab_reproductions.papers.atlas_report import report
from boostlab_reproductions.problems import (
    ATLAS_LARGE,
    ATLAS_NOISY_SEVERAL,
    ATLAS_NOISY_TWO,
    ATLAS_OPENML,
    ATLAS_QUICK_SEVERAL,
    ATLAS_QUICK_TWO,
    ATLAS_SEVERAL,
    ATLAS_SMALL,
    ATLAS_TWO,
)
from boostlab_reproductions.protocols.atlas import Atlas
from boostlab_reproductions.protocols.atlas_folds import AtlasFolds

TWO, SEVERAL, PROGRAM = "two classes", "several classes", "programs"
NOISE, LATER = ", 20 % noise", ", afterwards"
CONTROL = ", controls"
QUICK = ", quick"
ROUNDS = {TWO: 300, SEVERAL: 100}
SIZES = (500, 2000, 4000)


def _hypothesis(name: str, method: str, opponent: str, where: str, expected: Expected) -> Hypothesis:
    says = {"lower": "a lower error than", "higher": "a higher error than", "not lower": "no lower error than"}[
        expected
    ]
    who = f"{method}," if ", " in method else method
    return Hypothesis(
        name, f"{who} has {says} {opponent} ({where}).", where, method, opponent, expected, primary=name[0] == "H"
    )


HYPOTHESES = (
    _hypothesis("H1", "LightGBM, tuned", "LogitBoost, tuned", TWO, "not lower"),
    _hypothesis("H2", "LightGBM, tuned", "LogitBoost, tuned", SEVERAL, "not lower"),
    _hypothesis("H3", "AdaBoost, stumps", "HistGradientBoosting, default", TWO, "higher"),
    _hypothesis("H4", "AdaBoost, stumps", "HistGradientBoosting, default", SEVERAL, "higher"),
    _hypothesis("H5", "XGBoost, tuned", "AdaBoost, tuned", TWO, "not lower"),
    _hypothesis("H6", "BrownBoost, tuned", "AdaBoost, tuned", TWO + NOISE, "lower"),
    _hypothesis("H7", "MadaBoost, stumps", "LightGBM, default", TWO + NOISE, "lower"),
    _hypothesis("H8", "EBM, reduced", "LogitBoost, stumps", TWO, "not lower"),
    _hypothesis("H9", "AutoBoost", "LightGBM, default", TWO, "lower"),
    _hypothesis("H10", "CatBoost, default", "AutoBoost", TWO, "lower"),
    _hypothesis("E1", "AutoBoost", "LightGBM, default", SEVERAL, "lower"),
    _hypothesis("E2", "logistic regression, tuned", "AdaBoost, stumps", TWO, "higher"),
    _hypothesis("E3", "LogitBoost, tuned", "LogitBoost, 8 leaves", TWO, "lower"),
    _hypothesis("E4", "RobustBoost, tuned", "AdaBoost, tuned", TWO + NOISE, "lower"),
)

AFTERWARDS = tuple(
    _hypothesis(f"A{k + 1}", method, opponent, where, "lower")
    for k, (method, opponent, where) in enumerate(
        (
            ("AdaBoost, 8 leaves", "AdaBoost, stumps", TWO),
            ("AdaBoost, 31 leaves", "AdaBoost, stumps", SEVERAL),
            ("LogitBoost, 8 leaves", "LogitBoost, stumps", TWO),
            ("LogitBoost, 8 leaves", "LightGBM, default", TWO),
            ("LogitBoost, 8 leaves", "LightGBM, default", SEVERAL),
            ("LogitBoost, 8 leaves", "CatBoost, default", TWO),
            ("AutoBoost", "CatBoost, default", SEVERAL),
            ("random forest, default", "AutoBoost", TWO + NOISE),
            *((f"{one.name}, tuned", "BrownBoost, tuned", TWO + NOISE + LATER) for one in BROWN_AFTERWARDS),
            *((f"{one.name}, tuned", "AdaBoost, tuned", TWO + NOISE + LATER) for one in BROWN_AFTERWARDS),
        )
    )
)
"""What was asked once the results were known."""


def studies() -> list[Study]:
    """Return the study of this file."""
    return [
        Study(
            name="atlas",
            title="Where does the AdaBoost line stand among what people use?",
            source="Our own, registered before the run ([registration](registration.md)).",
            blocks=tuple(_blocks()),
            assumptions=_ASSUMPTIONS,
            report=partial(report, hypotheses=HYPOTHESES, afterwards=AFTERWARDS),
            missing=(
                "Boosters that solve a program (LPBoost and its kin) on sets of 800 rows and more, and with several "
                "classes: they would take hours.",
                "EBM at its defaults: 14 bags with interactions took 164 s where AdaBoost took 0.01 s.",
                "Several classes with boosters that tell one class from the rest, but for BrownBoost, GentleBoost and "
                "L2Boost; EBBoost with trees, whose criterion only stumps search.",
                "OpenML's folds of 9 of the 20 CC18 sets, which are not known here; CatBoost and tuned contenders on "
                "those of the other 11, which would take hours.",
            ),
        )
    ]


_ASSUMPTIONS = (
    "In every repeat a third of the rows (at most 2,000) tests and at most 1,000 of the others train, by class; no "
    "training table has more than 300,000 numbers (MNIST: 380 rows). Larger sizes have blocks of their own.",
    "Defaults are the library's, trained on all training rows; our boosters with stumps, trees of 8 and of 31 leaves.",
    "Tuned: six candidates each, trained on three quarters of the training rows; error on the last quarter chooses "
    "candidate and rounds (at most 300, with several classes 100), of equals the strongest regularisation; the choice "
    "is trained on all training rows. What is made to end answers by its last round.",
    "Every cell runs on one thread. Seconds are processor seconds of the last fit, after a fit of a few rows that "
    "loads and compiles; the search is counted apart. Size is that of the saved model, a pickle for scikit-learn and "
    "EBM.",
    "Log loss is that of everybody's own `predict_proba`: boosters of the AdaBoost line do not promise probabilities "
    "unless `calibrate` is set, and it is not.",
    "Classes of fewer than 10 rows are left out of a set. Noise: exactly 20 % of the training labels, also of those "
    "that choose; the labels that test are clean.",
    "OpenML's folds: the first three of ten; one tests and all other rows train. Contenders are untuned.",
    "No set is unseen: our defaults were chosen with some of them at hand, and so were the peers'.",
)


def _blocks() -> list[Block]:
    two = [*all_of(*TWO_CLASSES), AUTO, *all_of(*PEERS)]
    several = [*all_of(*SEVERAL_CLASSES), AUTO, *all_of(*PEERS)]
    programs = [*all_of(*PROGRAMS), *_of(two, "AdaBoost", "LogitBoost")]
    sized = [m for m in _of(two, "AdaBoost", "GentleBoost", "LogitBoost", "MadaBoost") if _has(m, "8 leaves", "tuned")]
    sized += [AUTO, *all_of(*(peer for peer in PEERS if peer.name != "EBM"))]
    later = [m for m in [*_of(two, "AdaBoost", "BrownBoost"), *all_of(*BROWN_AFTERWARDS)] if is_tuned(m.name)]
    folded = [m for m in [*_of(several, "AdaBoost", "LogitBoost"), AUTO, *all_of(*PEERS)] if not is_tuned(m.name)]
    folded = [m for m in folded if m.name != "CatBoost, default"]  # three quarters of the time of all
    rounds, many = Atlas(ROUNDS[TWO]), Atlas(ROUNDS[SEVERAL])
    noisy, noisy_many = Atlas(ROUNDS[TWO], 0.2), Atlas(ROUNDS[SEVERAL], 0.2)
    return [
        Block(TWO, ATLAS_TWO, two, rounds, _only("full", 2)),
        Block(SEVERAL, ATLAS_SEVERAL, several, many, _only("full", 2)),
        Block(PROGRAM, ATLAS_SMALL, programs, rounds, _only("full", 2)),
        Block(TWO + NOISE, ATLAS_NOISY_TWO, _without_trees(two), noisy, _only("full", 2)),
        Block(SEVERAL + NOISE, ATLAS_NOISY_SEVERAL, _without_trees(several), noisy_many, _only("full", 1)),
        *(Block(f"{size:,} rows", ATLAS_LARGE, sized, _of_size(size), _only("full", 1)) for size in SIZES),
        Block(TWO + NOISE + LATER, ATLAS_NOISY_TWO, later, noisy, _only("full", 2)),
        Block(TWO + CONTROL, ATLAS_TWO, all_of(*CONTROLS), rounds, _only("full", 2)),
        Block(TWO + NOISE + CONTROL, ATLAS_NOISY_TWO, all_of(*CONTROLS), noisy, _only("full", 2)),
        Block(FOLDS, ATLAS_OPENML, folded, AtlasFolds(ROUNDS[TWO]), _only("full", 3)),
        Block(TWO + QUICK, ATLAS_QUICK_TWO, two, rounds, _only("quick", 1)),
        Block(SEVERAL + QUICK, ATLAS_QUICK_SEVERAL, several, many, _only("quick", 1)),
    ]


def _of_size(rows: int) -> Atlas:
    return Atlas(ROUNDS[TWO], most_train=rows, most_numbers=10**7)


def _only(tier: str, repeats: int) -> dict[str, int]:
    return {"quick": 0, "full": 0, tier: repeats}


def _of(methods: Sequence[Method], *contenders: str) -> list[Method]:
    return [m for m in methods if m.name.rpartition(", ")[0] in contenders]


def _has(method: Method, *forms: str) -> bool:
    return method.name.rpartition(", ")[2] in forms


def _without_trees(methods: Sequence[Method]) -> list[Method]:
    """Return all but our boosters' defaults with trees: under noise stumps and the tuned forms are run."""
    return [m for m in methods if not m.booster or is_tuned(m.name) or _has(m, "stumps")]
