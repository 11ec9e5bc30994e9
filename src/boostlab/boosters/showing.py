"""How a booster looks in a notebook, and what it says to those who ask for what it is not."""

from __future__ import annotations

from html import escape
from typing import Any, Never

import numpy as np

MOST = 8  # features in the picture


class Showing:
    """A compact picture of a fitted model below scikit-learn's own."""

    @property
    def partial_fit(self) -> Never:
        """Refuse: boosting asks all rows in every round."""
        raise AttributeError(
            f"{type(self).__name__} has no partial_fit, because every round asks all rows; for more rounds on the same "
            "rows use warm_start=True, for examples that come as a stream FilterBoostClassifier with fit_stream."
        )

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + summary(self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = dict(super()._repr_mimebundle_(**kwargs))  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += summary(self)
        return bundle


def summary(model: Any) -> str:
    """Return rounds, the reason of the stop, and the most important features as bars; nothing before a fit.

    Parameters
    ----------
    model : Booster
        Fitted or not.
    """
    if not hasattr(model, "n_estimators_"):
        return ""
    names = getattr(model, "feature_names_in_", None)
    share = np.asarray(model.feature_importances_)
    lines = []
    for j in np.argsort(-share, kind="stable")[:MOST].tolist():
        if share[j] > 0:
            name = escape(f"x{j}" if names is None else str(names[j]))
            bar = f'<rect width="{100 * share[j] / share.max():.1f}" height="10" fill="#0072B2"/>'
            svg = f'<svg width="100" height="10" role="img" aria-label="{100 * share[j]:.0f} percent">{bar}</svg>'
            lines.append(f"<tr><td>{name}</td><td>{svg}</td><td>{100 * share[j]:.1f} %</td></tr>")
    head = f"{model.n_estimators_} rounds, {len(names) if names is not None else model.n_features_in_} columns"
    classes = "" if model._numeric else f", {len(model.classes_)} classes"
    table = f"<table>{''.join(lines)}</table>" if lines else ""
    return f"<div><b>{head}{classes}</b>; stopped by {escape(str(model.stop_reason_))}{table}</div>"
