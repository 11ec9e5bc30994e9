"""A booster that was reduced to binary problems, as a list of votes and the code that joins them, and back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.model_io import vote
from boostlab.model_io.problems import Problem, need
from boostlab.reductions.codes import check_code, one_vs_one, one_vs_rest
from boostlab.reductions.form import FORMS, ReductionForm
from boostlab.reductions.reduced import Reduced
from boostlab.reductions.training import binary, keep

Array = npt.NDArray[Any]
Arrays = dict[str, Array]

FIELD = "problems"
FIXED = {"ovr": one_vs_rest, "ovo": one_vs_one}  # codes of which there is one, on which decoders rely
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
    return pack_problems(model.estimators_, model._ensemble.form)


def pack_problems(models: list[Any], form: ReductionForm) -> tuple[dict[str, Any], Arrays]:
    """Return what to write of binary boosters.

    Parameters
    ----------
    models : list of BoostingClassifier
        Fitted, one a problem.
    form : ReductionForm
        What joins them.
    """
    arrays: Arrays = {"code": form.code.astype(np.int64), "sizes": form.sizes, "shares": form.shares}
    problems = []
    for i, one in enumerate(models):
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
    code, decoder = FORMS[name]
    keep(model, *parted(problems, arrays, len(model.classes_), code, decoder, lambda: binary(model)))


def parted(
    problems: Any, arrays: Arrays, n_classes: int, code: str, decoder: str, make: Callable[[], Any]
) -> tuple[list[Any], ReductionForm]:
    """Return the binary boosters and the form of reduction that joins them.

    Parameters
    ----------
    problems, arrays
        What `pack` returned.
    n_classes : int
        Number of classes.
    code, decoder : str
        The names of the code, and of what puts answers together.
    make : function
        Makes an unfitted booster for one problem.
    """
    need(isinstance(problems, list) and len(problems) >= 1, "the list of binary problems")
    whole = all(isinstance(p, dict) and p.keys() | vote.OPTIONAL == vote.FIELDS for p in problems)
    need(whole, "the entries of a binary problem")
    form = _form(decoder, n_classes, len(problems), arrays)
    if code in FIXED:
        need(np.array_equal(form.code, FIXED[code](n_classes)), f"the code is not that of {code!r}")
    its_own: list[Arrays] = [{} for _ in problems]
    for key, array in arrays.items():
        mine = _MINE.fullmatch(key)
        need(mine is not None and int(mine[1]) < len(problems), "an array of no binary problem")
        its_own[int(mine[1])][mine[2]] = array  # type: ignore[index]
    models = [make() for _ in problems]
    for one, entries, its in zip(models, problems, its_own, strict=True):
        vote.unpack(one, entries, its)
    return models, form


def _form(decoder: str, n_classes: int, n_problems: int, arrays: Arrays) -> ReductionForm:
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
    return ReductionForm(code, decoder, sizes, shares)
