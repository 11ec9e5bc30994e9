"""Parquet files, whole or some rows at a time, by polars or pyarrow, whichever is installed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from boostlab.studies.request import RequestError
from boostlab.tables.columns import Array, RawSheet, finite
from boostlab.tables.memory import batch_rows

BUFFER = 1 << 14  # bytes of a column that are read at a time


def read_parquet(path: Path) -> RawSheet:
    """Return the cells of a Parquet file."""
    try:
        columns = _by_polars(path)
    except ImportError:
        try:
            columns = _by_pyarrow(path)
        except ImportError:
            raise _no_reader(path) from None
    return _typed_sheet(path, columns)


def _typed_sheet(path: Path, columns: Sequence[tuple[str, Sequence[Any]]]) -> RawSheet:
    if not columns:
        raise RequestError(f"{path} has no columns; there is nothing to learn from.")
    return RawSheet([name for name, _ in columns], [typed(values) for _, values in columns], len(columns[0][1]))


def _by_polars(path: Path) -> list[tuple[str, list[Any]]]:
    import polars

    try:
        frame = polars.read_parquet(path)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # polars has many, and its panic is no Exception
        raise _unreadable(path, error) from error
    return [(column.name, column.to_list()) for column in frame.get_columns()]


def _by_pyarrow(path: Path) -> list[tuple[str, list[Any]]]:
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except Exception as error:
        raise _unreadable(path, error) from error
    return [(name, column.to_pylist()) for name, column in zip(table.column_names, table.columns, strict=True)]


def _unreadable(path: Path, error: BaseException) -> RequestError:
    return RequestError(f"{path} cannot be read as Parquet ({_first_line(error)}).")


def typed(values: Sequence[Any]) -> Sequence[str] | Array:
    """Return the cells of Python values: numbers where all are, else text; dates as ISO has them."""
    there = {type(value) for value in values if value is not None}
    if there and there <= {int, float, Decimal}:
        return finite(np.array([math.nan if v is None else v for v in values], dtype=np.float64))
    return [_text(value) for value in values]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime | date):
        return value.isoformat()
    return f"{value:.12g}" if isinstance(value, float) else str(value).strip()


def _no_reader(path: Path) -> RequestError:
    return RequestError(
        f"Reading {path} needs polars or pyarrow, and neither is installed; pip install polars, or save the table as "
        "CSV."
    )


# -- some rows at a time ---------------------------------------------------------------------------------------------


def parquet_batches(path: Path, size: int | None) -> Iterator[RawSheet]:
    """Yield the cells of a Parquet file, so many rows at a time; None is as many as memory suggests."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        yield from _batches_by_polars(path, size)
        return
    at = 0
    try:
        # pre_buffer would keep the whole file in memory, and no buffer whole columns of a row group.
        file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER)
        if not file.schema_arrow.names:
            raise RequestError(f"{path} has no columns; there is nothing to learn from.")
        for batch in file.iter_batches(size or batch_rows(len(file.schema_arrow.names))):
            yield RawSheet(list(batch.schema.names), [_arrow_cells(column) for column in batch.columns], len(batch))
            at += len(batch)
    except (ArrowException, OSError) as error:
        where = f" from row {at}" if at else ""
        raise RequestError(f"{path} cannot be read{where} as Parquet ({_first_line(error)}).") from error


def _arrow_cells(column: Any) -> Sequence[str] | Array:
    """Return a column as numbers where its type is one, whatever this batch holds, else as text."""
    from pyarrow import types

    if types.is_integer(column.type) or types.is_floating(column.type):
        return finite(np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64))
    if types.is_decimal(column.type):
        return finite(np.array([math.nan if v is None else v for v in column.to_pylist()], dtype=np.float64))
    return [_text(value) for value in column.to_pylist()]


def _batches_by_polars(path: Path, size: int | None) -> Iterator[RawSheet]:
    try:
        import polars
    except ImportError:
        raise _no_reader(path) from None
    start, size = 0, size or batch_rows(len(polars.read_parquet_schema(path)))
    while True:
        try:
            frame = polars.scan_parquet(path).slice(start, size).collect()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # polars has many, and its panic is no Exception
            raise _unreadable(path, error) from error
        if not len(frame):
            return
        yield RawSheet(frame.columns, [_polars_cells(column) for column in frame.get_columns()], len(frame))
        start += len(frame)


def _polars_cells(column: Any) -> Sequence[str] | Array:
    if column.dtype.is_numeric():
        return finite(np.array([math.nan if v is None else v for v in column.to_list()], dtype=np.float64))
    return [_text(value) for value in column.to_list()]


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
