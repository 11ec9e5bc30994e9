"""`boostlab explain`: a page about one model, and about its answers to a table."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from boostlab.comparison.metrics import METRICS
from boostlab.comparison.model_sections import (
    answers_section,
    contributions_section,
    importances_section,
    numbers_section,
    suspects_section,
)
from boostlab.comparison.protocol import answers_of
from boostlab.deployment.fit import shown_metrics
from boostlab.report.html import code, element, facts, page, table
from boostlab.studies.request import RequestError
from boostlab.studies.whole_files import write_whole
from boostlab.tables.columns import RawSheet
from boostlab.tables.files import read_raw
from boostlab.tables.model import load_model
from boostlab.tables.recipe import Recipe


def explain(model_file: Path, table_file: Path | None, out: Path, encoding: str | None = None) -> Path:
    """Write a page about a model file.

    Parameters
    ----------
    model_file : path
        A file that `boostlab fit` or `boostlab compare` wrote.
    table_file : path, optional
        A table to test it on; with its target column the page says how well the model does.
    out : path
        The HTML file.
    encoding : str, optional
        Of a text file.

    Returns
    -------
    Path
    """
    model, said = load_model(model_file)
    recipe, booster = model["recipe"].recipe, model["booster"]
    sections: dict[str, Any] = {}
    if table_file is not None:
        raw = read_raw(table_file, encoding)
        sections |= _tested(recipe, booster, raw, str(table_file))
        with suppress(Exception):  # votes that are no sums have no contributions
            X = recipe.matrix(raw, str(table_file))
            sections["What moves its answers"] = contributions_section(
                booster, X, recipe.feature_names, recipe.value_names
            )
    sections["What it looks at"] = importances_section(booster, recipe.feature_names, recipe.value_names)
    sections["What it takes"] = _columns(recipe)
    sections["The training table"] = facts(said.get("facts", {}))
    known = {name: said[name] for name in ("made", "boostlab", "source", "rows", "rounds", "stop") if name in said}
    tested = shown_metrics(said.get("metrics", {}))
    sections["How it was made"] = (
        code(str(said.get("model", booster)))
        + facts({name.capitalize(): value for name, value in known.items()})
        + (element("h3", "Tested by cross-validation") + facts(tested) if tested else "")
    )
    kind = f"one of {len(recipe.classes)} classes" if recipe.classes else "a number"
    lead = element("p", f"A model that predicts {recipe.target!r}, {kind}. {said.get('choice', '')}", class_="lead")
    try:
        write_whole(out, page(f"Model of {recipe.target}", lead, sections, "written by boostlab explain"))
    except OSError as error:
        raise RequestError(f"{out} cannot be written ({(error.strerror or '').lower()}).") from error
    return out


def _columns(recipe: Recipe) -> Any:
    rows = [[one.name, one.kind, one.form.says(), ", ".join(one.values[:12])] for one in recipe.columns]
    rows += [[name, "left out", why, ""] for name, why in recipe.left_out.items()]
    return table(["column", "kind", "read as", "values"], rows, name="columns", wrap=[2, 3])


def _tested(recipe: Recipe, booster: Any, raw: RawSheet, source: str) -> dict[str, Any]:
    """Return the sections about the answers to a table."""
    X = recipe.matrix(raw, source)
    if recipe.target not in raw.names:
        answer = booster.predict(X)
        if not recipe.classes:
            low, middle, high = np.quantile(answer, [0, 0.5, 1])
            said = f"{len(X):,} rows: from {low:.4g} to {high:.4g}, half below {middle:.4g}."
            return {"Its answers": element("p", said)}
        names, counts = np.unique(answer, return_counts=True)
        listed = [[str(name), int(count)] for name, count in zip(names, counts, strict=True)]
        return {"Its answers": table(["answer", "rows"], listed)}
    column = raw.column(raw.names.index(recipe.target), recipe.target_form)
    if not recipe.classes:
        assert column.numbers is not None
        there = ~np.isnan(column.numbers)
        y, guess = column.numbers[there], booster.predict(X[there])
        costs = {one.name: one.cost(y, guess) for one in METRICS.values() if one.needs == "numbers"}
        return {"Its answers": facts(shown_metrics(costs)) + numbers_section(y, guess)}
    classes = [str(name) for name in booster.classes_]
    places = {name: k for k, name in enumerate(classes)}
    labels = column.words or tuple(f"{v:.0f}" if v % 1 == 0 else f"{v:.12g}" for v in column.numbers)  # type: ignore[union-attr]
    rows = np.array([i for i, word in enumerate(labels) if word in places], int)
    if not len(rows):
        raise RequestError(f"{source} has no row whose {recipe.target!r} is a class that the model knows.")
    y = np.array([places[labels[i]] for i in rows])
    answers = answers_of(booster, X[rows], len(classes), named=True)
    costs = {one.name: one.cost(y, answers[one.needs]) for one in METRICS.values() if one.needs != "numbers"}
    p = answers["probabilities"]
    return {
        "Its answers": facts(shown_metrics(costs)) + answers_section(y, p, classes),
        "Rows whose labels look wrong": suspects_section(y, p, rows, classes),
    }
