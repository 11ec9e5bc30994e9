"""Pictures of a training: scores, steps and costs, round by round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from boostlab.plots.style import GREY, canvas, legend, look, tidy
from boostlab.theory.models import vote_of
from boostlab.theory.variance import svp_cost

MEASURES = {"error": "error", "exponential": "exponential loss", "log_loss": "log loss"}


def learning_curves(
    model: Any,
    X: Any,
    y: Any,
    X_val: Any = None,
    y_val: Any = None,
    *,
    measures: Sequence[str] = ("error", "log_loss"),
    ax: Any = None,
) -> Any:
    """Draw error and loss against rounds, on the training rows and on validation rows.

    Parameters
    ----------
    model : fitted booster
    X, y
        Training rows and labels.
    X_val, y_val : optional
        Validation rows and labels.
    measures : sequence of {"error", "exponential", "log_loss"}, default=("error", "log_loss")
        What to draw; "exponential" is for two classes and one score a row.
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
    >>> axes = plots.learning_curves(model, X, y, measures=["error"])
    >>> axes.get_xlabel()
    'rounds'
    >>> plt.close()
    """
    vote_of(model)
    samples = {"training": (X, y)}
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val go together: give both or neither.")
    if X_val is not None:
        samples["validation"] = (X_val, y_val)
    measures = [measures] if isinstance(measures, str) else measures
    unknown = [measure for measure in measures if measure not in MEASURES]
    if unknown or not measures:
        what = f"measure {unknown[0]!r} is not known" if unknown else "no measure is given"
        raise ValueError(f"{what}; use {', '.join(map(repr, MEASURES))}.")
    ax = canvas(ax)
    number = 0
    for measure in measures:
        for name, sample in samples.items():
            curve = _curve(model, *sample, measure)
            rounds = np.arange(1, len(curve) + 1)
            ax.plot(rounds, curve, label=f"{name} {MEASURES[measure]}", **look(number, points=6))
            number += 1
    ax.set(xlabel="rounds", ylabel=" and ".join(MEASURES[m] for m in measures), ylim=(0, None))
    if model.n_estimators_ >= 50:
        ax.set_xscale("log")
    legend(ax)
    tidy(ax)
    return ax


def _curve(model: Any, X: Any, y: Any, measure: str) -> list[float]:
    codes = model._codes(y, _num_samples(X))
    if measure == "error":
        return [float(np.mean(p != model.classes_[codes])) for p in model.staged_predict(X)]
    if measure == "log_loss":
        rows = np.arange(len(codes))
        return [float(-np.log(P[rows, codes].clip(1e-15)).mean()) for P in model.staged_predict_proba(X)]
    sign = np.where(codes == 1, 1.0, -1.0)
    return [float(np.exp(np.minimum(-sign * F, 700.0)).mean()) for F in _single_scores(model, X)]


def _single_scores(model: Any, X: Any) -> Iterator[Any]:
    """Yield one score a row, round by round, or say that there are more."""
    if len(model.classes_) > 2:
        raise ValueError(
            f"This cost is for two classes and one score a row; {type(model).__name__} tells {len(model.classes_)} "
            "classes apart."
        )
    yield from model.staged_decision_function(X)


def round_facts(model: Any, facts: Sequence[str] | None = None, *, ax: Any = None) -> Any:
    """Draw what happened every round: by default each voter's coefficient α and weighted error ε.

    Boosters that weigh rows without labels (LogitBoost, QuadBoost, LPBoost) have no such error; their edge is drawn in
    its place, where they have one.

    Parameters
    ----------
    model : fitted booster
    facts : sequence of str, optional
        Columns of `history_`.
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
    >>> axes = plots.round_facts(model, ["error"])
    >>> plt.close()
    """
    vote_of(model)
    if facts is None:
        facts = ["alpha", *[fact for fact in ("error", "edge") if fact in model.history_][:1]]
    facts = [facts] if isinstance(facts, str) else facts
    unknown = [fact for fact in facts if fact not in model.history_]
    if unknown:
        raise ValueError(
            f"history_ of {type(model).__name__} has no {unknown[0]!r}; it has {', '.join(map(repr, model.history_))}."
        )
    ax = canvas(ax)
    names = {"alpha": "coefficient α", "error": "weighted error ε"}
    for number, fact in enumerate(facts):
        values = np.asarray(model.history_[fact])
        shown = look(number) | dict(lw=0.9, markersize=3.5)
        ax.plot(np.arange(1, len(values) + 1), values, label=names.get(fact, fact.replace("_", " ")), **shown)
    if "error" in facts:
        ax.axhline(0.5, color=GREY, lw=0.9, linestyle=(0, (1, 3)))
        ax.annotate(
            "1/2", (1, 0.5), xycoords=("axes fraction", "data"), ha="right", va="bottom", color=GREY, fontsize=8
        )
    ax.set(xlabel="round", ylabel=", ".join(names.get(f, f.replace("_", " ")) for f in facts))
    legend(ax)
    tidy(ax)
    return ax


def costs(models: Mapping[str, Any], X: Any, y: Any, *, normalised: bool = False, ax: Any = None) -> Any:
    """Draw 1 + cost against rounds, on a logarithmic scale (VadaBoost's figure 2).

    A model's cost is the variance-penalised cost at its own penalty (`variance_penalty_`), or at 0, which is AdaBoost's
    cost squared, where it has none.

    Parameters
    ----------
    models : mapping from str to fitted booster
        Binary, with one score a row.
    X, y
        Training rows and labels.
    normalised : bool, default=False
        Divide costs by n^2, and add no 1.
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
    >>> axes = plots.costs({"AdaBoost": model}, X, y)
    >>> axes.get_xlabel()
    'rounds'
    >>> plt.close()
    """
    ax, n_rows = canvas(ax), _num_samples(X)
    for number, (name, model) in enumerate(models.items()):
        lam = float(getattr(model, "variance_penalty_", 0.0))
        vote_of(model)
        sign = np.where(model._codes(y, n_rows) == 1, 1, -1)
        found = [svp_cost(F, sign, lam) for F in _single_scores(model, X)]
        curve = [b.value**2 if normalised else 1 + b.terms["cost"] for b in found]
        start = 1.0 if normalised else 1.0 + len(sign) ** 2
        ax.plot(np.arange(len(curve) + 1), [start, *curve], label=name, **look(number, points=6))
    ax.set(xlabel="rounds", ylabel="cost / n²" if normalised else "1 + cost", yscale="log")
    legend(ax)
    tidy(ax)
    return ax
