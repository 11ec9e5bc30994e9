"""A booster that was reduced to binary problems, as a list of votes and the code that joins them, and back."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.files import vote
from boostlab.files.problems import Problem, need
from boostlab.multiclass.codes import check_code
from boostlab.multiclass.form import FORMS, Form
from boostlab.multiclass.reduced import Reduced
from boostlab.multiclass.training import binary, keep

Array = npt.NDArray[Any]
Arrays = dict[str, Array]

FIELD = "problems"
_MINE = re.compile(r"problem_(0|[1-9][0-9]{0,5})_(\w+)")


def is_reduced(model: Any) -> bool:
    """Return whether a fitted booster is several binary ones."""
    return isinstance(model._ensemble, Reduced)


def pack(model: Any) -> tuple[dict[str, Any], Arrays]:
    """Return what to write of a reduced booster's votes.

    Parameters
    ----------
    model : BoostingClassifier
        Fitted, and reduced.
    """
    form = model._ensemble.form
    arrays: Arrays = {"code": form.code.astype(np.int64), "sizes": form.sizes, "shares": form.shares}
    problems = []
    for i, one in enumerate(model.estimators_):
        entries, its = vote.pack(one)
        problems.append(entries)
        arrays |= {f"problem_{i}_{name}": a for name, a in its.items()}
    return {FIELD: problems}, arrays


def unpack(model: Any, problems: Any, arrays: Arrays) -> None:
    """Give a booster its binary boosters, after checking all that its methods rely on.

    Parameters
    ----------
    model : BoostingClassifier
        With its parameters, classes, number of features and columns.
    problems, arrays
        What `pack` returned.
    """
    name = model._reduction(len(model.classes_))
    need(name is not None, "binary problems of a booster that needs none")
    need(isinstance(problems, list) and len(problems) >= 1, "the list of binary problems")
    need(all(isinstance(p, dict) and p.keys() == vote.FIELDS for p in problems), "the entries of a binary problem")
    form = _form(FORMS[name][1], len(model.classes_), len(problems), arrays)
    parted: list[Arrays] = [{} for _ in problems]
    for key, array in arrays.items():
        mine = _MINE.fullmatch(key)
        need(mine is not None and int(mine[1]) < len(problems), "an array of no binary problem")
        parted[int(mine[1])][mine[2]] = array  # type: ignore[index]
    models = [binary(model) for _ in problems]
    for one, entries, its in zip(models, problems, parted, strict=True):
        vote.unpack(one, entries, its)
    keep(model, models, form)


def _form(decoder: str, n_classes: int, n_problems: int, arrays: Arrays) -> Form:
    """Return the form of reduction, and take its arrays out."""
    need({"code", "sizes", "shares"} <= arrays.keys(), "the code is missing")
    code, sizes, shares = (arrays.pop(name) for name in ("code", "sizes", "shares"))
    try:
        code = check_code(code, n_classes)
    except ValueError as error:
        raise Problem(f"its code is damaged ({str(error).rstrip('.')})") from error
    need(code.shape[1] == n_problems, "code and binary problems differ in number")
    for a in (sizes, shares):
        need(a.dtype == np.float64 and a.shape == (n_problems,) and bool((a > 0).all()), "the sizes of the problems")
    need(bool(np.isfinite(sizes).all() and (shares < 1).all()), "the sizes of the problems")
    return Form(code, decoder, sizes, shares)
