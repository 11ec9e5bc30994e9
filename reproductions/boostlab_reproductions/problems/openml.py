"""OpenML's folds, made again: its server draws them by Java's generator and Weka's stratification, from labels alone.

OpenML keeps the folds of a task as a file.  Its evaluation engine (github.com/openml/EvaluationEngine) makes that file
from the data set: rows are shuffled by `java.util.Random(0)`, grouped by class and dealt out.  The engine's tests hold
the MD5 sum of the file for 53 tasks, among them those below; that our files have these sums shows that our folds are
OpenML's, and our rows in its order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

FOLDS = 10


@dataclass(frozen=True)
class OpenMLTask:
    """A task of ten-fold cross-validation: its number, OpenML's name of the set, and the sum of the file of folds."""

    number: int
    data: str
    md5: str


OPENML_TASKS = {
    "balance_scale": OpenMLTask(11, "balance-scale", "84d686e6d3fd6accbebfe9655d878968"),
    "breast_w": OpenMLTask(15, "breast-w", "629187e978ad5dc153e96ae621812292"),
    "cmc": OpenMLTask(23, "cmc", "cfbd72c04e1a343a321a61adee3bd476"),
    "crx": OpenMLTask(29, "credit-approval", "49989a0496f3732ed26c3cc594d77e42"),
    "german": OpenMLTask(31, "credit-g", "86bc7780f1c9bd2bbda90e10c79aee3d"),
    "optdigits": OpenMLTask(28, "optdigits", "80458f62d485084cdbe8c5c81a5032bd"),
    "pendigits": OpenMLTask(32, "pendigits", "9f6a71b5365335adc0a4450cfe70e464"),
    "pima": OpenMLTask(37, "diabetes", "7df65f4e83e40f2ff59601a717432d71"),
    "spambase": OpenMLTask(43, "spambase", "b428d2ce1203af8600aa44ace8f3cbf9"),
    "splice": OpenMLTask(45, "splice", "8cb8a8586289cf38046b8279998586ef"),
    "tictactoe": OpenMLTask(49, "tic-tac-toe", "b5c7370f3ebde16f6203c0af8f2f565e"),
}
"""Tasks of OpenML's suite CC18 (its study 99) whose folds we have, by the name of our set.

Of the others that we hold letter has its rows in another order here, and no sum is known of adult, car, cylinder_bands,
mnist_10k (a part of the set), satimage, segmentation, vowel and wdbc.
"""


class JavaRandom:
    """The whole numbers of `java.util.Random`: a linear congruential generator of 48 bits.

    Examples
    --------
    >>> random = JavaRandom(0)
    >>> [random.below(100) for _ in range(10)]
    [60, 48, 29, 47, 15, 53, 91, 61, 19, 54]
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) % 2**48

    def below(self, n: int) -> int:
        """Return a number from 0 to n - 1.

        Parameters
        ----------
        n : int
            At most 2^31 - 1.
        """
        if n & (n - 1) == 0:  # a power of two: the upper bits
            return (n * self._bits()) >> 31
        while True:
            bits = self._bits()
            if bits - bits % n + n <= 2**31:  # else numbers up to the remainder would come too often
                return bits % n

    def _bits(self) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) % 2**48
        return self._state >> 17


def openml_order(labels: Sequence[Any] | Array, folds: int = FOLDS) -> list[int]:
    """Return all rows, those of the first fold first: shuffled, grouped by class, and every tenth row dealt to a fold.

    Parameters
    ----------
    labels : sequence
        The classes, in the order of OpenML's rows.
    folds : int, default=10
        Their number.
    """
    y = np.unique(np.asarray(labels), return_inverse=True)[1].tolist()
    rows, random = list(range(len(y))), JavaRandom(0)
    for last in range(len(y) - 1, 0, -1):
        other = random.below(last + 1)
        rows[last], rows[other] = rows[other], rows[last]
    end = 1  # rows before it are grouped by class
    while end < len(rows):
        label = y[rows[end - 1]]
        for k in range(end, len(rows)):
            if y[rows[k]] == label:
                rows[end], rows[k] = rows[k], rows[end]
                end += 1
        end += 1
    return [row for start in range(folds) for row in rows[start::folds]]


def openml_folds(labels: Sequence[Any] | Array, folds: int = FOLDS) -> list[list[int]]:
    """Return the rows that every fold tests, in OpenML's order.

    Parameters
    ----------
    labels : sequence
        The classes, in the order of OpenML's rows.
    folds : int, default=10
        Their number.

    Examples
    --------
    >>> openml_folds([0, 1] * 5, 2)
    [[4, 6, 0, 9, 7], [8, 2, 5, 1, 3]]
    """
    rows = iter(openml_order(labels, folds))
    size, larger = divmod(len(labels), folds)
    return [[next(rows) for _ in range(size + (k < larger))] for k in range(folds)]


def openml_file(name: str, folds: Sequence[Sequence[int]]) -> str:
    """Return OpenML's file of folds as it is written: for every fold the rows that train, then those that test.

    Parameters
    ----------
    name : str
        OpenML's name of the data set.
    folds : sequence of sequences of int
        The rows that every fold tests.
    """
    head = ("type {TRAIN,TEST}", "rowid numeric", "repeat numeric", "fold numeric")
    lines = [f"@relation {name}_splits", "", *(f"@attribute {one}" for one in head), "", "@data"]
    for k, test in enumerate(folds):
        train = (row for j, others in enumerate(folds) if j != k for row in others)
        lines += [f"TRAIN,{row},0,{k}" for row in train] + [f"TEST,{row},0,{k}" for row in test]
    return "\n".join(lines)


def openml_sum(name: str, folds: Sequence[Sequence[int]]) -> str:
    """Return the MD5 sum of that file, by which folds are known to be OpenML's.

    Parameters
    ----------
    name : str
        OpenML's name of the data set.
    folds : sequence of sequences of int
        The rows that every fold tests.
    """
    return hashlib.md5(openml_file(name, folds).encode(), usedforsecurity=False).hexdigest()
