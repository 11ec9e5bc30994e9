"""What a comparison is asked for, and what it found."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib import import_module
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from boostlab import __version__
from boostlab.comparison.advice import Advice, parameters
from boostlab.comparison.metrics import METRICS, Metric
from boostlab.comparison.peers import is_peer
from boostlab.comparison.protocol import NestedCV, make_model
from boostlab.comparison.ranking import Ranking, Standing
from boostlab.studies.plan import Method
from boostlab.studies.request import RequestError
from boostlab.studies.runner import Ran
from boostlab.studies.study import Study
from boostlab.tables.model import table_model
from boostlab.tables.table import LabelledTable


@dataclass(frozen=True)
class Design:
    """What is to be compared, and how.

    Attributes
    ----------
    table : LabelledTable
    study : Study
        For the runner.
    left_out : dict from str to str
        Boosters that do not take part, and why.
    because : str
        Why this metric, where none was asked for.
    whole, rows : optional
        The table of which `table` is a sample, and the numbers of the rows that were drawn; None where it has all rows.
    """

    table: LabelledTable
    study: Study
    left_out: dict[str, str]
    because: str = ""
    whole: LabelledTable | None = field(default=None, repr=False)
    rows: Any = field(default=None, repr=False, compare=False)

    @property
    def methods(self) -> Sequence[Method]:
        """The boosters."""
        return [method for method in self.study.blocks[0].methods if not is_peer(method)]

    @property
    def peers(self) -> Sequence[Method]:
        """The yardsticks."""
        return [method for method in self.study.blocks[0].methods if is_peer(method)]

    @property
    def metric(self) -> Metric:
        """What is compared."""
        return METRICS[self.protocol.metric]

    @property
    def protocol(self) -> NestedCV:
        """How they are compared, with the labels as they are."""
        protocol = self.study.blocks[0].protocol
        assert isinstance(protocol, NestedCV)
        return protocol

    @property
    def levels(self) -> list[float]:
        """Shares of the training labels that are flipped."""
        return [block.protocol.noise for block in self.study.blocks if isinstance(block.protocol, NestedCV)]

    @property
    def repeats(self) -> int:
        """How often the rows are divided."""
        return self.study.blocks[0].repeats["full"] // self.protocol.folds


@dataclass(frozen=True)
class Comparison:
    """What a comparison found, so far or in the end.

    Attributes
    ----------
    rankings : list of Ranking
        One a level of noise, in the order asked for.
    advice : Advice
        What to choose, and why.
    left_out : dict from str to str
        Boosters that do not take part, and why.
    ran : Ran
        All finished cells, and why it ended early if it did.
    plan : Design
        What was asked for.
    given : (X, y), optional
        What was compared on, where it was no file.
    """

    rankings: list[Ranking]
    advice: Advice
    left_out: dict[str, str]
    ran: Ran
    plan: Design = field(repr=False)
    given: tuple[Any, Any] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return "\n".join(self.advice.sentences)

    @property
    def ranking(self) -> Any:
        """The ranking as a frame of pandas, or of polars, or else a list of dicts, whichever is installed."""
        rows = frame_rows(self.rankings[0])
        for name in ("pandas", "polars"):
            with suppress(ImportError):
                return import_module(name).DataFrame(rows)
        return rows

    @cached_property
    def best_estimator_(self) -> Any:
        """The recommended booster, fitted to all rows; of a file or frame a pipeline that takes raw tables."""
        pick = self.advice.pick
        if pick is None:
            raise RequestError("No booster has a result, so there is none to fit.")
        return fit_best(self.plan, pick, self.given)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a page for the browser: one file, which needs no other and no network.

        Parameters
        ----------
        path : path
            The HTML file.

        Returns
        -------
        Path
        """
        from boostlab.comparison.report import write_report

        return write_report(self, Path(path))

    def _repr_html_(self) -> str:
        from boostlab.comparison.report import summary

        return summary(self)


def frame_rows(ranking: Ranking) -> list[dict[str, Any]]:
    """Return a ranking as rows of plain values, yardsticks among them."""
    places, m = ranking.places(), ranking.metric
    return [
        {
            "rank": places.get(one.name),
            "name": one.name,
            "yardstick": one.is_peer,
            m.name: m.value(one.cost) / (100.0 if m.percent else 1.0),
            "low": min(_share(m, one.low), _share(m, one.high)),
            "high": max(_share(m, one.low), _share(m, one.high)),
            "p": one.p,
            "near": one.near and not one.is_peer,
            "splits": one.splits,
            "rounds": None if isnan(one.rounds) else one.rounds,
            "seconds": one.seconds,
            "chosen": dict(one.chosen),
            "failure": one.failure,
        }
        for one in ranking.standings
    ]


def _share(metric: Metric, cost: float) -> float:
    return metric.value(cost) / (100.0 if metric.percent else 1.0)


def fit_best(plan: Design, pick: Standing, given: tuple[Any, Any] | None = None) -> Any:
    """Return a booster with the values that were chosen most often, fitted to all rows.

    Parameters
    ----------
    plan : Design
        What was compared.
    pick : Standing
        The booster.
    given : (X, y), optional
        What to fit to; None is the table of the plan.
    """
    method = Method(pick.name, pick.booster)
    chosen = {name: value for name, value in parameters(pick).items() if name != "n_estimators"}
    model = make_model(method, chosen, max(round(pick.rounds), 1), plan.protocol.seed, n_jobs=None)
    if given is not None:
        return model.fit(*given)
    table = plan.table if plan.whole is None else plan.whole
    if table.categorical_features:
        model.set_params(categorical_features=list(table.categorical_features))
    model.fit(table.X, table.labels())
    return model if table.recipe is None else table_model(table.recipe, model)


def model_facts(table: LabelledTable, booster: Any, seconds: float, source: str) -> dict[str, Any]:
    """Return what a model file says of itself, of JSON values.

    Parameters
    ----------
    table : LabelledTable
        What the booster was fitted to.
    booster : Booster
        Fitted.
    seconds : float
        How long that took.
    source : str
        Name of the table's file.
    """
    y = table.y
    answer = booster.predict(table.X)
    fit = float(np.mean((y - answer) ** 2)) if table.is_numeric else float(np.mean(answer != table.labels()))
    importances = getattr(booster, "feature_importances_", np.zeros(0))
    order = np.argsort(-importances, kind="stable")[:30]
    return {
        "model": repr(booster),
        "boostlab": __version__,
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "source": source,
        "rows": len(y),
        "facts": dict(table.facts),
        "warnings": list(table.warnings),
        "seconds": round(seconds, 3),
        "rounds": int(booster.n_estimators_),
        "stop": str(booster.stop_reason_),
        "training": {"squared_error" if table.is_numeric else "error": fit},
        "importances": [[table.feature_names[j], float(importances[j])] for j in order if importances[j] > 0],
        "metrics": {},
    }
