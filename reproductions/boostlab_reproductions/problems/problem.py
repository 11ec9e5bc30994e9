"""A data set as a study uses it: which rows, which columns, which classes, written down rather than programmed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from boostlab import datasets
from boostlab.datasets.finding import CACHE, FOLDER
from boostlab.studies.plan import StudyProblem
from boostlab_reproductions.problems import generators
from boostlab_reproductions.problems.encoding import NamedColumns, encoded, filled

Array = npt.NDArray[Any]
Label = str | int
Encoding = Literal["native", "one-hot", "integers"]
Missing = Literal["native", "category", "complete", "fill"]


@dataclass(frozen=True)
class PaperProblem(StudyProblem):
    """A recipe from a data set to what is trained on.

    The steps are taken in the order of the parameters below, from `keep` to `cap`.

    Parameters
    ----------
    name : str
        What the study calls it.
    source : str
        A data set of `boostlab.datasets.names()`, or a generator of `boostlab.datasets` or of
        `problems.generators` where `made` is given.
    also : tuple of str
        Further data sets with the same columns, stacked below the first.
    made : tuple of (int, int), optional
        For a generator: number of rows and seed.
    keep : tuple of (str, str)
        Rows to keep: a categorical column and the word it must hold.
    part : {"train", "test"}, optional
        Only this part of the official split.
    drop : tuple of str
        Columns to leave out.
    nominal : tuple of str
        Columns that hold numbers and mean categories.
    orders : tuple of (str, tuple of str)
        The order in which the words of a column are numbered, where it is not that of the alphabet.
    missing : {"native", "category", "complete", "fill"}, default="native"
        Missing values stay NaN; or are a category of their own (in categorical columns); or their rows are dropped; or
        stay NaN and are to be filled in with `ProblemData.filled`, which needs to know the training rows.
    encoding : {"native", "one-hot", "integers"}, default="native"
        Categories stay categories; or become one column a word (one column in all if there are two words); or plain
        numbers.
    positive : tuple of labels
        The labels that become +1.
    negative : tuple of labels
        The labels that become -1; rows with others are dropped.  Empty: all others.
    at_least : int, optional
        Instead: labels of at least this become +1, the others -1.
    cap : int, optional
        At most so many rows, drawn without replacement.
    cap_seed : int, default=0
        Seed of that draw.
    official : bool, default=False
        Whether the official split is used; a copy of the data set that lacks it will then not do.
    n_train : int, optional
        How many rows the paper trained on, where it says so and there is no official split.
    exact : bool, default=True
        False where the data are not those of the paper but stand in for them.
    printed_as : str
        Its name in the published tables, if that is another.
    reading : str
        One sentence on how the paper was read, for the study's page.  Like `printed_as`, `n_train` and `exact` it does
        not matter to what the table holds.

    Examples
    --------
    >>> problem = PaperProblem("wine 2", "wine", positive=(2,), reading="Class 2 against the others.")
    >>> data = problem.data()
    >>> data.X.shape, np.unique(data.y, return_counts=True)
    ((178, 13), (array([-1,  1]), array([107,  71])))
    """

    name: str
    source: str
    also: tuple[str, ...] = ()
    made: tuple[int, int] | None = None
    keep: tuple[tuple[str, str], ...] = ()
    part: Literal["train", "test"] | None = None
    drop: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    orders: tuple[tuple[str, tuple[str, ...]], ...] = ()
    missing: Missing = "native"
    encoding: Encoding = "native"
    positive: tuple[Label, ...] = ()
    negative: tuple[Label, ...] = ()
    at_least: int | None = None
    cap: int | None = None
    cap_seed: int = 0
    official: bool = False
    n_train: int | None = field(default=None, compare=False)
    exact: bool = field(default=True, compare=False)
    printed_as: str = field(default="", compare=False)
    reading: str = field(default="", compare=False)

    @property
    def row(self) -> str:
        """Its name in the published tables."""
        return self.printed_as or self.name

    def definition(self) -> dict[str, Any]:
        """Return all that decides what is trained on, as JSON can hold it.

        Returns
        -------
        dict
            Settings that are at their defaults are left out, so that a new one does not change old definitions.
        """
        settings = {f.name: (getattr(self, f.name), f.default) for f in fields(self) if f.compare}
        return {name: _plain(value) for name, (value, default) in settings.items() if value != default}

    def data(self) -> ProblemData:
        """Return the problem's table and labels.

        Returns
        -------
        ProblemData

        Raises
        ------
        boostlab.datasets.DatasetError
            One sentence, if the data set is not to be had.
        """
        return _data(self, os.environ.get(FOLDER), os.environ.get(CACHE))

    def capped(self, cap: int, seed: int = 0) -> PaperProblem:
        """Return the same problem on at most so many rows.

        Parameters
        ----------
        cap : int
            The largest number of rows.
        seed : int, default=0
            Seed of the draw.

        Returns
        -------
        PaperProblem
        """
        return replace(self, cap=cap if self.cap is None else min(cap, self.cap), cap_seed=seed)


@dataclass(frozen=True, eq=False)
class ProblemData:
    """What is trained on.

    Attributes
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        Numbers; NaN where a value is missing.
    y : array of int of shape (n_rows,)
        -1 and +1 for two classes, 0, 1, ... for more.
    classes : tuple of str
        What the labels stand for, in the order of the numbers.
    test_rows : array of bool or None
        The official split, where the problem asks for it.
    categorical_features : list of int
        Columns that are categories, as the boosters' parameter of that name takes them.
    groups : array of int of shape (n_features,)
        For every column the categorical column of the table of which it was made, or -1: one-hot columns of one origin
        share a number.
    feature_names : tuple of str
        The columns.
    hash : str
        Hash of all of the above that matters to training.
    source : str
        Where the data were found.
    """

    X: Any = field(repr=False)
    y: Array = field(repr=False)
    classes: tuple[str, ...]
    test_rows: Array | None = field(repr=False)
    categorical_features: list[int] = field(repr=False)
    groups: Array = field(repr=False)
    feature_names: tuple[str, ...] = field(repr=False)
    hash: str
    source: str = field(repr=False)

    def filled(self, train: npt.ArrayLike) -> Any:
        """Return the table without missing values, having looked at the training rows only.

        A missing number becomes the mean of its column; a missing category the most frequent one.

        Parameters
        ----------
        train : array of int or bool
            The training rows.

        Returns
        -------
        array of shape (n_rows, n_features)
        """
        return filled(self.X, np.asarray(train), self.groups)


def _plain(value: Any) -> Any:
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


@lru_cache(maxsize=8)
def _data(problem: PaperProblem, *_folders: str | None) -> ProblemData:
    columns, labels, test_rows, source = _table(problem)
    rows, y, classes = _classes(problem, labels)
    rows &= _kept(problem, columns, test_rows)
    columns = columns.without(problem.drop)
    if problem.missing == "complete":
        rows &= columns.complete()
    chosen = np.flatnonzero(rows)
    if problem.cap is not None and len(chosen) > problem.cap:
        draw = np.random.default_rng(problem.cap_seed).choice(len(chosen), problem.cap, replace=False)
        chosen = chosen[np.sort(draw)]
    table = encoded(columns.take(chosen), problem.encoding, problem.missing == "category")
    y = y[chosen]
    test_rows = test_rows[chosen] if problem.official and test_rows is not None else None
    if isinstance(table.X, np.ndarray):
        table.X.flags.writeable = False
    y.flags.writeable = False
    content = datasets.content_hash(table.X, y, list(classes), test_rows, table.categorical)
    return ProblemData(
        table.X, y, classes, test_rows, table.categorical, table.groups, tuple(table.names), content, source
    )


def _table(problem: PaperProblem) -> tuple[NamedColumns, Array, Array | None, str]:
    """Return the data set's columns, labels, official split and origin."""
    if problem.made is not None:
        n_rows, seed = problem.made
        home = generators if hasattr(generators, problem.source) else datasets
        X, y = getattr(home, problem.source)(n_rows, random_state=seed)
        names = [f"x{j + 1}" for j in range(X.shape[1])]
        return NamedColumns(X, names, {}), y, None, f"{home.__name__}.{problem.source}"
    first, *others = (datasets.load(name) for name in (problem.source, *problem.also))
    X = np.vstack([first.X, *(other.X for other in others)]) if others else first.X
    y = np.concatenate([first.y, *(other.y for other in others)])
    columns = NamedColumns(X, list(first.feature_names), dict(first.categories))
    return columns.named(problem.nominal).ordered(dict(problem.orders)), y, first.test_rows, first.source


def _classes(problem: PaperProblem, labels: Array) -> tuple[Array, Array, tuple[str, ...]]:
    """Return which rows have a class, the classes as numbers, and their names."""
    all_rows = np.ones(len(labels), bool)
    if problem.at_least is not None:
        y = np.where(labels >= problem.at_least, 1, -1)
        return all_rows, y, (f"< {problem.at_least}", f">= {problem.at_least}")
    known = np.unique(labels)
    unknown = set(problem.positive + problem.negative) - set(known.tolist())
    if unknown:
        raise ValueError(f"Problem {problem.name!r}: {problem.source} has no label {sorted(unknown, key=str)[0]!r}.")
    if problem.positive:
        y = np.where(np.isin(labels, problem.positive), 1, -1)
        rows = all_rows if not problem.negative else np.isin(labels, problem.positive + problem.negative)
        positive = ", ".join(map(str, problem.positive))
        negative = ", ".join(map(str, problem.negative or sorted(set(known.tolist()) - set(problem.positive))))
        return rows, y, (negative, positive)
    _, y = np.unique(labels, return_inverse=True)
    return all_rows, 2 * y - 1 if len(known) == 2 else y, tuple(map(str, known.tolist()))


def _kept(problem: PaperProblem, columns: NamedColumns, test_rows: Array | None) -> Array:
    rows = np.ones(columns.X.shape[0], bool)
    for name, word in problem.keep:
        rows &= columns.holds(name, word)
    if problem.official or problem.part is not None:
        if test_rows is None:
            raise datasets.DatasetError(
                f"Problem {problem.name!r} needs the official split of {problem.source!r}, which this copy lacks; put "
                f"{datasets.facts(problem.source).file} into the folder that {FOLDER} names."
            )
        if problem.part is not None:
            rows &= test_rows if problem.part == "test" else ~test_rows
    return rows
