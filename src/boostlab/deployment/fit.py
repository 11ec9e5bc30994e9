"""`boostlab fit`: from a table to a model file that takes raw tables of the same kind."""

from __future__ import annotations

import ast
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from boostlab.auto.estimators import RAREST, AutoBoostClassifier, AutoBoostRegressor
from boostlab.boosters import REGISTRY, REGRESSORS
from boostlab.comparison.metrics import METRICS, find_metric
from boostlab.comparison.request import choose, seconds_of, short_name
from boostlab.comparison.result import model_facts
from boostlab.studies.request import RequestError
from boostlab.tables.files import read
from boostlab.tables.large import Coding, LargeFile, choose_reading, understand_large
from boostlab.tables.model import save_model, table_model
from boostlab.tables.table import LabelledTable, understand


@dataclass(frozen=True)
class FitOptions:
    """What was asked for on the command line; fields are options of the same name."""

    table: Path
    target: str | None = None
    booster: str | None = None
    settings: Sequence[str] = ()
    budget: str | None = None
    out: Path = Path("model.boost")
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    encoding: str | None = None
    metric: str | None = None
    text: bool = True
    seed: int = 0
    in_batches: str = "auto"
    cache: Path | None = None


def fit(request: FitOptions, console: Console) -> None:
    """Fit a model to a table, and write it.

    Parameters
    ----------
    request : FitOptions
        What was asked for; what is not possible is a RequestError.
    console : rich Console
        Where to say what was done.
    """
    if request.booster is not None and request.budget is not None:
        raise RequestError("--budget is the time of --auto, and --booster names one booster; give one of them.")
    metric = None if request.metric is None else find_metric(request.metric)
    numeric = None if metric is None else metric.needs == "numbers"
    options: dict[str, Any] = {"drop": request.drop, "keep": request.keep, "text": request.text, "numeric": numeric}
    table = _table(request, console, options)
    model = _model(request, table)
    start = time.perf_counter()
    if table.categorical_features:
        model.set_params(categorical_features=list(table.categorical_features))
    try:
        model.fit(table.X, table.labels())
    except RequestError:
        raise
    except ValueError as error:
        raise RequestError(str(error)) from error
    seconds = time.perf_counter() - start
    booster = model.best_estimator_ if isinstance(model, AutoBoostClassifier | AutoBoostRegressor) else model
    assert table.recipe is not None
    facts = model_facts(table, booster, seconds, request.table.name)
    facts |= {"choice": model.choice_} if hasattr(model, "choice_") else {}
    save_model(table_model(table.recipe, booster), request.out, facts)
    for title in ("Target", "Classes", "Numbers", "Rows", "Columns", "Left out"):
        if title in table.facts:
            console.print(Text(f"{title}: {table.facts[title]}"))
    for warning in table.warnings:
        console.print(Text(f"Warning: {warning}"))
    if "choice" in facts:
        console.print(Text(str(facts["choice"])))
    console.print(Text(f"{facts['model']}, fitted in {seconds:.1f} s: {request.out}"))
    console.print(Text(f"Next: {next_command(request.out)}"))


def _table(request: FitOptions, console: Console, options: dict[str, Any]) -> LabelledTable:
    """Return the table, read as a whole or in batches."""
    name = request.table.name.partition(".")[0] or "table"
    reading = choose_reading(request.table, request.in_batches, request.cache)
    if not reading.in_batches:
        return understand(read(request.table, request.encoding), name, request.target, folds=2, **options)
    if request.budget is not None:
        raise RequestError(
            "--budget compares boosters on rows in memory, and this table is read in batches; boostlab compare draws "
            "rows of it, compares, and fits the best booster to all of them."
        )
    console.print(Text(reading.why))
    settings = dict(text.replace(" ", "").split("=", 1) for text in request.settings if "=" in text)
    asked = settings.get("max_bins", "255")
    rarest = RAREST if request.booster is None else 1
    coding = Coding(request.cache, int(asked) if asked.isdigit() else asked, rarest)
    file = LargeFile(request.table, request.encoding)
    return understand_large(file, name, request.target, **options, folds=2, coding=coding)


def next_command(path: Path) -> str:
    """Return how to predict with a model file."""
    return f"boostlab predict {path} new.csv --out scored.csv"


def _model(request: FitOptions, table: LabelledTable) -> Any:
    """Return the model that was asked for, not fitted."""
    if request.booster is None:
        if request.settings:
            raise RequestError("--set needs a booster: --booster NAME --set name=value.")
        budget = None if request.budget is None else seconds_of(request.budget)
        kind = AutoBoostRegressor if table.is_numeric else AutoBoostClassifier
        return kind(budget=budget, metric=request.metric, random_state=request.seed)
    registry: Mapping[str, Any] = REGRESSORS if table.is_numeric else REGISTRY
    if table.is_numeric:
        known = {key.removesuffix("Regressor").casefold(): key for key in registry}
        plain = request.booster.casefold().removesuffix("regressor")
        if plain not in known:
            names = ", ".join(key.removesuffix("Regressor") for key in registry)
            raise RequestError(f"{request.booster} does not predict numbers; these do: {names}.")
        name = known[plain]
    else:
        name = choose([request.booster])[0]
    cls = registry[name].cls
    known_params = cls().get_params(deep=False)
    given = dict(_setting(text, known_params, short_name(name)) for text in request.settings)
    return cls(**{"random_state": request.seed, **given})


def _setting(text: str, known: Mapping[str, Any], booster: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    name = name.strip()
    if not sign:
        raise RequestError(f"--set {text} is no setting; write it as name=value, such as n_estimators=200.")
    if name not in known:
        raise RequestError(f"{booster} has no parameter {name!r}; it has {', '.join(sorted(known))}.")
    try:
        return name, ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name, value.strip()


def shown_metrics(costs: Mapping[str, float]) -> dict[str, str]:
    """Return costs as people know them."""
    return {METRICS[name].title: METRICS[name].show(cost) for name, cost in costs.items() if name in METRICS}
