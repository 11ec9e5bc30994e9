"""Pictures of a comparison: errors with intervals, errors by round, errors against time, and what noise does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.comparison.ranking import Ranking
from boostlab.studies.plan import Block
from boostlab.studies.study import Results
from boostlab.studies.tables import significant

Array = npt.NDArray[Any]
Draw = Callable[[Any], None]

NAMES = ("Errors and their intervals", "Errors by round", "Error and time", "What noise does")


def figures(results: Results, blocks: Sequence[Block], rankings: Sequence[Ranking]) -> dict[str, Draw]:
    """Return the pictures that there is something for.

    Parameters
    ----------
    results : Results
        The finished cells.
    blocks : sequence of Block
        One a level of noise.
    rankings : sequence of Ranking
        In the same order.

    Returns
    -------
    dict from str to callable
        Each draws on a matplotlib Figure.
    """
    if not rankings[0].ranked:
        return {}
    drawn: dict[str, Draw] = {
        NAMES[0]: lambda figure: _intervals(figure, rankings[0]),
        NAMES[1]: lambda figure: _curves(figure, results, blocks[0], rankings[0]),
        NAMES[2]: lambda figure: _times(figure, rankings[0]),
    }
    if len(rankings) > 1 and rankings[-1].ranked:
        drawn[NAMES[3]] = lambda figure: _noise(figure, rankings)
    return drawn


def _intervals(figure: Any, ranking: Ranking) -> None:
    axes = figure.add_subplot()
    ranked, value = [one for one in ranking.standings if one.ranked][::-1], ranking.metric.value
    for i, one in enumerate(ranked):
        low, high = (one.cost, one.cost) if np.isnan(one.low) else (one.low, one.high)
        colour = "C1" if one.is_peer else "C0" if one.near else "0.6"
        axes.plot([value(low), value(high)], [i, i], color=colour)
        axes.plot(value(one.cost), i, "o", color=colour)
    axes.axvline(value(ranking.baseline), color="0.3", linestyle=":", linewidth=1)
    above = axes.get_xaxis_transform()
    base = value(ranking.baseline)
    axes.text(base, 1.01, "constant answer", ha="center", fontsize=8, color="0.3", transform=above)
    axes.set_yticks(range(len(ranked)), [one.name for one in ranked])
    axes.set_ylim(-0.6, len(ranked) - 0.1)
    axes.set_xlabel(f"{ranking.metric.title}, 95 % interval (grey: distinguishable from the best; orange: yardstick)")


def _curves(figure: Any, results: Results, block: Block, ranking: Ranking) -> None:
    """Draw the error on the inner parts by round, of the values that every split chose."""
    axes = figure.add_subplot()
    for i, one in enumerate(ranking.ranked):
        cells = [done.outcome.numbers for done in results.rows(block.name) if done.method == one.name and done.outcome]
        longest = max(len(numbers["curve"]) for numbers in cells)
        shares = [
            np.append(curve, np.full(longest - len(curve), curve[-1]))
            for numbers in cells
            for curve in [np.asarray(numbers["curve"], float)]
        ]
        mean = np.array([ranking.metric.value(cost) for cost in np.mean(shares, axis=0)])
        colour = f"C{i}" if i < 10 else "0.7"
        axes.plot(np.arange(1, longest + 1), mean, color=colour, linewidth=1.2, label=one.name)
        at = min(max(round(one.rounds), 1), longest)
        axes.plot(at, mean[at - 1], "o", color=colour, markersize=4)
    _log_axis(axes)
    axes.set_xlabel("round (points: the median of the rounds chosen)")
    axes.set_ylabel(f"{ranking.metric.title} on the inner parts")
    axes.legend(fontsize=8)


def _times(figure: Any, ranking: Ranking) -> None:
    axes = figure.add_subplot()
    for one in ranking.ranked:
        axes.plot(one.seconds, ranking.metric.value(one.cost), "o", color="C0" if one.near else "0.6", markersize=4)
    _log_axis(axes)
    axes.margins(x=0.2, y=0.1)
    axes.set_xlabel("seconds of one training, one thread")
    axes.set_ylabel(ranking.metric.title)
    figure.draw_without_rendering()  # the layout is known after that
    _name_points(axes, [(one.name, one.seconds, ranking.metric.value(one.cost)) for one in ranking.ranked])


def _log_axis(axes: Any) -> None:
    """Let x be logarithmic, with numbers as people write them."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(lambda x, _: significant(x))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _name_points(axes: Any, named: Sequence[tuple[str, float, float]]) -> None:
    """Write names beside points, each at the nearest height at which it does not cover another."""
    high, wide = 9.0, 4.8  # points that a line and a letter of the text take
    axes.autoscale_view()
    to_points = 72.0 / axes.figure.dpi
    bottom, top = (to_points * axes.bbox.y0, to_points * axes.bbox.y1)
    places = {name: to_points * axes.transData.transform((x, y)) for name, x, y in named}
    taken = [(x - 2.0, x + 2.0, y) for x, y in places.values()]  # left, right, height: the points, then the names
    for name, x, y in sorted(named, key=lambda one: one[1]):
        left, height = places[name] + (5.0, 0.0)
        right = left + wide * len(name)
        steps = sorted(range(-40, 41), key=lambda step: (abs(step), -step))
        free = (
            step
            for step in steps
            if bottom + high <= height + high * step <= top - high
            and all(left > r or right < l or abs(height + high * step - h) >= high for l, r, h in taken)
        )
        step = next(free, 0)
        taken.append((left, right, height + high * step))
        line = {"arrowstyle": "-", "color": "0.8", "linewidth": 0.6} if step else None
        axes.annotate(
            name, (x, y), xytext=(5, high * step - 3), textcoords="offset points", fontsize=8, arrowprops=line
        )


def _noise(figure: Any, rankings: Sequence[Ranking]) -> None:
    axes = figure.add_subplot()
    levels = [100 * ranking.noise for ranking in rankings]
    value = rankings[0].metric.value
    errors = [{one.name: value(one.cost) for one in ranking.ranked} for ranking in rankings]
    for name in errors[0]:
        if all(name in of for of in errors):
            axes.plot(levels, [of[name] for of in errors], "o-", markersize=4, label=name)
    axes.set_xticks(levels)
    axes.set_xlabel("training labels flipped, %")
    axes.set_ylabel(rankings[0].metric.title)
    axes.legend(fontsize=8)
