"""Pictures of the rows' weights: how they concentrate, and on whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from boostlab.plots.style import SHADES, look, pyplot, tidy
from boostlab.theory.weights import row_weights


def weight_concentration(
    model: Any, X: Any, y: Any, names: Sequence[Any] | None = None, *, k: int = 10, axes: Any = None
) -> Any:
    """Draw how the weight gathers on few rows, and on which: above the shares, below the k heaviest rows by name.

    The heaviest rows are those of the largest average weight (influence), the candidates for wrong labels
    (`boostlab.theory.hard_examples`).  Weights are seen by training a copy of the model again.

    Parameters
    ----------
    model : fitted booster
    X, y
        The training rows and labels.
    names : sequence, optional
        What to call the rows; by default the index of a pandas frame, or their numbers.
    k : int, default=10
        How many rows to name.
    axes : two matplotlib Axes, optional
        Where to draw; new ones by default.

    Returns
    -------
    array of two matplotlib Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from boostlab import AdaBoostClassifier, plots
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(100, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    >>> axes = plots.weight_concentration(model, X, y, k=3)
    >>> plt.close()
    """
    seen = row_weights(model, X, y)
    weights = seen.by_round
    n_rounds, n = weights.shape
    if not 1 <= k <= n:
        raise ValueError(f"k={k!r} is not possible; there are {n} rows to name.")
    if axes is None:
        size = (5.5, 2.2 + 0.22 * k + 1.0)
        ratio = dict(height_ratios=[1.0, max(0.16 * k, 0.6)])
        axes = pyplot().subplots(2, 1, figsize=size, layout="constrained", sharex=True, gridspec_kw=ratio)[1]
    above, below = axes
    rounds = np.arange(1, n_rounds + 1)
    few = max(1, round(n / 100))
    heaviest = np.sort(weights, axis=1)[:, ::-1]
    above.plot(rounds, seen.effective_size / n, label="effective sample size / n", **look(0, points=6))
    above.plot(rounds, heaviest[:, :few].sum(axis=1), label=f"weight of the heaviest {few}", **look(1, points=6))
    above.set(ylabel="share", ylim=(0, 1))
    above.legend(frameon=False, fontsize=9)
    tidy(above)

    chosen = np.argsort(-seen.influence, kind="stable")[:k]
    index = X.index if hasattr(X, "iloc") else range(n)
    called = list(index if names is None else names)
    if len(called) != n:
        raise ValueError(f"names must name each of the {n} rows, and holds {len(called)} names.")
    area = (0.5, n_rounds + 0.5, k - 0.5, -0.5)
    image = below.imshow(100 * weights[:, chosen].T, aspect="auto", cmap=SHADES, interpolation="nearest", extent=area)
    below.set(xlabel="round", yticks=range(k), yticklabels=[str(called[i]) for i in chosen])
    below.set_ylabel(f"the {k} rows of the largest average weight")
    below.figure.colorbar(image, ax=below, label="weight, % of all")
    return np.array([above, below], dtype=object)
