"""What to choose, in two sentences with reasons, and in a line of Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from boostlab.comparison.ranking import LEVEL, Ranking, Standing
from boostlab.studies.tables import significant

_SLOW = 1.0  # seconds of a training from which on time is a reason
_FASTER = 5.0  # times, to be one


@dataclass(frozen=True)
class Advice:
    """A recommendation.

    Attributes
    ----------
    pick : Standing or None
        The booster to choose; None where no booster has a result.
    sentences : tuple of str
        What to choose and why; and how sure that is.
    code : str
        The booster as Python, with the values that were chosen most often.

    Examples
    --------
    `boostlab.compare` returns one, as the attribute `advice` of its `Comparison`.

    >>> from boostlab.studies import Advice, Standing
    >>> best = Standing("AdaBoost", "AdaBoostClassifier", cost=0.1, splits=5)
    >>> Advice(best, ("Choose AdaBoost: it has the lowest error.",), "AdaBoostClassifier()").pick.name
    'AdaBoost'
    """

    pick: Standing | None
    sentences: tuple[str, ...]
    code: str = ""


def advise(rankings: Sequence[Ranking], usual: str, elsewhere: str = "") -> Advice:
    """Return what to choose.

    Parameters
    ----------
    rankings : sequence of Ranking
        With the labels as they are, and, if that was asked for, with some of them flipped.
    usual : str
        The most frequent class.
    elsewhere : str
        A sentence on what was found on other tables like this one.

    Returns
    -------
    Advice
    """
    plain = rankings[0]
    ranked = plain.ranked
    if not ranked:
        return Advice(None, ("No booster has a result, so there is nothing to recommend.",))
    noisy = rankings[-1] if len(rankings) > 1 and rankings[-1].ranked else None
    pick, why = _pick(plain, noisy)
    settings = _settings(pick)
    choose = "So far choose" if plain.early else "Choose"
    first = f"{choose} {pick.name}{f' with {settings}' if settings else ''}: {why}."
    beside = [_yardstick(plain, pick)] if plain.peers else []
    beside += [elsewhere] if elsewhere else []
    return Advice(pick, (first, _doubts(plain, noisy, pick, usual), *beside), code(pick))


def _yardstick(plain: Ranking, pick: Standing) -> str:
    """Return how the best booster stands beside what people use otherwise."""
    m = plain.metric
    ahead = [one for one in plain.peers if one.cost < plain.ranked[0].cost]
    if sure := [one for one in ahead if one.p <= LEVEL]:
        says = " and ".join(f"{one.name} ({m.say(one.cost)}, p = {significant(one.p)})" for one in sure[:3])
        verb = "is" if len(sure) == 1 else "are"
        return f"But {says}, at defaults, {verb} distinguishably better: take {sure[0].name} if nothing else matters."
    if ahead and plain.splits == 1:
        return f"Of the yardsticks {ahead[0].name} has {m.say(ahead[0].cost)}: one part cannot tell whether by chance."
    if ahead:
        return f"Of the yardsticks {ahead[0].name} has {m.say(ahead[0].cost)}, which is not distinguishable from it."
    first = plain.peers[0]
    return f"No yardstick does better: the best, {first.name} at its defaults, has {m.say(first.cost)}."


def _pick(plain: Ranking, noisy: Ranking | None) -> tuple[Standing, str]:
    best, near, m = plain.ranked[0], plain.near, plain.metric
    top = "highest" if m.flipped else "lowest"
    level = f"its {m.word} of {m.say(best.cost)}"
    if not isnan(best.low):
        level += f" (95 % interval {m.span(best.low, best.high)})"
    costs = f"{_rounds(best.rounds)} {_seconds(best.seconds)}"
    if len(plain.ranked) == 1:
        return best, f"{level} had {'no other booster' if plain.peers else 'nobody'} to be compared with, and {costs}"
    if noisy is not None:
        errors = {one.name: one.cost for one in noisy.ranked}
        flipped = f"with {significant(100 * noisy.noise, 3)} % of the training labels flipped"
        steady = {one.name for one in noisy.near}
        both = [one for one in near if one.name in steady]
        if best.name in errors and best.name not in steady and both:
            calm = min(both, key=lambda one: errors[one.name])
            return calm, (
                f"its {m.word} of {m.say(calm.cost)} is not distinguishable from the {top}, {m.say(best.cost)} "
                f"of {best.name}, and {flipped} it {'falls' if m.flipped else 'rises'} to {m.say(errors[calm.name])} "
                f"only, where {best.name} comes to {m.say(errors[best.name])}"
            )
        if best.name in errors:
            least = "" if best.name not in steady else f" (not distinguishable from the {top})"
            least = f" (the {top}, too)" if noisy.ranked[0].name == best.name else least
            return best, f"{level} is the {top}, {flipped} it is {m.say(errors[best.name])}{least}, and {costs}"
    fast = min(near, key=lambda one: one.seconds)
    if best.seconds > _SLOW and fast.seconds * _FASTER < best.seconds:
        return fast, (
            f"its {m.word} of {m.say(fast.cost)} is not distinguishable from the {top}, {m.say(best.cost)} of "
            f"{best.name}, and it trains {best.seconds / fast.seconds:.0f} times faster ({_seconds(fast.seconds)})"
        )
    shares = [one.name for one in plain.ranked[1:] if f"{one.cost:.12g}" == f"{best.cost:.12g}"]
    lowest = f"is the {top}, with {_names(shares)}" if shares else f"is the {top}"
    return best, f"{level} {lowest}, and {costs}"


def _doubts(plain: Ranking, noisy: Ranking | None, pick: Standing, usual: str) -> str:
    m = plain.metric
    chance = f"always answering {usual!r}, which errs on {m.say(plain.baseline)}"
    if m.name != "error":
        chance = f"the same answer for every row, whose {m.word} is {m.say(plain.baseline)}"
    if plain.early:
        waiting = [one.name for one in plain.standings if not one.splits and not one.is_peer]
        verb = "has" if len(waiting) == 1 else "have"
        more = f", and {_names(waiting)} {verb} no result yet" if waiting else ""
        done = f"{plain.splits} of {plain.planned} test parts"
        return f"But that is over {done}{more}: let it finish before you rely on it."
    if plain.splits < 2:
        return f"One split does not say how much of that is chance; compare it with {chance}."
    if not plain.baseline_p <= LEVEL or plain.ranked[0].cost >= plain.baseline:
        return f"But it is not distinguishable from {chance}: the columns may say little about the target."
    others = [one for one in plain.near if one is not pick]
    if others:
        verb = "is" if len(others) == 1 else "are"
        fastest = min([pick, *others], key=lambda one: one.seconds)
        speed = ""
        if fastest is not pick and fastest.seconds * 2 < pick.seconds:
            speed = f": {fastest.name} trains fastest ({_seconds(fastest.seconds)})"
        return (
            f"Over {plain.splits} splits {_names([one.name for one in others])} {verb} not distinguishable from the "
            f"best, so another may be as good{speed}."
        )
    if len(plain.ranked) == 1:
        return f"It is better than {chance}."
    after = next(one for one in plain.ranked if one is not pick)
    gap = abs(m.value(after.cost) - m.value(pick.cost))
    by = f"{gap:.1f} points" if m.percent else significant(gap)
    return f"All others are distinguishably worse over {plain.splits} splits, the next, {after.name}, by {by}."


def code(one: Standing) -> str:
    """Return a booster as Python, with the values that were chosen most often.

    Examples
    --------
    >>> code(Standing("VadaBoost", "VadaBoostClassifier", rounds=80, chosen={"max_leaf_nodes": 8}))
    'boostlab.VadaBoostClassifier(n_estimators=80, max_leaf_nodes=8)'
    """
    return f"boostlab.{one.booster}({', '.join(f'{name}={value!r}' for name, value in parameters(one).items())})"


def parameters(one: Standing) -> dict[str, object]:
    """Return the parameters of a booster: the median of the rounds, and the values that were chosen most often."""
    return {"n_estimators": round(one.rounds), **_spoken(one)}


def _spoken(one: Standing) -> dict[str, object]:
    return {name: value for name, value in one.chosen.items() if (name, value) != ("max_leaf_nodes", 2)}


def _settings(one: Standing) -> str:
    own = {name: value for name, value in one.chosen.items() if name != "max_leaf_nodes"}
    leaves = one.chosen.get("max_leaf_nodes", 2)
    voters = "stumps" if leaves == 2 else f"trees of {leaves} leaves"
    return " and ".join([voters, *(f"{name}={_value(value)}" for name, value in own.items())])


def _value(value: object) -> str:
    return significant(value, 6) if isinstance(value, int | float) else str(value)


def _names(names: Sequence[str]) -> str:
    if len(names) > 4:
        names = [*names[:3], f"{len(names) - 3} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _rounds(number: float) -> str:
    return "1 round takes" if round(number) == 1 else f"{number:.0f} rounds take"


def _seconds(seconds: float) -> str:
    return f"{significant(seconds)} s" if seconds < 10 else f"{seconds:.0f} s"
