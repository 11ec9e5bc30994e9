"""A comparison on the terminal: what was understood, the ranking while it grows, and the last word."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from statistics import fmean

from rich import box
from rich.console import Console
from rich.table import Table as View
from rich.text import Text

from boostlab.comparison.metrics import METRICS, Metric
from boostlab.comparison.ranking import Ranking, Standing
from boostlab.comparison.result import Comparison, Design
from boostlab.studies.tables import significant
from boostlab.studies.watch import StudyProgress, duration

LATE = 1.2  # times its budget: more is worth a sentence


def show_plan(console: Console, plan: Design) -> None:
    """Print what was understood of the table, and what will be done.

    Parameters
    ----------
    console : rich Console
    plan : Design
    """
    protocol, names = plan.protocol, [method.name for method in plan.methods]
    chosen = "one hold-out" if protocol.hold_out else f"{protocol.inner} inner parts"
    again = f"{plan.repeats} times " if plan.repeats > 1 else ""
    noisy = [level for level in plan.levels if level]
    facts = {
        **plan.table.facts,
        "Metric": f"{plan.metric.word}: {plan.metric.sentence}"
        + (f", because {plan.because}; --metric NAME chooses another" if plan.because else ""),
        "Boosters": f"{len(names)}: {', '.join(names)}",
        **({"Yardsticks": f"{', '.join(one.name for one in plan.peers)}, at their defaults"} if plan.peers else {}),
        **({"Not these": _by_reason(plan.left_out)} if plan.left_out else {}),
        "Method": f"{again}{protocol.folds} test parts, the same for all boosters; rounds (at most {protocol.rounds}) "
        f"and settings chosen by {chosen} of the training rows",
    }
    if noisy:
        levels = " and ".join(f"{significant(100 * level, 3)} %" for level in noisy)
        facts["Noise"] = f"again with {levels} of the training labels flipped; test labels stay as they are"
    console.print(_facts(facts))
    for warning in plan.table.warnings:
        _say(console, f"Warning: {warning}")


def _by_reason(left_out: Mapping[str, str]) -> str:
    reasons: dict[str, list[str]] = {}
    for name, why in left_out.items():
        reasons.setdefault(why, []).append(name)
    return "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())


def _facts(named: Mapping[str, str]) -> View:
    grid = View.grid(padding=(0, 2))
    for name, text in named.items():
        grid.add_row(Text(name, "bold"), Text(text))
    return grid


def running(progress: StudyProgress, metric: Metric = METRICS["error"]) -> View:
    """Return the boosters by their running means, the lowest cost with the labels as they are first.

    Parameters
    ----------
    progress : StudyProgress
        What is finished so far.
    metric : Metric
        What costs are measured by.

    Returns
    -------
    rich Table
    """
    blocks = list(progress.total)
    names = list(dict.fromkeys(method for _, method in progress.errors))

    def mean(block: str, name: str) -> float:
        errors = progress.errors.get((block, name))
        return fmean(errors) if errors else float("inf")

    view = View(box=box.SIMPLE_HEAD, padding=(0, 1))
    for title in ("", "Booster", "Splits", *(f"{metric.title}\n{block}" for block in blocks), "Seconds\na split"):
        view.add_column(title, justify="left" if title == "Booster" else "right", no_wrap=True)
    for place, name in enumerate(sorted(names, key=lambda name: mean(blocks[0], name)), 1):
        times = [second for block in blocks for second in progress.seconds.get((block, name), ())]
        cells = [metric.show(mean(block, name)) if progress.errors.get((block, name)) else "" for block in blocks]
        view.add_row(
            str(place) if progress.errors.get((blocks[0], name)) else "",
            name,
            str(len(times)),
            *cells,
            f"{fmean(times):.2f}" if times else "",
        )
    return view


def show(console: Console, comparison: Comparison, usual: str) -> None:
    """Print the rankings, what the marks mean, what befell single boosters, and what to choose.

    Parameters
    ----------
    console : rich Console
    comparison : Comparison
    usual : str
        The most frequent class.
    """
    plain = comparison.rankings[0]
    if not any(one.splits for ranking in comparison.rankings for one in ranking.standings):
        return
    console.print(_table(comparison.rankings, usual))
    shared = "the same for all boosters" if plain.fair else "what each has finished: not the same for all"
    parts = f"{plain.splits} part{'s' if plain.splits != 1 else ''}"
    _say(
        console,
        f"{plain.metric.title.removesuffix(' %')}: {plain.metric.sentence}, over {parts} ({shared}). Interval: 95 %, "
        "corrected for training rows that parts share. = : not distinguishable from the best. "
        f"{'* : a yardstick at its defaults, not ranked. ' if plain.peers else ''}"
        "Rounds, seconds: of one training with the chosen settings.",
    )
    for one in plain.standings:
        if one.failed:
            _say(console, f"{one.name} failed on {one.failed} of {one.splits} parts: {one.failure}")
    late = [one.name for one in plain.near if one.at_limit * 2 > one.splits]
    if late:
        _say(console, f"{', '.join(late)} used nearly all rounds allowed: more (--rounds) may do better.")
    console.print()
    for sentence in comparison.advice.sentences:
        _say(console, sentence)
    if comparison.advice.code:
        console.print(Text(f"\n  {comparison.advice.code}\n"), soft_wrap=True)


def _table(rankings: list[Ranking], usual: str) -> View:
    plain, others = rankings[0], rankings[1:]
    view = View(box=box.SIMPLE_HEAD, padding=(0, 1))
    flipped = [f"{significant(100 * ranking.noise, 3)} %\nflipped" for ranking in others]
    m = plain.metric
    titles = ["Rank", "Booster", _heading(m), "Interval", *flipped]
    for title in (*titles, "Rounds", "Seconds"):
        view.add_column(title, justify="left" if title == "Booster" else "right", no_wrap=True)
    places = plain.places()
    for one in plain.standings:
        noisy = [_cost(next(s for s in ranking.standings if s.name == one.name), m) for ranking in others]
        place = "*  " if one.is_peer else "-  "
        if one.ranked and not one.is_peer:
            place = f"{places[one.name]}{' =' if one.near and places[one.name] > 1 else '  '}"
        view.add_row(
            place,
            Text(one.name, "dim" if one.is_peer else ""),
            _cost(one, m),
            _interval(one, m),
            *noisy,
            "" if isnan(one.rounds) else f"{one.rounds:.0f}",
            "" if isnan(one.seconds) else f"{one.seconds:.3f}" if one.seconds < 10 else f"{one.seconds:.0f}",
        )
    if not isnan(plain.baseline):
        constant = Text(f"always {_short(usual)!r}" if m.needs == "labels" else "constant answer", "dim")
        view.add_row("", constant, m.show(plain.baseline), "", *[""] * len(others))
    return view


def _heading(metric: Metric) -> str:
    """Return a title that takes little space: two lines where it is long."""
    return metric.title if len(metric.title) < 10 else metric.title.replace(" ", "\n", 1)


def _short(text: str, most: int = 12) -> str:
    return text if len(text) <= most else f"{text[: most - 2]}.."


def _cost(one: Standing, metric: Metric) -> str:
    if one.failed:
        return "failed"
    return metric.show(one.cost) if one.splits else "..."


def _interval(one: Standing, metric: Metric) -> str:
    return "" if isnan(one.low) else metric.span(one.low, one.high)


def say_end(console: Console, comparison: Comparison, kept: str) -> None:
    """Print why it ended early, if it did, and how to go on.

    Parameters
    ----------
    console : rich Console
    comparison : Comparison
    kept : str
        Where finished cells are kept; empty if nowhere.
    """
    ran = comparison.ran
    done = f"{len(ran.results.rows())} of {ran.planned} cells"
    spent = duration(sum(run.seconds for run in ran.runs))
    if not ran.ended:
        found = "" if ran.computed else " (all were there from earlier runs)"
        _say(console, f"{done} finished{found}; computing took {spent}.")
    elif kept:
        _say(console, f"Not finished, because {ran.ended}: {done} are kept in {kept}; the same command goes on.")
    else:
        _say(console, f"Not finished, because {ran.ended}: {done}.")


def say_time(console: Console, budget: float, compared: float, left: float, prepared: float) -> None:
    """Print where the time went, if it was more than the budget.

    Parameters
    ----------
    console : rich Console
    budget, compared, left, prepared : float
        Seconds: asked for; until the last cell; after it; of the first, those before the first cell.
    """
    if compared + left <= LATE * budget + 1.0:
        return
    parts = {
        "getting ready, for which kernels are compiled once a machine": prepared,
        "comparing, up to the first result of a booster and the end of what was running": compared - prepared,
        "the model and its report": left,
    }
    said = [f"{duration(seconds)} {what}" for what, seconds in parts.items() if seconds > LATE * budget - budget]
    _say(
        console, f"It took {duration(compared + left)}, more than the budget of {duration(budget)}: {'; '.join(said)}."
    )


def _say(console: Console, sentence: str) -> None:
    console.print(Text(sentence))
