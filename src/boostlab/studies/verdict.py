"""What a comparison says, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from boostlab.studies.request import short_name
from boostlab.studies.result import Comparison, Summary


def verdict(comparison: Comparison) -> list[str]:
    """Return one sentence a level of noise: which booster had the lowest error, and how sure that is.

    A lead of at most the winner's own standard error is called what it is: no clear difference.

    Parameters
    ----------
    comparison : Comparison
        Complete or not.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from boostlab.studies import Cell, Comparison
    >>> errors = {"AdaBoostClassifier": (0.10, 0.12), "LogitBoostClassifier": (0.20, 0.22)}
    >>> cells = [Cell(b, 0.0, 0, fold, e) for b, pair in errors.items() for fold, e in enumerate(pair)]
    >>> print(*verdict(Comparison(list(errors), [0.0], folds=2, repeats=1, cells=cells)))
    On clean labels AdaBoost had the lowest error, 11.00 %; the next, LogitBoost at 21.00 %, is more than one standard
    error (1.00 points) behind.
    """
    return [_sentence(level, comparison.ranking(level)) for level in comparison.noise]


def _sentence(level: float, ranking: Sequence[Summary]) -> str:
    where = f"With {100 * level:.3g} % of the training labels flipped" if level else "On clean labels"
    full = [s for s in ranking if s.whole]
    if not full:
        return f"{where} no booster finished."
    best, sure = full[0], full[0].standard_error
    tied = [s for s in full if s.place == best.place]
    had = f"{where} {_names(tied)} {'shared' if len(tied) > 1 else 'had'} the lowest error, {100 * best.error:.2f} %"
    rest = full[len(tied) :]
    if len(full) == 1:
        return (
            f"{where} {short_name(best.booster)} had an error of {100 * best.error:.2f} %; nothing to compare it with."
        )
    if not rest:
        return f"{had}."
    if isnan(sure):
        return f"{had}; one fit each does not say how much of that is chance."
    near = [s for s in rest if s.error - best.error <= sure]
    if near:
        verb = "is" if len(near) == 1 else "are"
        return (
            f"{had}; {_names(near)} {verb} within one standard error ({100 * sure:.2f} points) of it, so the "
            "difference may be chance."
        )
    behind = f"the next, {short_name(rest[0].booster)} at {100 * rest[0].error:.2f} %"
    return f"{had}; {behind}, is more than one standard error ({100 * sure:.2f} points) behind."


def _names(summaries: Sequence[Summary]) -> str:
    names = [short_name(s.booster) for s in summaries]
    if len(names) > 4:
        names = [*names[:3], f"{len(names) - 3} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
