"""Pictures of margins: cumulative distributions, of many models or of one model over its rounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from boostlab.plots.style import GREY, canvas, legend, look, tidy
from boostlab.theory.margins import margin_curve, margins_of, staged_margins


def margin_distribution(models: Mapping[str, Any], X: Any = None, y: Any = None, *, ax: Any = None) -> Any:
    """Draw the cumulative distribution of the margins, one curve a model.

    Parameters
    ----------
    models : mapping from str to fitted booster, or from str to array of margins
        What to compare.
    X, y : optional
        Rows and labels, for models.
    ax : matplotlib Axes, optional
        Where to draw; new ones by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from boostlab import AdaBoostClassifier, plots
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(100, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    >>> axes = plots.margin_distribution({"AdaBoost": model}, X, y)
    >>> axes.get_xlabel()
    'normalised margin'
    >>> plt.close()
    """
    ax = canvas(ax)
    for number, (name, model) in enumerate(models.items()):
        _draw(ax, margins_of(model, X, y), name, number)
    return _dress(ax)


def margin_rounds(model: Any, X: Any, y: Any, rounds: Iterable[int] | None = None, *, ax: Any = None) -> Any:
    """Draw the cumulative distribution of the margins after some rounds (the textbook's figure 2.7 b).

    Parameters
    ----------
    model : fitted booster
    X, y
        Rows and labels.
    rounds : iterable of int, optional
        After which rounds; by default 1, 10, 100, ... and the last.
    ax : matplotlib Axes, optional
        Where to draw; new ones by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from boostlab import AdaBoostClassifier, plots
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(100, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    >>> axes = plots.margin_rounds(model, X, y, [1, 10])
    >>> len(axes.get_lines())
    3
    >>> plt.close()
    """
    last = model.n_estimators_
    if rounds is None:
        wanted = sorted({*(10**k for k in range(7) if 10**k < last), last})
    else:
        wanted = sorted(set(rounds))
    if not wanted or wanted[0] < 1 or wanted[-1] > last:
        raise ValueError(f"rounds={wanted} is not possible; the model has rounds 1 to {last}.")
    ax = canvas(ax)
    number = 0
    for t, margins in enumerate(staged_margins(model, X, y), start=1):
        if t in wanted:
            _draw(ax, margins, f"{t} round{'s' if t > 1 else ''}", number)
            number += 1
    return _dress(ax)


def _draw(ax: Any, margins: Any, name: str, number: int) -> None:
    values, shares = margin_curve(margins)
    ax.step([-1.0, *values], [0.0, *shares], where="post", label=name, **look(number, points=6))


def _dress(ax: Any) -> Any:
    ax.axvline(0, color=GREY, lw=0.9, linestyle=(0, (1, 3)))
    ax.set(xlabel="normalised margin", ylabel="share of the rows at most so large", xlim=(-1, 1), ylim=(0, 1))
    legend(ax, loc="upper left")
    tidy(ax)
    return ax
