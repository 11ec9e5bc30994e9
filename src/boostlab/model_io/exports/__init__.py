"""Fitted boosters in other forms: ONNX, C, SQL, JSON, a scorecard.  One file a form, all from one description."""

from __future__ import annotations

import os
from typing import Any

from boostlab.model_io.exports.c import to_c
from boostlab.model_io.exports.json_form import to_json
from boostlab.model_io.exports.onnx_model import to_onnx
from boostlab.model_io.exports.scorecard import Scorecard, to_scorecard
from boostlab.model_io.exports.sql import to_sql

__all__ = ["Scorecard", "export", "to_c", "to_json", "to_onnx", "to_scorecard", "to_sql"]

FORMS: dict[str, Any] = {
    ".c": to_c,
    ".json": to_json,
    ".md": to_scorecard,
    ".onnx": to_onnx,
    ".sql": to_sql,
}


def export(model: Any, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a fitted booster in another form, by the ending of the file's name.

    Parameters
    ----------
    model : Booster
        Fitted.
    path : str or path
        Where to: .onnx, .c, .sql, .json, or .md for a scorecard.
    **options
        Of the form: `int16` and `name` (C), `double` (ONNX), `table` (SQL), `points` (scorecard).
    """
    name = os.fspath(path)
    ending = os.path.splitext(name)[1].lower()
    if ending not in FORMS:
        raise ValueError(f"{name!r} says no form that is known; end it with one of {', '.join(FORMS)}.")
    made = FORMS[ending](model, **options)
    data = made.SerializeToString() if ending == ".onnx" else str(made).encode("utf-8")
    with open(name, "wb") as file:
        file.write(data)
