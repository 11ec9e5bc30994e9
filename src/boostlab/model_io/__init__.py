"""Fitted boosters as files: a documented, versioned format that loads without running any code from the file."""

from __future__ import annotations

import os
from typing import Any

from boostlab.model_io import archive, coded, disk, model
from boostlab.model_io.problems import JOBLIB, Damage, ModelFileError, Problem

__all__ = ["ModelFileError", "load", "save"]

Path = str | os.PathLike[str]


def save(booster: Any, path: Path) -> None:
    """Write a fitted booster to a file, whole or not at all.

    Parameters
    ----------
    booster : Booster
        A fitted booster of this package whose voters are stumps, trees or the stumps of a `VoterPool`, or a
        `PairwiseClassifier` or `ECOCClassifier` of such boosters.
    path : str or path
        Where to; an older file there is replaced only when the new one is complete.

    Raises
    ------
    ModelFileError
        If the booster holds something that the format does not know, or the file cannot be written.
    sklearn.exceptions.NotFittedError
        If the booster has not been fitted.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from boostlab import AdaBoostClassifier
    >>> from boostlab.model_io import load, save
    >>> booster = AdaBoostClassifier().fit([[0], [1], [2], [3]], ["no", "no", "yes", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(booster, pathlib.Path(folder, "yes.boost"))
    ...     print(load(pathlib.Path(folder, "yes.boost")).predict([[0.5], [2.5]]))
    ['no' 'yes']
    """
    name = os.fspath(path)
    try:
        disk.write(name, _checked(archive.to_bytes(*_packed(booster))))
    except Problem as problem:
        raise ModelFileError(f"Cannot save {type(booster).__name__} to {name!r}: {problem}.") from problem.__cause__


def _packed(fitted: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return (coded if coded.is_coded(fitted) else model).pack(fitted)


def _unpacked(data: bytes) -> Any:
    header, arrays = archive.from_bytes(data)
    name = header.get("class")
    return (coded if isinstance(name, str) and name in coded.KNOWN else model).unpack(header, arrays)


def _checked(data: bytes) -> bytes:
    """Return what is to be written, if it can be read again."""
    try:
        _unpacked(data)
    except Damage as damage:
        raise Problem(f"it holds what a model file cannot store ({damage.cause})", JOBLIB) from damage
    return data


def load(path: Path) -> Any:
    """Read a booster that `save` wrote.

    Nothing in the file is executed, and everything in it is checked before it is used.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Booster, PairwiseClassifier or ECOCClassifier
        The fitted model, which predicts the same numbers, bit for bit.

    Raises
    ------
    ModelFileError
        If the file is damaged, of another kind, or of a newer version.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import boostlab
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(100, random_state=0)
    >>> file = Path(tempfile.mkdtemp()) / "model.boost"
    >>> model = boostlab.AdaBoostClassifier(n_estimators=10).fit(X, y)
    >>> model.save(file)
    >>> bool((boostlab.load(file).predict(X) == model.predict(X)).all())
    True
    """
    name = os.fspath(path)
    try:
        return _unpacked(disk.read(name))
    except Problem as problem:
        raise ModelFileError(f"Cannot load {name!r}: {problem}.") from problem.__cause__
    except FileNotFoundError:
        raise
    except Exception as error:  # whatever strange bytes do to the readers of zip and JSON
        raise ModelFileError(f"Cannot load {name!r}: {Damage(type(error).__name__)}.") from error
