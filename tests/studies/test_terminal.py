"""The comparison on a terminal."""

import io

from rich.console import Console

from boostlab.studies import Cell, Comparison
from boostlab.studies.terminal import live, show

CELLS = [
    Cell("AdaBoostClassifier", 0.0, 0, 0, 0.1, 0.01, 5, "max_rounds: 5"),
    Cell("LogitBoostClassifier", 0.0, 0, 0, failure="ValueError: no"),
]
COMPARISON = Comparison(["AdaBoostClassifier", "LogitBoostClassifier"], [0.0], 2, 1, {"XClassifier": "why"}, CELLS)


def console(encoding="utf-8", **options):
    return Console(file=io.TextIOWrapper(io.BytesIO(), encoding=encoding), width=80, **options)


def text(console):
    console.file.flush()
    return console.file.buffer.getvalue().decode(console.encoding)


def test_live_shows_progress_and_cleans_up():
    screen = console(force_terminal=True, _environ={"TERM": "xterm"})
    with live(screen) as on_cell:
        on_cell(COMPARISON)
    out = text(screen)
    assert "Getting ready" in out
    assert "2 of 4 fits" in out
    assert out.rstrip("\n").endswith("\x1b[2K")  # the last thing is to erase it all


def test_nothing_is_drawn_without_a_terminal(capsys):
    with live(console()) as on_cell:
        assert on_cell is None
    assert capsys.readouterr() == ("", "")


def test_a_stream_that_cannot_write_signs_gets_ascii():
    target = console("ascii")
    show(target, COMPARISON)
    assert "error +- s.e." in text(target)


def test_everything_noteworthy_is_said():
    target = console()
    show(target, COMPARISON)
    out = text(target)
    assert "* LogitBoost: failed: ValueError: no (1 of 1 fits)" in out
    assert "X is left out: why." in out
    assert "nothing to compare it with" in out


def test_ctrl_c_before_the_first_fit_shows_no_empty_table():
    target = console()
    show(target, Comparison(["AdaBoostClassifier"], [0.0], 2, 1, interrupted=True))
    assert text(target) == "Ctrl-C ended it before the first fit.\n"
