"""What a comparison is asked for: which boosters are meant, and whether the rest is possible."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import get_tags

from boostlab.boosters import REGISTRY
from boostlab.comparison.peers import NAMES
from boostlab.studies.request import RequestError, check_jobs

LEAST_ROWS = 100  # of which a comparison may draw


def short_name(name: str) -> str:
    """Return a booster's name as people say it.

    Examples
    --------
    >>> short_name("AdaBoostClassifier")
    'AdaBoost'
    """
    return name.removesuffix("Classifier")


def choose(names: Sequence[str] | None = None) -> list[str]:
    """Return the registry's names of the boosters meant, each once, in the order given.

    Parameters
    ----------
    names : sequence of str, optional
        Names with or without "Classifier", in any case and punctuation; None is all boosters.

    Returns
    -------
    list of str

    Examples
    --------
    >>> choose(["logitboost", "AdaBoost.M2", "LogitBoostClassifier"])
    ['LogitBoostClassifier', 'AdaBoostM2Classifier']
    """
    if names is None:
        return list(REGISTRY)
    if isinstance(names, str):
        raise RequestError(f"boosters={names!r} is one string; give a list of names, such as [{names!r}].")
    if not names:
        raise RequestError("No booster was named; name at least one, or leave the choice out to compare all.")
    known = {_plain(name): name for name in REGISTRY}
    return list(dict.fromkeys(_find(name, known) for name in names))


def _plain(name: str) -> str:
    """Return the letters and digits that tell one booster from another."""
    return "".join(filter(str.isalnum, name.casefold())).removesuffix("classifier")


def _find(name: str, known: dict[str, str]) -> str:
    plain = _plain(name)
    if plain in known:
        return known[plain]
    if plain in NAMES:
        raise RequestError(
            f"{NAMES[plain]} is a yardstick and no booster of boostlab: it takes part by itself where it is installed "
            "(--with-peers no leaves it out); name boosters only."
        )
    near = get_close_matches(plain, known, n=1, cutoff=0.75)
    if near:
        raise RequestError(f"There is no booster {name!r}; did you mean {short_name(known[near[0]])}?")
    known_by = sorted(map(short_name, known.values()), key=str.casefold)
    raise RequestError(f"There is no booster {name!r}; choose from {', '.join(known_by)}.")


def able(names: Sequence[str], n_classes: int) -> tuple[list[str], dict[str, str]]:
    """Return the boosters that can take so many classes, and why the others cannot.

    Parameters
    ----------
    names : sequence of str
        Names in the registry.
    n_classes : int
        Number of classes.

    Returns
    -------
    list of str, dict from str to str

    Examples
    --------
    >>> able(["AdaBoostClassifier", "AdaBoostM2Classifier"], 2)
    (['AdaBoostClassifier', 'AdaBoostM2Classifier'], {})
    """
    left_out = {
        name: f"it takes two classes, and these data have {n_classes}"
        for name in names
        if n_classes > 2 and not get_tags(REGISTRY[name].cls()).classifier_tags.multi_class
    }
    return [name for name in names if name not in left_out], left_out


def check_settings(
    *,
    folds: int,
    repeats: int,
    rounds: int | None,
    noise: Sequence[float],
    random_state: int,
    jobs: int | None = None,
    max_rows: int = LEAST_ROWS,
) -> None:
    """Raise one sentence for the first setting that is not possible on any table.

    Parameters
    ----------
    folds, repeats, rounds, noise, random_state, max_rows
        As in `compare`.
    jobs : int, optional
        As in `boostlab.studies.request.check_jobs`.

    Examples
    --------
    >>> check_settings(folds=1, repeats=1, rounds=None, noise=[0.0], random_state=0)
    Traceback (most recent call last):
    ...
    boostlab.studies.request.RequestError: folds=1 is not possible; cross-validation needs at least 2 parts.
    """
    if folds < 2:
        raise RequestError(f"folds={folds} is not possible; cross-validation needs at least 2 parts.")
    if max_rows < LEAST_ROWS:
        raise RequestError(f"max_rows={max_rows} is not possible; a comparison needs at least {LEAST_ROWS} rows.")
    if repeats < 1:
        raise RequestError(f"repeats={repeats} is not possible; it must be at least 1.")
    if rounds is not None and rounds < 1:
        raise RequestError(f"rounds={rounds} is not possible; boosting needs at least 1 round.")
    if not 0 <= random_state < 2**32:
        raise RequestError(f"The seed {random_state} is not possible; it must be a whole number from 0 to {2**32 - 1}.")
    check_jobs(jobs)
    if not noise:
        raise RequestError("noise is an empty list; give at least one level, such as 0.")
    for level in noise:
        if not 0.0 <= level < 0.5:
            raise RequestError(
                f"noise={level:g} is not possible; it must be at least 0 and below 0.5 (half of the labels wrong)."
            )


def check_classes(y: npt.NDArray[Any], folds: int) -> None:
    """Raise one sentence if labels cannot be cross-validated.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Class labels.
    folds : int
        Number of parts.

    Examples
    --------
    >>> check_classes(np.array([0, 1, 0, 1]), folds=3)
    Traceback (most recent call last):
    ...
    boostlab.studies.request.RequestError: folds=3 is not possible; ...class 0 has only 2.
    """
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise RequestError("All labels are the same; there is nothing to learn.")
    if counts.min() < folds:
        raise RequestError(
            f"folds={folds} is not possible; every part needs a row of every class, and class "
            f"{classes[counts.argmin()]} has only {counts.min()}."
        )


def seconds_of(text: str) -> float:
    """Return a budget in seconds.

    Parameters
    ----------
    text : str
        As people write it.

    Returns
    -------
    float

    Examples
    --------
    >>> seconds_of("5m"), seconds_of("1h30m"), seconds_of("90")
    (300.0, 5400.0, 90.0)
    """
    units = {"h": 3600.0, "m": 60.0, "min": 60.0, "s": 1.0, "": 1.0}
    plain = text.strip().casefold().replace(" ", "")
    parts = re.findall(r"(\d+(?:\.\d+)?)(h|min|m|s|)", plain)
    if not parts or "".join(number + unit for number, unit in parts) != plain:
        raise RequestError(f"The budget {text!r} is not a time; write it as 90s, 5m or 1h30m.")
    seconds = sum(float(number) * units[unit] for number, unit in parts)
    if not seconds > 0.0:
        raise RequestError(f"The budget {text!r} leaves no time; give at least a second.")
    return seconds
