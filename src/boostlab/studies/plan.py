"""A study as a thing to read: problems × methods × a protocol, cut into cells that can be computed one by one.

Nothing here trains a model.  A protocol says how a cell is computed (`protocols/`), the runner computes
the cells that the store does not have (`runner.py`, `store.py`), and a page shows what came out (`page.py`).
"""

from __future__ import annotations

import ast
import csv
import hashlib
import inspect
import io
import json
import sys
import tokenize
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

NO_CONSTRAINTS = ("monotone", "interactions", "shapes")  # None, their default, computes nothing
Definition = dict[str, Any]  # of JSON values only: what it holds is what tells one cell from another


class StudyProblem(ABC):
    """A data set as a study uses it.

    Attributes
    ----------
    name : str
        Its row in the study's table.
    reading : str
        One sentence on how the paper was read, for the study's page; empty if there is nothing to say.
    exact : bool
        False where the data are not those of the paper but stand in for them.
    """

    name: str
    reading: str = ""
    exact: bool = True

    @abstractmethod
    def definition(self) -> Definition:
        """Say how it is made: the source, the classes, the columns, the rows."""

    @abstractmethod
    def data(self) -> Any:
        """Return the data; its `hash` is that of the numbers."""


@dataclass(frozen=True)
class Method:
    """An algorithm as a study runs it: what is fixed, and what the protocol chooses from.

    Parameters
    ----------
    name : str
        Its column in the study's table.
    booster : str
        Name of an estimator in the registry; empty for what is not a booster (a single tree).
    params : mapping
        Its fixed parameters.
    grid : mapping from str to sequence
        Parameters that the protocol chooses, each with its candidates (of equals see `studies.choice`, or what the
        paper's protocol says).
    how : str
        Which of the protocol's procedures trains it.
    after : str
        Name of another booster whose voters it starts from: its code matters, too.
    effort : float
        About how long a cell takes, in that of another method on the same data: for the time that is left.
    needs : str
        A package that must be installed where it is computed; elsewhere its cells are left out, not failed.
    """

    name: str
    booster: str
    params: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    how: str = ""
    after: str = ""
    effort: float = 1.0
    needs: str = ""

    def definition(self) -> Definition:
        """Return all that matters to a result, the version of the algorithm's own code included."""
        return {
            "booster": self.booster,
            "params": dict(self.params),
            "grid": {name: list(values) for name, values in self.grid.items()},
            "how": self.how,
            "code": " ".join(code_version(name) for name in (self.booster, self.after) if name),
        }


@dataclass
class Outcome:
    """What came out of a cell: JSON values (errors, rounds, choices, curves, seconds) and arrays (test votes)."""

    numbers: dict[str, Any]
    arrays: dict[str, Array] = field(default_factory=dict)


class Procedure(ABC):
    """A protocol: how the rows are split, how parameters are chosen, what is measured."""

    @abstractmethod
    def definition(self) -> Definition:
        """Return all that may change a result: shares, patience, caps, seeds, and a `version` to raise by hand."""

    @abstractmethod
    def parts(self, data: Any, repeat: int) -> Any:
        """Return what all methods share in one repeat: rows to train, to choose and to test by, noise, bins.

        Depends on the data and the repeat only, never on a method: all see identical splits.
        """

    @abstractmethod
    def run(self, parts: Any, method: Method) -> Outcome:
        """Train, choose, test."""

    def basis(self) -> Definition:
        """Return what its parts depend on: its whole definition, unless it says less.

        Cells whose protocols have the same basis are computed from the same parts, of several studies too.
        """
        return self.definition()

    def split_seed(self, data_hash: str, repeat: int) -> tuple[int, ...]:
        """Return the words of the SeedSequence that draws the splits; none if it draws none."""
        return ()

    def warm(self, method: Method) -> None:
        """Let the kernels that a method needs be compiled or read before any time is measured.

        By default the booster is fitted once to a handful of rows.
        """
        from boostlab.boosters import REGISTRY

        X = np.arange(12.0).reshape(6, 2)
        model = REGISTRY[method.booster].cls(n_estimators=2, n_jobs=1, random_state=0)
        model.fit(X, [-1, 1, 1, -1, 1, 1]).predict(X)


@dataclass(frozen=True)
class Cell:
    """The unit of work and of the store: one method on one repeat of one problem."""

    problem: StudyProblem
    method: Method
    protocol: Procedure
    repeat: int

    @cached_property
    def definition(self) -> Definition:
        """The full definition, but for the data's hash, which the runner adds when it has read them."""
        return {
            "problem": self.problem.definition(),
            "method": self.method.definition(),
            "protocol": self.protocol.definition(),
            "repeat": self.repeat,
        }


@dataclass(frozen=True)
class Block:
    """Problems × methods × repeats under one protocol."""

    name: str
    problems: Sequence[StudyProblem]
    methods: Sequence[Method]
    protocol: Procedure
    repeats: Mapping[str, int]  # how many in each tier: {"quick": 5, "full": 50}

    def cells(self, repeats: int) -> Iterator[Cell]:
        """Yield the cells, a whole repeat of all problems after the other; those that share their parts together."""
        for repeat in range(repeats):
            for problem in self.problems:
                for method in self.methods:
                    yield Cell(problem, method, self.protocol, repeat)


def key(definition: Definition, data_hash: str) -> str:
    """Return the name of a cell in the store: whatever is defined otherwise has another.

    Examples
    --------
    >>> key({"repeat": 0}, "abc") == key({"repeat": 0}, "abc") != key({"repeat": 1}, "abc")
    True
    """
    text = json.dumps({**definition, "data": data_hash}, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def code_version(booster: str) -> str:
    """Return a short hash of a booster's code: its rule and what that builds on, and its parameters' defaults.

    Where the files lie, what they import and how they are explained does not matter (see `statements`).  The engine,
    the weak learners and the estimator's own code are not in it: a change of what they compute raises the
    protocols' versions.  A rule that was rewritten without a change of its models keeps the hash that it had
    (same_code.csv), and so its cells.

    Examples
    --------
    >>> code_version("AdaBoostClassifier") != code_version("BrownBoostClassifier")
    True
    """
    from boostlab.boosters import REGISTRY, REGRESSORS  # all boosters, which a study of something else does without

    model = (REGISTRY | REGRESSORS)[booster].cls()
    sources = sorted({statements(inspect.getsource(part)) for part in _parts(type(model._rule()))})
    params = model.get_params(deep=False).items()
    defaults = repr(sorted((name, repr(value)) for name, value in params if name not in NO_CONSTRAINTS))
    found = hashlib.sha256("".join([*sources, defaults]).encode()).hexdigest()[:12]
    return same_code().get(found, found)


@cache
def same_code() -> dict[str, str]:
    """Return the hashes of rewritten rules whose golden models are the same to the bit, and what they were before."""
    text = files("boostlab.studies").joinpath("same_code.csv").read_text(encoding="utf-8")
    return {row["now"]: row["before"] for row in csv.DictReader(text.splitlines())}


def _parts(rule: type) -> list[Any]:
    """Return the classes that a rule is made of, the functions beside them, and the modules of the programs it uses."""
    parts: list[Any] = []
    for cls in rule.__mro__:
        if not cls.__module__.startswith("boostlab.boosters"):
            continue
        parts.append(cls)
        for thing in vars(sys.modules[cls.__module__]).values():
            home = getattr(thing, "__module__", None) or ""
            if home.startswith("boostlab.solvers"):
                parts.append(sys.modules[home])
            elif home == cls.__module__ and inspect.isfunction(thing):
                parts.append(thing)
    return parts


def statements(source: str) -> str:
    r"""Return what a file computes: its lines without imports, docstrings, comments and blank lines.

    So a module that is moved, renamed or explained better is the same code.  The text, not the syntax tree, is hashed,
    because trees differ from one version of Python to the next.

    Parameters
    ----------
    source : str
        Text of a module.

    Returns
    -------
    str

    Examples
    --------
    >>> statements("from math import log\n\nalpha = log(3) / 2  # of error 1/4")
    'alpha = log(3) / 2'
    """
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node):
            rows = range(node.lineno - 1, node.end_lineno or node.lineno)
            lines = ["" if row in rows else line for row, line in enumerate(lines)]
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _is_text(node: ast.AST) -> TypeGuard[ast.Expr]:
    """Whether a statement is nothing but a text: a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be part of a definition; use numbers, texts, lists and mappings.")
