"""The voters of a model as rules that a person reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostlab.learners.words import Names

SHOWN = 20  # rules that are printed


@dataclass(frozen=True)
class RuleLine:
    """One voter: its round (from 1), the class or binary problem it is for (or nothing), coefficient and rule."""

    round: int
    score: str
    weight: float
    rule: str


class Rules:
    """The voters of a model as rules.

    Parameters
    ----------
    lines : list of RuleLine
        The voters, by rounds.

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(100, random_state=0)
    >>> len(list(AdaBoostClassifier(n_estimators=3).fit(X, y).rules()))
    3
    """

    def __init__(self, lines: list[RuleLine]) -> None:
        self.lines = lines

    def __iter__(self) -> Iterator[RuleLine]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def frame(self) -> Any:
        """All rules as a frame of pandas or polars, or a list of dicts, whichever is installed."""
        told = [vars(line) for line in self.lines]
        for name in ("pandas", "polars"):
            with suppress(ImportError):
                return import_module(name).DataFrame(told)
        return told

    def _cells(self) -> list[list[str]]:
        scores = any(line.score for line in self.lines)
        head = ["round", *(["score"] if scores else []), "weight", "rule"]
        cells = [head]
        for line in self.lines[:SHOWN]:
            first = [str(line.round), *([line.score] if scores else []), f"{line.weight:.3f}"]
            for text in line.rule.split("\n"):
                cells.append([*first, text])
                first = [""] * len(first)
        return cells

    @property
    def _more(self) -> str:
        return f"... and {len(self) - SHOWN:,} more" if len(self) > SHOWN else ""

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(len(line[k]) for line in cells) for k in range(len(cells[0]) - 1)]
        lines = ["  ".join([*(c.rjust(w) for c, w in zip(line, widths, strict=False)), line[-1]]) for line in cells]
        return "\n".join([*lines, *filter(None, [self._more])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *lines = self._cells()
        body = "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in line)}</tr>" for line in lines)
        return f"<table><tr>{''.join(f'<th>{c}</th>' for c in head)}</tr>{body}</table>{self._more}"


def rules(model: Any, most: int | None = None) -> Rules:
    """Return a model's voters as rules.

    Parameters
    ----------
    model : Booster
        Fitted.
    most : int, optional
        Of how many rounds; None is all.
    """
    check_is_fitted(model, "n_estimators_")
    labels = [] if model._numeric else [str(c) for c in model.classes_]
    if isinstance(model.history_, list):  # one model a binary problem
        lines = [
            RuleLine(line.round, problem, line.weight, line.rule)
            for problem, one in zip(_problems(model._ensemble.form.code, labels), model.estimators_, strict=True)
            for line in _lines(one, [], most)
        ]
    else:
        lines = _lines(model, labels, most)
    return Rules(lines)


def _lines(model: Any, labels: list[str], most: int | None) -> list[RuleLine]:
    columns = getattr(model, "feature_names_in_", None)
    names = Names(columns, None if model._columns is None else model._columns.categories, labels or None)
    lines = []
    for t, (voter, weight) in enumerate(zip(model.estimators_, model.estimator_weights_, strict=True), start=1):
        if most is not None and t > most:
            break
        voters = voter if isinstance(voter, tuple) else (voter,)
        weights = np.broadcast_to(weight, len(voters))
        for k, (one, alpha) in enumerate(zip(voters, weights, strict=True)):
            lines.append(RuleLine(t, labels[k] if len(voters) > 1 else "", float(alpha), one.in_words(names)))
    return lines


def _problems(code: Any, labels: list[str]) -> list[str]:
    """Return what every binary problem's +1 stands for: a class, or several."""
    return ["+".join(label for label, side in zip(labels, column, strict=True) if side > 0) for column in code.T]
