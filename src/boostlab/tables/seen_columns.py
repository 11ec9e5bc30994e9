"""What passes over a large file learn of its columns: enough to understand them, and never all cells at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from boostlab.studies.request import RequestError
from boostlab.tables.columns import Array, RawSheet, are_sentences, finite, read_column, telling_words, words_of
from boostlab.tables.form_search import FormSearch
from boostlab.tables.forms import WORDS, Form, date_parts, read_cells

MOST_VALUES = 10_000  # different numbers that are counted one by one
MOST_WORDS = 65_536  # different words that are; more are no categories


class NumberFacts:
    """What is known of a column of numbers."""

    def __init__(self) -> None:
        self.n_rows = self.n_missing = 0
        self.low, self.high = np.inf, -np.inf
        self.whole = True
        self.tally: tuple[Array, Array] | None = np.empty(0), np.empty(0, np.int64)  # values and rows, while few
        self.unlike: list[Array] | None = []  # whole numbers of which no two are equal so far: an id?

    def see(self, numbers: Array) -> None:
        """Look at some rows."""
        numbers = finite(numbers)
        there = numbers[~np.isnan(numbers)]
        self.n_rows += len(numbers)
        self.n_missing += len(numbers) - len(there)
        if not len(there):
            return
        self.low, self.high = min(self.low, float(there.min())), max(self.high, float(there.max()))
        self.whole = self.whole and not self.n_missing and bool(np.all(there % 1 == 0))
        if not self.whole:
            self.unlike = None
        if self.tally is None and self.unlike is None:
            return
        values, counts = np.unique(there, return_counts=True)
        if self.unlike is not None and len(values) == len(there):
            self.unlike.append(values)
        else:
            self.unlike = None
        if self.tally is not None:
            self.tally = _tallied(self.tally, (values, counts))

    @property
    def counts(self) -> dict[float, int] | None:
        """How many rows have each value, while there are few values."""
        return None if self.tally is None else dict(zip(*(x.tolist() for x in self.tally), strict=True))

    @property
    def n_distinct(self) -> int:
        """How many different numbers there are; of many, whether all differ, or more than are counted."""
        if self.tally is not None:
            return len(self.tally[0])
        if self.unlike is not None:
            values = np.sort(np.concatenate(self.unlike))
            self.unlike = [values] if np.all(values[1:] != values[:-1]) else None
        return self.n_rows if self.unlike is not None else MOST_VALUES + 1


def _tallied(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array] | None:
    """Return values and their rows of two tallies; None if there are too many values."""
    values, place = np.unique(np.concatenate([a[0], b[0]]), return_inverse=True)
    if len(values) > MOST_VALUES:
        return None
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, place, np.concatenate([a[1], b[1]]))
    return values, counts


class DateFacts(NumberFacts):
    """What is known of a column of dates, and which of their parts have several values."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = dict.fromkeys(date_parts(np.zeros(1)), (np.inf, -np.inf))

    def see(self, numbers: Array) -> None:
        """Look at some rows."""
        super().see(numbers)
        for name, part in date_parts(finite(numbers)).items():
            there, (low, high) = part[~np.isnan(part)], self.parts[name]
            if len(there):
                self.parts[name] = min(low, float(there.min())), max(high, float(there.max()))


class WordFacts:
    """What is known of a column of words."""

    def __init__(self) -> None:
        self.n_rows = self.n_missing = self.n_words = 0
        self.counts: Counter[str] | None = Counter()  # while they are few
        self.hashes: list[Array] = []  # of different words, when they are many

    def see(self, words: Sequence[str]) -> None:
        """Look at some rows."""
        self.n_rows += len(words)
        counts = Counter(words)
        self.n_missing += counts.pop("", 0)
        self.n_words += sum(count * len(word.split()) for word, count in counts.items())
        if self.counts is not None:
            self.counts.update(counts)
            if len(self.counts) > MOST_WORDS:
                self._hash(self.counts)
                self.counts = None
        else:
            self._hash(counts)

    def _hash(self, words: Iterable[str]) -> None:
        self.hashes.append(np.unique(np.fromiter(map(hash, words), np.int64)))
        if len(self.hashes) > 64:
            self.hashes = [np.unique(np.concatenate(self.hashes))]

    @property
    def n_distinct(self) -> int:
        """How many different words there are."""
        if self.counts is not None:
            return len(self.counts)
        self.hashes = [np.unique(np.concatenate(self.hashes))]
        return len(self.hashes[0])


class SeenColumn:
    """A column of a large file: what `Column` answers, without its cells.

    Parameters
    ----------
    name : str
    decimal_comma : bool
        As for `infer`.
    """

    def __init__(self, name: str, decimal_comma: bool) -> None:
        self.name, self.decimal_comma = name, decimal_comma
        self.form, self.done = Form(), False
        self.typed: bool | None = None  # whether cells come as numbers
        self._search: FormSearch | None = FormSearch(decimal_comma)
        self._numbers, self._words = NumberFacts(), WordFacts()
        self._counter: Counter[str] | None = None  # of the words in sentences

    def see(self, cells: Sequence[str] | Array) -> None:
        """Look at some rows, in this pass."""
        if self.done:
            return
        typed = isinstance(cells, np.ndarray)
        if self.typed is None:
            self.typed = typed
        elif self.typed != typed:
            kinds = ("numbers", "text") if typed else ("text", "numbers")
            raise RequestError(f"the column {self.name!r} holds {kinds[0]}, and held {kinds[1]} before.")
        if self._counter is not None:
            for cell in cells:
                self._counter.update(words_of(cell))
        elif isinstance(cells, np.ndarray):
            self._numbers.see(cells)
        elif self._search is not None:
            numbers = self._search.see(cells)
            if numbers is not None:
                self._numbers.see(numbers)
            else:
                self._words.see(read_cells(cells, WORDS))  # type: ignore[arg-type]
        else:
            column = read_column(self.name, cells, self.form, self.decimal_comma)
            if column.numbers is None:
                self._words.see(column.words)
            else:
                self._numbers.see(column.numbers)

    def advance(self) -> None:
        """Draw conclusions from a pass; `done` says whether another one is of no use."""
        if self._counter is not None or self.typed or self.done:
            self.done = True
            return
        if self._search is not None:
            if self._search.late:
                self._search = FormSearch(self.decimal_comma, shapes=True)
                self._numbers, self._words = NumberFacts(), WordFacts()
                return
            self.form, plain = self._search.form(), self._search.plain
            seen_as_words = self.form.kind in ("words", "boolean") and not self._numbers.n_rows
            self._search = None
            if not (seen_as_words or (plain and self.form == Form())):
                dates = self.form.kind == "date"
                self._numbers, self._words = DateFacts() if dates else NumberFacts(), WordFacts()
                return
        if self.holds_words and self.holds_text:
            self._counter = Counter()
            return
        self.done = True

    @property
    def facts(self) -> NumberFacts | WordFacts:
        """What is known of its values."""
        return self._words if self.holds_words else self._numbers

    @property
    def holds_words(self) -> bool:
        """Whether it holds words, and not numbers."""
        return self.form.kind in ("words", "boolean")

    @property
    def n_missing(self) -> int:
        """How many cells are empty."""
        return self.facts.n_missing

    @property
    def n_distinct(self) -> int:
        """How many different values it has; of very many, about."""
        return self.facts.n_distinct

    @property
    def distinct_words(self) -> set[str]:
        """The different words."""
        if not self.holds_words:
            return set()
        if self._words.counts is None:
            raise RequestError(
                f"The column {self.name!r} has {self.n_distinct:,} different words, and at most {MOST_WORDS:,} can be "
                "categories; leave it out with --drop."
            )
        return {*self._words.counts, *([""] if self.n_missing else [])}

    @property
    def is_whole(self) -> bool:
        """Whether all cells are whole numbers, none missing."""
        return not self.holds_words and self._numbers.whole and not self.n_missing

    @property
    def span(self) -> float:
        """How far the largest number is from the smallest."""
        return self._numbers.high - self._numbers.low

    @property
    def holds_text(self) -> bool:
        """Whether it holds sentences."""
        words = self._words
        return self.holds_words and are_sentences(words.n_rows - words.n_missing, words.n_distinct, words.n_words)

    @property
    def telling_words(self) -> tuple[str, ...]:
        """Words of sentences that some rows have and others do not."""
        assert self._counter is not None
        return telling_words(self._counter, self._words.n_rows)

    @property
    def varying_parts(self) -> tuple[str, ...]:
        """The parts of dates that have several values."""
        assert isinstance(self._numbers, DateFacts)
        return tuple(name for name, (low, high) in self._numbers.parts.items() if low < high)

    def values(self) -> tuple[list[Any], Array]:
        """Return the different values in order, and how many rows have each."""
        counts: Any = self.facts.counts
        if counts is None:
            raise RequestError(
                f"The target {self.name!r} has more than {MOST_VALUES:,} different values, which is no small number of "
                "classes; choose another column, or cut its values into a few ranges."
            )
        order = sorted(counts)
        return order, np.array([counts[value] for value in order], np.int64)


def seen_columns(batches: Any) -> tuple[list[SeenColumn], int, list[str]]:
    """Pass over a file until all its columns are understood; return them, the number of rows, and remarks.

    Parameters
    ----------
    batches : callable
        Returns all batches, as names and `RawSheet`s, once more every time it is called.
    """
    columns: list[SeenColumn] = []
    n_rows, remarks = 0, list[str]()
    while not columns or not all(column.done for column in columns):
        n_rows = 0
        for name, raw in batches():
            columns = columns or [SeenColumn(one, raw.decimal_comma) for one in raw.names]
            n_rows, remarks = n_rows + raw.n_rows, raw.remarks
            _see(columns, raw, name)
        if not n_rows:
            raise RequestError("The table has no rows; there is nothing to learn from.")
        for column in columns:
            column.advance()
    return columns, n_rows, remarks


def _see(columns: Sequence[SeenColumn], raw: RawSheet, name: str) -> None:
    for column, cells in zip(columns, raw.cells, strict=True):
        try:
            column.see(cells)
        except RequestError as error:
            raise RequestError(f"In {name}: {error}") from None
