"""Who takes part in a comparison, and what is tried of each: a few values of what matters most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from boostlab.boosters import REGISTRY, REGRESSORS
from boostlab.comparison.request import able, choose, short_name
from boostlab.studies.plan import Method
from boostlab.studies.request import RequestError

LARGE = 500_000  # cells of a table from which on fewer boosters are compared, and rounds chosen by one hold-out

# Who takes part where no booster is named, by the evidence of our studies; all others do by name, or by "all".
# A booster or two of every family: the baseline first, then the strongest, so that a short budget has both.
_TWO_CLASSES = (
    *("AdaBoost", "LogitBoost", "GentleBoost", "L2Boost"),
    *("VadaBoost", "QuadBoost", "MadaBoost", "BrownBoost"),
)
_MORE_CLASSES = ("SAMME", "LogitBoost", "AdaBoostM1", "AdaBoostM2", "AdaBoostMH", "VadaBoost")
_FAST = {2: ("AdaBoost", "LogitBoost", "MadaBoost", "VadaBoost"), 3: ("SAMME", "LogitBoost", "AdaBoostM2", "VadaBoost")}
_MUCH = 500_000_000  # cells times classes from which on some boosters take hours, and why
_TAKE_HOURS = {"LogitBoost": "it grows a tree a class and round"}

_LEAVES = (2, 8, 16, 31)
_LEAVES_OF_MANY = (4, 8, 16, 31)  # a stump tells two classes from each other
_LEAVES_OF_SMALL = (2, 4, 8, 16, 31)  # of many classes: a larger tree tells few rows apart, and boosting ends with it
_SMALL = 20_000  # cells

# How long a search takes, that of the first booster being 1, where it was measured to be far from it: german, spambase
# and a part of adult; all of adult; satimage, vowel and wine; wine quality.  A first guess of the time that is left:
# what is seen of a booster replaces it.
_EFFORTS = {"LogitBoost": 0.8, "L2Boost": 0.8, "MadaBoost": 0.45, "BrownBoost": 0.45}
_EFFORTS_OF_LARGE = {"LogitBoost": 2.0, "VadaBoost": 1.4}
_EFFORTS_OF_MANY = {"LogitBoost": 3.5, "AdaBoostM1": 0.6, "AdaBoostM2": 2.0, "AdaBoostMH": 3.0, "VadaBoost": 1.3}
_EFFORTS_OF_NUMBERS = {"{}": 1.0, "additive {}": 0.2, "pairwise {}": 0.45}

# What a sum of trees may say of numbers: each its own method, because one can be drawn and another is exact.
_OF_NUMBERS: dict[str, dict[str, tuple[Any, ...]]] = {
    "{}": {"max_leaf_nodes": (8, 16, 31), "learning_rate": (0.1, 0.3)},
    "additive {}": {"max_leaf_nodes": (2,), "learning_rate": (0.1, 0.5)},  # one curve a column
    "pairwise {}": {"max_leaf_nodes": (3,), "learning_rate": (0.1, 0.3)},  # at most two columns interact
}


def suitable(asked: Sequence[str] | None, n_classes: int, n_cells: int) -> tuple[list[Method], dict[str, str]]:
    """Return the boosters to compare, and why others are not.

    Parameters
    ----------
    asked : sequence of str or None
        Names; "all" is every booster that can take the classes; None is a good choice for the table.
    n_classes : int
        Number of classes; 0 is a number to predict.
    n_cells : int
        Rows times columns.

    Returns
    -------
    methods : list of Method
    left_out : dict from str to str
        Boosters that were asked for, or would have been chosen, and why they do not take part.

    Examples
    --------
    >>> methods, _ = suitable(["samme", "AdaBoost"], 3, 1000)
    >>> [(method.name, dict(method.grid)) for method in methods]
    [('SAMME', {'max_leaf_nodes': (2, 4, 8, 16, 31), 'learning_rate': (1.0, 0.1)}),
     ('AdaBoost', {'max_leaf_nodes': (2, 4, 8, 16, 31), 'learning_rate': (1.0, 0.1)})]
    """
    if not n_classes:
        return _regressors(asked)
    left_out: dict[str, str] = {}
    usual = _TWO_CLASSES if n_classes == 2 else _MORE_CLASSES
    if asked is None:
        too_much = n_classes > 2 and n_cells * n_classes > _MUCH
        fast = [name for name in _FAST[min(n_classes, 3)] if not (too_much and name in _TAKE_HOURS)]
        names = choose(fast if n_cells > LARGE else usual)
        if n_cells > LARGE:
            slow = [name for name in usual if name not in fast]
            left_out = dict.fromkeys(slow, "the table is large; name them in --boosters to have them")
        if too_much:
            hint = f"with {n_classes} classes so large a table takes it hours; name it in --boosters to have it"
            left_out |= {name: f"{why}, and {hint}" for name, why in _TAKE_HOURS.items()}
    else:
        all_of_them = not isinstance(asked, str) and [name.strip().casefold() for name in asked] == ["all"]
        # Of equals the first is recommended: rather one of the usual than one of many.
        names, unable = able(list(dict.fromkeys(choose(usual) + choose())) if all_of_them else choose(asked), n_classes)
        left_out = {short_name(name): why for name, why in unable.items()}
    if not names:
        raise RequestError(
            f"None of the boosters asked for takes {n_classes} classes; try {', '.join(_MORE_CLASSES)}, or leave the "
            "choice out."
        )
    of_two = _EFFORTS_OF_LARGE if n_cells > LARGE else _EFFORTS
    efforts = of_two if n_classes == 2 else _EFFORTS_OF_MANY
    return [
        Method(short, name, grid=_grid(name, n_classes, n_cells), effort=efforts.get(short, 1.0))
        for short, name in ((short_name(name), name) for name in names)
    ], left_out


def _regressors(asked: Sequence[str] | None) -> tuple[list[Method], dict[str, str]]:
    known = {name.removesuffix("Regressor"): name for name in REGRESSORS}
    if asked is not None and [name.strip().casefold() for name in asked] != ["all"]:
        plain = {name.casefold(): name for name in known}
        wanted = [name.strip().casefold().removesuffix("regressor") for name in asked]
        others = [name for name, low in zip(asked, wanted, strict=True) if low not in plain]
        if others:
            raise RequestError(f"{others[0]} does not predict numbers; these do: {', '.join(known)}.")
        known = {plain[name]: known[plain[name]] for name in wanted}
    return [
        Method(how.format(short), name, grid=grid, effort=_EFFORTS_OF_NUMBERS[how])
        for short, name in known.items()
        for how, grid in _OF_NUMBERS.items()
    ], {}


def _grid(name: str, n_classes: int, n_cells: int) -> Mapping[str, tuple[Any, ...]]:
    entry = REGISTRY[name]
    own = {**entry.grid, **(entry.grid_of_large if n_classes > 2 and n_cells > LARGE else {})}
    if not entry.trees:
        return own
    if n_classes == 2:
        return {"max_leaf_nodes": _LEAVES, **own}
    return {"max_leaf_nodes": _LEAVES_OF_SMALL if n_cells < _SMALL else _LEAVES_OF_MANY[n_cells > LARGE :], **own}
