"""Cells as people write them: separators, currencies, percent, units, dates, yes and no."""

import math

import numpy as np
import pytest

from boostlab.tables.forms import Form, date_parts, infer, is_true, plain_numbers, read_cells


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,234.50", "12", "?"], [1234.5, 12.0, np.nan]),
        (["1.234,50", "12,5"], [1234.5, 12.5]),
        (["1'234.5", "2"], [1234.5, 2.0]),
        (["1\u202f234", "1 000 000", "3"], [1234.0, 1e6, 3.0]),
        (["$12.40", "$1,200", "($3.00)", "-$5"], [12.4, 1200.0, -3.0, -5.0]),
        (["12 €", "-3 €"], [12.0, -3.0]),
        (["EUR 12", "EUR 1,200.5"], [12.0, 1200.5]),
        (["23 %", "7.5%", "100"], [23.0, 7.5, 100.0]),
        (["3.5 kg", "12 kg"], [3.5, 12.0]),
        (["1e3", "-.5"], [1000.0, -0.5]),
    ],
)
def test_numbers(cells, numbers):
    form = infer(cells)
    assert form.kind == "number"
    np.testing.assert_array_equal(read_cells(cells, form), numbers)


@pytest.mark.parametrize(
    "cells",
    [
        ["A1", "2"],
        ["1 room", "2 rooms"],
        ["12 kg", "12"],
        ["$3", "€4"],
        ["192.168.1.1", "10.0.0.1"],
        ["555-12-3456", "111-22-3333"],
        ["1_000", "2"],
        ["1,23,4", "5"],
        ["3,5", "4,5"],
        ["v1.2", "v1.3"],
        ["2024-13-01", "2024-01-01"],
        ["yes", "no", "maybe"],
    ],
)
def test_what_is_no_number_stays_words(cells):
    assert infer(cells) == Form("words")


@pytest.mark.parametrize(
    ("cells", "day"),
    [
        (["2024-01-31", "2024-02-01"], 19753.0),
        (["2024-01-31T12:00:00Z"], 19753.5),
        (["2024-01-31 14:00:00+02:00"], 19753.5),
        (["31.01.2024", "1.2.2024"], 19753.0),
        (["01/31/2024", "02/01/2024"], 19753.0),
        (["31/01/2024", "13/02/2024"], 19753.0),
        (["01/31/2024 06:00 PM"], 19753.75),
        (["31-Jan-2024"], 19753.0),
        (["Jan 31, 2024", ""], 19753.0),
    ],
)
def test_dates(cells, day):
    form = infer(cells)
    assert form.kind == "date"
    assert read_cells(cells, form)[0] == day


def test_parts_of_dates():
    days = read_cells(["1969-12-31 23:30", "2024-02-29", ""], Form("date", date="iso"))
    parts = date_parts(days)
    assert parts["year"][:2].tolist() == [1969.0, 2024.0]
    assert parts["month"][:2].tolist() == [12.0, 2.0]
    assert parts["weekday"][:2].tolist() == [3.0, 4.0]  # Wednesday, Thursday
    assert parts["hour"][:2].tolist() == [23.0, 0.0]
    assert all(np.isnan(part[2]) for part in parts.values())


def test_yes_and_no_in_any_case():
    assert infer(["Yes", "no", "?", "NO"]).kind == infer(["TRUE", "false"]).kind == "boolean"
    assert infer(["WAHR", "FALSCH"]).kind == infer(["vrai", "faux"]).kind == "boolean"  # as Excel writes them
    np.testing.assert_array_equal(is_true(["Yes", "NO", "", "perhaps"]), [1.0, 0.0, np.nan, np.nan])


def test_a_later_file_is_read_by_the_form_that_was_learnt():
    assert np.isnan(read_cells(["12.5", "n/a", "twelve"], Form())).tolist() == [False, True, True]
    assert read_cells(["1234"], Form(thousands=",", unit="$"))[0] == 1234.0


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["1,234.50", "12.40"], "with thousands ','"),
        (["$1,234.50", "$12.40"], "in $ with thousands ','"),
        (["1.234,50", "12,40"], "with thousands '.' and decimal ','"),
        (["1234.5", "12.4"], ""),
    ],
)
def test_how_numbers_are_written_is_said(cells, said):
    assert infer(cells).says() == said


def test_many_cells_are_the_numbers_that_python_sees():
    """Also where Arrow reads them: to the last bit, and nothing that Python refuses."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**64, 3000, dtype=np.uint64).view(np.float64)  # all magnitudes
    cells = [repr(x) for x in words[np.isfinite(words)].tolist()] + ["+1", "1e5", ".5", "1.", "1e-400", "4.9e-324", "?"]
    expected = [math.nan if cell == "?" else float(cell) for cell in cells]
    np.testing.assert_array_equal(plain_numbers(cells), expected)
    np.testing.assert_array_equal(read_cells([*cells, "1e400"], Form()), [*expected, math.nan])
    for odd in ("1_0", "2 kg", "0x10"):
        assert plain_numbers([*cells, odd]) is None
