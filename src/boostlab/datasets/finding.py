"""Where data sets are looked for: a folder, the cache, scikit-learn, OpenML."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.datasets.bundled import BUNDLED, bundled
from boostlab.datasets.catalogue import DatasetError, Facts, facts
from boostlab.datasets.dataset import Dataset, content_hash
from boostlab.datasets.openml import cached_file, fetch
from boostlab.datasets.reading import Raw, read

Array = npt.NDArray[Any]

FOLDER = "BOOSTLAB_DATA"
CACHE = "BOOSTLAB_CACHE"


def data_folder() -> Path | None:
    """Return the folder that the environment variable BOOSTLAB_DATA names, if it names one.

    Returns
    -------
    Path or None

    Examples
    --------
    >>> import os
    >>> from boostlab.datasets import data_folder
    >>> before = os.environ.get("BOOSTLAB_DATA")
    >>> os.environ["BOOSTLAB_DATA"] = "tables"
    >>> data_folder().name
    'tables'
    >>> os.environ.pop("BOOSTLAB_DATA") and data_folder() is None
    True
    >>> if before is not None:
    ...     os.environ["BOOSTLAB_DATA"] = before
    """
    named = os.environ.get(FOLDER)
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """Return where downloads are kept.

    That is the folder named by the environment variable BOOSTLAB_CACHE, or else `boostlab` in the place where the
    operating system keeps caches.

    Returns
    -------
    Path

    Examples
    --------
    >>> from boostlab.datasets import cache_folder
    >>> cache_folder().is_absolute()
    True
    """
    if named := os.environ.get(CACHE):
        return Path(named).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "boostlab" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "boostlab"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "boostlab"


def load(name: str, *, download: bool = True) -> Dataset:
    """Return a named data set.

    It is looked for in the folder that the environment variable BOOSTLAB_DATA names, in the cache (`cache_folder`),
    among the sets that come with scikit-learn, and at OpenML, in this order.  What is found is compared with what is
    known of the set: files and scikit-learn's copies value by value through a hash, OpenML's by size, missing values
    and class counts.  What came from OpenML is kept in the cache.

    Parameters
    ----------
    name : str
        One of `names()`.
    download : bool, default=True
        Whether OpenML may be asked.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetError
        One sentence: there is no such set, it was not found (and how to get it), or its file is damaged.

    Examples
    --------
    >>> from boostlab.datasets import load
    >>> wine = load("wine")
    >>> wine.X.shape, wine.feature_names[0]
    ((178, 13), 'alcohol')
    """
    known = facts(name)
    for _, path in _paths(known):
        if path.is_file():
            return _exact(known, read(path, known), str(path))
    if known.name in BUNDLED:
        return _exact(known, bundled(known), "scikit-learn")
    if known.openml is None:
        raise DatasetError(_missing(known, None))
    path = cached_file(cache_folder(), known)
    if not path.is_file():
        if not download:
            raise DatasetError(_missing(known, "which was not asked"))
        try:
            fetch(known, path)
        except Exception as problem:  # of the network, of the server, of the disk, or another table than expected
            reason = f"{type(problem).__name__}: {problem}" if not isinstance(problem, DatasetError) else str(problem)
            raise DatasetError(_missing(known, reason.splitlines()[0].rstrip(". "))) from problem
    return _similar(known, read(path, known))


@dataclass(frozen=True)
class FoundFile:
    """Where a data set is.

    Attributes
    ----------
    place : str
        "data folder", "cache" or "scikit-learn".
    path : Path or None
        The file, if there is one.

    Examples
    --------
    >>> from boostlab.datasets import where
    >>> found = where("digits")
    >>> found.place, found.path
    ('scikit-learn', None)
    """

    place: str
    path: Path | None


def where(name: str) -> FoundFile | None:
    """Return where `load` would find a data set without downloading it.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    FoundFile or None

    Examples
    --------
    >>> from boostlab.datasets import where
    >>> where("digits").place
    'scikit-learn'
    """
    known = facts(name)
    for place, path in _paths(known):
        if path.is_file():
            return FoundFile(place, path)
    if known.name in BUNDLED:
        return FoundFile("scikit-learn", None)
    path = cached_file(cache_folder(), known)
    return FoundFile("cache", path) if known.openml is not None and path.is_file() else None


def _paths(known: Facts) -> list[tuple[str, Path]]:
    folders = [("data folder", data_folder()), ("cache", cache_folder())]
    return [(place, folder / known.file) for place, folder in folders if folder is not None and known.file is not None]


def _exact(known: Facts, raw: Raw, source: str) -> Dataset:
    """Return a set whose every value is as it should be."""
    found = content_hash(raw.X, raw.y, dict(raw.categories))
    if found != known.content:
        raise DatasetError(
            f"What {source} holds is not the data set {known.name!r} that is meant here "
            f"({raw.X.shape[0]} rows and {raw.X.shape[1]} columns, not {known.rows} and {known.features}, "
            "or other values); get the set again."
        )
    official = _official(known)
    if raw.test_rows is not None and (official is None or not np.array_equal(raw.test_rows, official)):
        raise DatasetError(
            f"What {source} says of the official split of the data set {known.name!r} is wrong; get the set again."
        )
    return _dataset(known, raw, source, found)


def _official(known: Facts) -> Array | None:
    """Return which rows are for testing by the set's official split, which are its last; None if it has none."""
    return None if known.train_rows is None else np.arange(known.rows) >= known.train_rows


def _similar(known: Facts, raw: Raw) -> Dataset:
    """Return a copy from OpenML, whose size and classes were compared when it came; if it is exact, with its split."""
    found = content_hash(raw.X, raw.y, dict(raw.categories))
    source = f"OpenML, number {known.openml}"
    if found == known.content:
        return _dataset(known, replace(raw, test_rows=_official(known)), source, found)
    if raw.X.shape != (known.rows, known.features):
        path = cached_file(cache_folder(), known)
        raise DatasetError(f"The file {path} is not what came from OpenML; delete it and get the set again.")
    notes = f"{known.notes}  This is OpenML's copy: of the same size and classes, its values not compared one by one."
    return _dataset(known, raw, source, found, notes)


def _dataset(known: Facts, raw: Raw, source: str, content: str, notes: str | None = None) -> Dataset:
    """Return what was read as a data set whose arrays are read-only."""
    for array in (raw.X, raw.y, raw.test_rows):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return Dataset(
        name=known.name,
        X=raw.X,
        y=raw.y,
        feature_names=raw.feature_names,
        categories=dict(raw.categories),
        test_rows=raw.test_rows,
        content=content,
        source=source,
        licence=known.licence,
        notes=known.notes if notes is None else notes,
    )


def _missing(known: Facts, problem: str | None) -> str:
    """Return the ways to get a set that was not found."""
    folder = data_folder()
    now = "not set now" if folder is None else f"now {folder}, " + ("without it" if folder.is_dir() else "not a folder")
    ways = [
        f"put {known.file} into the folder that the environment variable {FOLDER} names ({now}) or into the cache "
        f"{cache_folder()}"
    ]
    if known.openml is not None:
        ways.append(f"get it from OpenML, where it is number {known.openml} ({problem})")
    if known.name in _OTHER_WAYS:
        ways.append(_OTHER_WAYS[known.name])
    return f"The data set {known.name!r} was not found; {', or '.join(ways)}."


_OTHER_WAYS = {
    "twonorm": "make such rows with boostlab.datasets.twonorm",
    "ringnorm": "make such rows with boostlab.datasets.ringnorm",
    "waveform21": "make such rows with boostlab.datasets.waveform",
    "optdigits": "take the set 'digits', its test part, which comes with scikit-learn",
}
