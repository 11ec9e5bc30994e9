"""A comparison on a terminal: the ranking while it grows, and what is said at the end."""

import io

import numpy as np
from rich.console import Console
from scipy import sparse

from boostlab.comparison import screen
from boostlab.comparison.design import conclude, design
from boostlab.datasets import twonorm
from boostlab.studies.runner import run
from boostlab.studies.store import Store
from boostlab.studies.watch import watching
from boostlab.tables.table import LabelledTable

X, Y = twonorm(80, random_state=0)
TABLE = LabelledTable("shop", X, (Y > 0).astype(int), ("no", "yes"), facts={"Rows": "80"})


def console(encoding="utf-8", **options):
    return Console(file=io.TextIOWrapper(io.BytesIO(), encoding=encoding), width=80, **options)


def text(console):
    console.file.flush()
    return console.file.buffer.getvalue().decode(console.encoding)


def test_the_live_table_is_ranked_and_goes_away(tmp_path):
    plan = design(TABLE, ["AdaBoost", "MadaBoost"], folds=2, repeats=1, rounds=3, noise=[0.0, 0.1], with_peers=False)
    terminal = console(force_terminal=True, _environ={"TERM": "xterm"})
    with Store(tmp_path / "cells.sqlite") as store, watching("shop", terminal, screen.running) as watch:
        ran = run(plan.study, store, jobs=1, watch=watch)
        lines = console()
        lines.print(watch.__rich__())
    shown = text(lines)
    means = {
        m: sum(d.number("test_error") for d in ran.results.rows("labels as they are") if d.method == m) / 2
        for m in ("AdaBoost", "MadaBoost")
    }
    order = sorted(means, key=means.get)
    assert shown.index(order[0]) < shown.index(order[1])
    assert f"{100 * means[order[0]]:.2f}" in shown
    assert "shop: 8 of 8 cells" in shown
    assert text(terminal).rstrip("\n").endswith("\x1b[2K")  # the last thing is to erase it all


def test_the_last_word_on_a_stream_without_signs(tmp_path):
    plan = design(TABLE, ["AdaBoost", "MadaBoost"], folds=2, repeats=1, rounds=3, with_peers=False)
    with Store(tmp_path / "cells.sqlite") as store:
        found = conclude(plan, run(plan.study, store, jobs=1))
    out = console("ascii")
    screen.show_plan(out, plan)
    screen.show(out, found, "yes")
    screen.say_end(out, found, "")
    said = text(out)
    assert "always 'yes'" in said
    assert "over 2 parts (the same for all boosters)" in " ".join(said.split())
    assert found.advice.code in said
    assert "used nearly all rounds allowed" in " ".join(said.split()) or all(
        s.rounds < 3 for s in found.rankings[0].near
    )
    assert "4 of 4 cells finished" in said


def test_who_does_not_take_part_is_said():
    large = LabelledTable("t", sparse.csr_array((200_000, 3)), np.arange(200_000) % 2, ("a", "b"))
    out = console()
    screen.show_plan(out, design(large))
    said = " ".join(text(out).split())
    assert (
        "GentleBoost, L2Boost, QuadBoost, BrownBoost (the table is large; name them in --boosters to have them)" in said
    )
    assert "5 test parts, the same for all boosters" in said
    assert "chosen by one hold-out of the training rows" in said


def test_where_the_time_went_is_said_if_it_was_much_more_than_the_budget():
    late, in_time = console(), console()
    screen.say_time(late, budget=10.0, compared=15.0, left=4.0, prepared=9.0)
    screen.say_time(in_time, budget=10.0, compared=9.0, left=3.0, prepared=9.0)
    said = " ".join(text(late).split())
    assert said.startswith("It took 19 s, more than the budget of 10 s: 9 s getting ready, for which kernels")
    assert "; 6 s comparing, up to the first result" in said
    assert said.endswith("; 4 s the model and its report.")
    assert text(in_time) == ""
