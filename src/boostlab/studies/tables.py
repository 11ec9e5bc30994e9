"""Cells of a study's tables: mean ± standard error, who is best, how far from the printed value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, isfinite, isnan, log10, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.statistics.paired import mark_best
from boostlab.studies.study import Results

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Spread:
    """A mean and its standard error in a table: one text on the page, two numbers in the file.

    Examples
    --------
    >>> str(Spread(3.42, 0.11)), str(Spread(3.42, 0.11, digits=0, bold=True)), str(Spread(3.42))
    ('3.4 ± 0.1', '**3 ± 0**', '3.4')
    """

    mean: float
    error: float = float("nan")
    digits: int = 1
    bold: bool = False

    def __str__(self) -> str:
        text = plus_minus(self.mean, self.error, self.digits)
        return f"**{text}**" if self.bold and text else text


def mean_and_error(values: npt.ArrayLike) -> tuple[float, float]:
    """Return the mean and its standard error, of what is not NaN; NaN where there is too little.

    Parameters
    ----------
    values : array-like
        One value a repeat.

    Returns
    -------
    mean, standard_error : float

    Examples
    --------
    >>> mean_and_error([1.0, 2.0, 3.0, float("nan")])
    (2.0, 0.5773502691896258)
    """
    found = np.asarray(values, float)
    found = found[~np.isnan(found)]
    if not len(found):
        return float("nan"), float("nan")
    error = found.std(ddof=1) / sqrt(len(found)) if len(found) > 1 else float("nan")
    return float(found.mean()), float(error)


def plus_minus(mean: float, error: float = float("nan"), digits: int = 1) -> str:
    """Return "mean ± standard error"; without the latter where it is not known.

    Parameters
    ----------
    mean, error : float
        Both in the unit that is shown.
    digits : int, default=1
        After the point.

    Returns
    -------
    str

    Examples
    --------
    >>> plus_minus(3.42, 0.11), plus_minus(3.42), plus_minus(float("nan"))
    ('3.4 ± 0.1', '3.4', '')
    """
    if isnan(mean):
        return ""
    return f"{mean:.{digits}f}" if isnan(error) else f"{mean:.{digits}f} ± {error:.{digits}f}"


def percent(values: npt.ArrayLike, digits: int = 1) -> str:
    """Return shares as "mean ± standard error" in percent.

    Parameters
    ----------
    values : array-like
        Shares, one a repeat.
    digits : int, default=1
        After the point.

    Returns
    -------
    str

    Examples
    --------
    >>> percent([0.1, 0.2, 0.3])
    '20.0 ± 5.8'
    """
    mean, error = mean_and_error(values)
    return plus_minus(100 * mean, 100 * error, digits)


def as_good_as_best(values: Array) -> Array:
    """Return which methods have the smallest mean error, or one not significantly different (paired t-test, 1 percent).

    Parameters
    ----------
    values : array of shape (n_methods, n_repeats)
        Errors; NaN where missing.

    Returns
    -------
    array of bool of shape (n_methods,)

    Examples
    --------
    >>> as_good_as_best(np.array([[1.0, 2.0, 3.0], [1.0, 2.1, 3.0], [5.0, 6.1, 7.0]]))
    array([ True,  True, False])
    """
    return mark_best(values.T).marked


def error_table(
    results: Results,
    block: str,
    value: str = "test_error",
    *,
    digits: int = 1,
    marks: Callable[[Array], npt.ArrayLike] = as_good_as_best,
    name: str = "data",
) -> list[dict[str, Any]]:
    """Return a row a problem, a column a method, "mean ± standard error" in percent; bold what `marks` marks.

    Parameters
    ----------
    results : Results
        The finished cells.
    block : str
        Name of the block.
    value : str, default="test_error"
        A share among the outcome's numbers.
    digits : int, default=1
        After the point.
    marks : callable, default=as_good_as_best
        Takes an array of shape (n_methods, n_repeats), returns which methods are set in bold.
    name : str, default="data"
        Heading of the first column.

    Returns
    -------
    list of dict
    """
    problems, methods, values = results.matrix(block, value)
    rows = []
    for problem, of_methods in zip(problems, values, strict=True):
        numbers = [mean_and_error(one) for one in of_methods]
        marked = np.asarray(marks(of_methods), bool)
        cells = [
            Spread(100 * mean, 100 * error, digits, bool(bold))
            for (mean, error), bold in zip(numbers, marked, strict=True)
        ]
        rows.append({name: problem, **dict(zip(methods, cells, strict=True))})
    return rows


def difference(ours: float, error: float, theirs: float, their_error: float = 0.0) -> float:
    """Return how far our mean lies above the published one, in standard errors of the difference.

    Parameters
    ----------
    ours, error : float
        Our mean and its standard error.
    theirs, their_error : float
        The published mean and its standard error; an error that is not printed counts as 0.

    Returns
    -------
    float
        NaN where it cannot be said.

    Examples
    --------
    >>> difference(5.0, 0.3, 4.0, 0.4)
    2.0
    """
    scale = sqrt(error**2 + (0.0 if isnan(their_error) else their_error) ** 2)
    return (ours - theirs) / scale if scale > 0.0 else float("nan")


def against_published(
    results: Results,
    block: str,
    published: Mapping[tuple[str, str], tuple[float, float]],
    value: str = "test_error",
    *,
    named: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Return a row a problem and method: ours, the published value, the difference in standard errors; all in percent.

    Parameters
    ----------
    results : Results
        The finished cells.
    block : str
        Name of the block.
    published : mapping from (problem, method) to (mean, standard error)
        The printed values, in percent; NaN for an error that is not printed.
    value : str, default="test_error"
        A share among the outcome's numbers.
    named : mapping from str to str, optional
        Names of problems in the published table, where they are others.

    Returns
    -------
    list of dict
    """
    problems, methods, values = results.matrix(block, value)
    rows: list[dict[str, Any]] = []
    for i, problem in enumerate(problems):
        for j, method in enumerate(methods):
            printed = published.get(((named or {}).get(problem, problem), method))
            mean, error = (100 * number for number in mean_and_error(values[i, j]))
            if printed is None or isnan(mean):
                continue
            gap = difference(mean, error, *printed)
            rows.append(
                {
                    "data": problem,
                    "method": method,
                    "ours": Spread(mean, error, 2),
                    "published": Spread(*printed, 2),
                    "difference": round(mean - printed[0], 4),
                    "in standard errors": round(gap, 2),
                }
            )
    return rows


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as a Markdown table, the columns in the order in which they first appear.

    Parameters
    ----------
    rows : sequence of mapping
        Values of any kind; floats are shown with four digits, those of a column with as many after the point.

    Returns
    -------
    str

    Examples
    --------
    >>> print(markdown([{"data": "wine", "error": 0.123456}, {"data": "yeast", "error": 0.3}, {"data": "a|b"}]))
    | data | error |
    |---|---|
    | wine | 0.1235 |
    | yeast | 0.3000 |
    | a\\|b |  |
    """
    columns = columns_of(rows)
    if not columns:
        return ""
    shown = [_column([row.get(column, "") for row in rows]) for column in columns]
    lines = [columns, *(list(line) for line in zip(*shown, strict=True))]
    text = ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines]
    return "\n".join([text[0], "|" + "---|" * len(columns), *text[1:]])


def plain(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows as they are written to a file: numbers and texts without marks, a `Spread` as two columns.

    Parameters
    ----------
    rows : sequence of mapping
        The table.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> plain([{"data": "**wine**", "AdaBoost": Spread(3.5, 0.25)}])
    [{'data': 'wine', 'AdaBoost': 3.5, 'AdaBoost s.e.': 0.25}]
    """
    columns = columns_of(rows)
    with_error = {c for c in columns for row in rows if isinstance(v := row.get(c), Spread) and not isnan(v.error)}
    out = []
    for row in rows:
        line: dict[str, Any] = {}
        for column in columns:
            value = row.get(column, "")
            spread = value if isinstance(value, Spread) else None
            line[column] = _written(spread.mean if spread else value)
            if column in with_error:
                line[f"{column} s.e."] = _written(spread.error) if spread else ""
        out.append(line)
    return out


def _written(value: Any) -> Any:
    if isinstance(value, float):
        return "" if isnan(value) else float(f"{value:.6g}")
    return value.replace("**", "") if isinstance(value, str) else value


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return all columns, in the order in which they first appear.

    Parameters
    ----------
    rows : sequence of mapping
        The table.

    Returns
    -------
    list of str
    """
    return list(dict.fromkeys(column for row in rows for column in row))


def _column(values: Sequence[Any]) -> list[str]:
    """Return a column as it is shown: as many digits after the point for all, where that is legible."""
    numbers = [value for value in values if isinstance(value, float) and isfinite(value)]
    texts = [f"{value:.4g}" for value in numbers]
    digits = max((len(text.partition(".")[2]) for text in texts if "e" not in text), default=0)
    if max(map(abs, numbers), default=0.0) >= 1.0:
        digits = min(digits, 4)
    sizes = [abs(value) for value in numbers if value]
    alike = not any("e-" in text for text in texts) and (not sizes or max(sizes) <= 1e4 * min(sizes))
    return [_shown(value, f".{digits}f" if alike else ".4g") for value in values]


def significant(value: float, digits: int = 2) -> str:
    """Return a number with so many significant digits, never as a power of ten.

    Parameters
    ----------
    value : float
        Finite.
    digits : int, default=2
        At least 1.

    Returns
    -------
    str

    Examples
    --------
    >>> significant(99.7), significant(3.14), significant(0.0000123), significant(3e6)
    ('100', '3.1', '0.000012', '3000000')
    """
    return str(np.format_float_positional(value, precision=digits, unique=False, fractional=False, trim="-"))


def share(part: float, whole: float) -> str:
    """Return a share in percent, two digits of it or of what is missing to 100.

    Parameters
    ----------
    part, whole : float
        At most `whole`, which is positive.

    Returns
    -------
    str

    Examples
    --------
    >>> share(1, 3), share(999, 1000), share(1, 3e6), share(7, 7)
    ('33 %', '99.9 %', '0.000033 %', '100 %')
    """
    percent, rest = 100.0 * part / whole, 100.0 * (whole - part) / whole
    if 0.0 < rest < 1.0:
        return f"{percent:.{-floor(log10(rest))}f} %"
    return f"{significant(percent)} %"


def _shown(value: Any, form: str) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return ""
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.0f}" if abs(value) >= 1e4 and form.endswith("g") else f"{value:{form}}"
    return text.removeprefix("-") if value <= 0.0 and float(text) == 0.0 else text
