"""Which boosters a study is about: from what people type to names in the registry."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from sklearn.utils import get_tags

from boostlab.estimators import REGISTRY


class RequestError(ValueError):
    """What was asked for is not possible; the message is one sentence for the person who asked."""


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
    near = get_close_matches(plain, known, n=1)
    if near:
        raise RequestError(f"There is no booster {name!r}; did you mean {short_name(known[near[0]])}?")
    raise RequestError(f"There is no booster {name!r}; choose from {', '.join(map(short_name, known.values()))}.")


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
