"""How cells of text are read: plain numbers, separators, currencies, percent, dates, yes and no.

A `Form` is inferred once from a column's cells and kept in the recipe; `read_cells` applies it to these cells and to
those of every later file, so that equal cells give equal numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

MISSING = frozenset({"", "?", "na", "n/a", "nan", "<na>", "null", "#n/a", "nat"})
MISSING_NUMBER = MISSING | {"none", "-", ".", "--"}  # these may be words of their own among words

_CURRENCY = "$€£¥₹₽₩"
_CODES = r"(?:USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|INR|CNY)"
_UNIT = re.compile(
    rf"^(?P<minus>[-+(]?)\s*(?P<before>[{_CURRENCY}]|{_CODES}(?=[\s\d]))?\s*"
    r"(?P<number>[-+]?[\d.,' \u00a0\u202f]*\d[\d.,]*(?:[eE][-+]?\d+)?)"
    rf"(?P<after>\s*%|\s*[{_CURRENCY}]|\s*{_CODES}|\s+[a-zµ°²³/]{{1,8}})?\s*\)?$"
)
_MARKS = (("", "."), ("", ","), (",", "."), (".", ","), ("'", "."), (" ", "."), (" ", ","))  # thousands, decimal
_TRUE = ("yes", "true", "y", "t", "on", "ja", "oui", "si", "sí", "wahr", "vrai", "verdadero")
_FALSE = ("no", "false", "n", "f", "off", "nein", "non", "no", "no", "falsch", "faux", "falso")
_DATES = (
    *("iso", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%d-%m-%Y"),
    *("%d-%b-%Y", "%d %b %Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%Y.%m.%d"),
    *("%H:%M", "%H:%M:%S"),
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_HAS_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2}, \d{4}|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{4}"
    r"|^\d{1,2}:\d{2}(:\d{2})?$"
)
_DAY = 86400.0
_MANY = 200  # cells that are worth another library
_BLANKS = " \u00a0\u202f"


@dataclass(frozen=True)
class Form:
    """How the cells of a column are read.

    Attributes
    ----------
    kind : {"number", "words", "boolean", "date"}
    thousands, decimal : str
        The marks of numbers.
    unit : str
        What stands beside every number: "$", "%", "kg".
    date : str
        "iso", or a format of `strptime`.
    """

    kind: str = "number"
    thousands: str = ""
    decimal: str = "."
    unit: str = ""
    date: str = ""

    def to_json(self) -> dict[str, str]:
        """Return what differs from a plain number."""
        return {name: value for name, value in asdict(self).items() if value != getattr(Form, name)}

    def says(self) -> str:
        """Return it for people; empty for what needs no words."""
        if self.kind == "date":
            return "dates" if self.date == "iso" else f"dates written as {self.date}"
        marks = [f"thousands {self.thousands!r}"] if self.thousands else []
        marks += [f"decimal {self.decimal!r}"] if self.decimal != "." else []
        parts = [f"in {self.unit}"] if self.unit else []
        return " ".join([*parts, f"with {' and '.join(marks)}"] if marks else parts)


WORDS = Form("words")
BOOLEAN = Form("boolean")


def infer(cells: Sequence[str], decimal_comma: bool = False) -> Form:
    """Return the form that all cells but the missing ones have.

    Parameters
    ----------
    cells : sequence of str
        Without blanks around them.
    decimal_comma : bool, default=False
        Whether "3,5" is a number rather than two, as in files whose columns are parted by semicolons.

    Returns
    -------
    Form

    Examples
    --------
    >>> infer(["1,234.50", "12"]).thousands, infer(["$12.40", "?"]).unit, infer(["2024-01-31"]).kind
    (',', '$', 'date')
    >>> infer(["Yes", "no"]).kind, infer(["red", "12"]).kind
    ('boolean', 'words')
    """
    distinct = dict.fromkeys(cells)
    there = [cell for cell in distinct if cell.casefold() not in MISSING_NUMBER]
    if not there:
        return WORDS
    if all(any(map(str.isdigit, cell)) or "inf" in cell.casefold() for cell in there):
        found = number_form(there, decimal_comma)
        if found is not None:
            return found
        date = _date_form(there)
        if date:
            return Form("date", date=date)
    return BOOLEAN if is_boolean({c.casefold() for c in distinct if c.casefold() not in MISSING}) else WORDS


def is_boolean(words: set[str]) -> bool:
    """Whether the words of a column, in lower case, are yes and no, or their kin."""
    return words in [{yes, no} for yes, no in zip(_TRUE, _FALSE, strict=True)]


def read_cells(cells: Sequence[str], form: Form) -> Array | tuple[str, ...]:
    """Return numbers (NaN where a cell cannot be read), or words (empty where missing), by a form.

    Dates are days since 1970, in UTC where they have a zone; booleans stay words.

    Examples
    --------
    >>> read_cells(["23 %", "?", "7.5%"], Form(unit="%")).tolist()
    [23.0, nan, 7.5]
    >>> read_cells(["1.234,50"], Form(thousands=".", decimal=",")).tolist()
    [1234.5]
    """
    if form.kind in ("words", "boolean"):
        return tuple("" if cell.casefold() in MISSING else cell for cell in cells)
    if form == Form():
        numbers = plain_numbers(cells)
        if numbers is not None:
            return np.where(np.isfinite(numbers), numbers, np.nan)
    known = {cell: _value(cell, form) for cell in set(cells)}
    return np.array([known[cell] for cell in cells], dtype=np.float64)


def is_true(words: Iterable[str]) -> Array:
    """Return 1 for yes and its kin, 0 for no, NaN for what is neither."""
    known = {**dict.fromkeys(_FALSE, 0.0), **dict.fromkeys(_TRUE, 1.0)}
    return np.array([known.get(word.casefold(), math.nan) for word in words])


def _value(cell: str, form: Form) -> float:
    if cell.casefold() in MISSING_NUMBER:
        return math.nan
    if form.kind == "date":
        moment = _moment(cell, form.date)
        return math.nan if moment is None else moment
    value = _number(cell, form)
    return math.nan if value is None or not math.isfinite(value) else value


# -- numbers ---------------------------------------------------------------------------------------------------------


def plain_number(cell: str, decimal_comma: bool = False) -> float | None:
    """Return a cell as a number without separators and units, None if it is none."""
    if decimal_comma and re.fullmatch(r"[-+]?\d+,\d+([eE][-+]?\d+)?", cell):
        cell = cell.replace(",", ".")
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def plain_numbers(cells: Sequence[str]) -> Array | None:
    """Return cells as numbers if all but the missing ones are plain numbers, else None.

    Examples
    --------
    >>> plain_numbers(["1", "?", "2.5"]).tolist(), plain_numbers(["1", "2 kg"])
    ([1.0, nan, 2.5], None)
    """
    if "_" in "".join(cells):  # in which Python sees numbers, and people codes
        return None
    try:
        return floats(cells)
    except ValueError:
        pass
    try:
        return floats(["nan" if cell.casefold() in MISSING_NUMBER else cell for cell in cells])
    except ValueError:
        return None


def floats(cells: Sequence[str]) -> Array:
    """Return what `float` makes of cells; ValueError if one is no number.  Arrow rounds as Python does, and faster."""
    if len(cells) >= _MANY:
        with suppress(ImportError, ValueError):
            import pyarrow

            return np.asarray(pyarrow.array(cells).cast(pyarrow.float64()))
    return np.array(cells, dtype=np.float64)


def number_form(cells: Sequence[str], decimal_comma: bool) -> Form | None:
    """Return the first form by which every cell is a number; None if there is none."""
    marks = (_MARKS[0], _MARKS[1], *_MARKS[2:]) if decimal_comma else (_MARKS[0], *_MARKS[2:])
    units = {_unit(cell) for cell in cells} - {None}
    symbols = [unit for unit in units if unit and not unit[0].islower()]
    if len(units - {""}) > 1 or (units - {""} and "" in units and not symbols):
        return None  # several units, or some cells without: "12 kg" beside "12"
    unit = next((unit for unit in units if unit), "")
    for thousands, decimal in marks:
        form = Form("number", thousands, decimal, unit or "")
        if thousands and not any(set(thousands.replace(" ", _BLANKS)) & set(cell) for cell in cells):
            continue  # nothing says that it is one
        if all(_number(cell, form) is not None for cell in cells):
            return form
    return None


def _unit(cell: str) -> str | None:
    """Return what stands beside a number; None where there is no number."""
    if plain_number(cell) is not None:
        return ""
    match = _UNIT.match(cell)
    if match is None:
        return None
    return (match["before"] or match["after"] or "").strip()


def _number(cell: str, form: Form) -> float | None:
    """Return a cell as a number of a form, None if it is none."""
    if not form.unit and not form.thousands and form.decimal == ".":
        return plain_number(cell)
    match = _UNIT.match(cell)
    if match is None or (match["before"] or match["after"] or "").strip() not in ("", form.unit):
        return None
    digits = match["number"].strip()
    sign = -1.0 if match["minus"] in ("-", "(") else 1.0
    if (match["minus"] == "(") != cell.endswith(")"):
        return None
    if form.thousands:
        blanks = form.thousands == " "
        digits = re.sub(r"[\u00a0\u202f]", " ", digits) if blanks else digits
        mark, point = re.escape(form.thousands), re.escape(form.decimal)
        if not re.fullmatch(rf"[-+]?(\d{{1,3}}({mark}\d{{3}})+|\d+)({point}\d+)?([eE][-+]?\d+)?", digits):
            return None
        digits = digits.replace(form.thousands, "")
    elif re.search(r"[ ']", digits):
        return None
    if form.decimal != ".":
        if "." in digits:
            return None
        digits = digits.replace(form.decimal, ".")
    value = plain_number(digits)
    return None if value is None else sign * value


# -- dates -----------------------------------------------------------------------------------------------------------


def _date_form(cells: Sequence[str]) -> str:
    """Return the format of which all cells are dates; empty if there is none."""
    if not all(looks_like_date(cell) for cell in cells[:50]):
        return ""
    return next((form for form in date_forms() if all(is_moment(cell, form) for cell in cells)), "")


def date_forms() -> Iterator[str]:
    """Yield the formats of dates, in the order in which they are tried."""
    for date in _DATES:
        for clock in ("",) if date == "iso" or "%H" in date else _TIMES:
            yield date + clock


def looks_like_date(cell: str) -> bool:
    """Whether a cell is worth a closer look."""
    return _HAS_DATE.search(cell) is not None


def is_moment(cell: str, form: str) -> bool:
    """Whether a cell is a date of a format."""
    return _moment(cell, form) is not None


def is_date_form(text: str) -> bool:
    """Whether a text is one of the formats that dates are read by."""
    return text in {date + clock for date in _DATES for clock in _TIMES}


def _moment(cell: str, form: str) -> float | None:
    """Return days since 1970; None if a cell is no such date."""
    try:
        moment = datetime.fromisoformat(cell) if form == "iso" else datetime.strptime(cell, form)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.timestamp() / _DAY


def date_parts(days: Array) -> dict[str, Array]:
    """Return what boosters can use of dates: days since 1970, year, month, weekday, hour.

    Parameters
    ----------
    days : array of float
        Days since 1970; NaN where missing.

    Returns
    -------
    dict from str to array

    Examples
    --------
    >>> {name: part.tolist() for name, part in date_parts(np.array([0.75])).items()}
    {'days since 1970': [0.75], 'year': [1970.0], 'month': [1.0], 'weekday': [4.0], 'hour': [18.0]}
    """
    there = np.isfinite(days)
    seconds = np.round(np.where(there, days, 0.0) * _DAY).astype("datetime64[s]")
    months = seconds.astype("datetime64[M]").astype(np.int64)
    whole = np.floor(np.round(np.where(there, days, 0.0) * _DAY) / _DAY)
    parts = {
        "days since 1970": days,
        "year": 1970.0 + months // 12,
        "month": 1.0 + months % 12,
        "weekday": (whole + 3) % 7 + 1,  # 1 is Monday
        "hour": np.floor((np.round(np.where(there, days, 0.0) * _DAY) - whole * _DAY) / 3600.0),
    }
    return {name: np.where(there, part, np.nan) for name, part in parts.items()}
