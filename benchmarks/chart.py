"""The measurements as one picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from contenders import OURS, PEERS

from report import Line

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = dict(zip((*OURS, *PEERS), ("#D55E00", "#E69F00", "#0072B2", "#009E73", "#CC79A7", "#999999"), strict=True))


def draw(path: Path, lines: Sequence[Line]) -> bool:
    """Draw what there is: speed, memory, growth, first steps.  Return whether there was anything to draw."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    measured = [line for line in lines if line.values]
    parts = [(letter, [line for line in measured if line.row.startswith(letter)]) for letter in "WMSC"]
    parts = [(letter, some) for letter, some in parts if some]
    if not parts:
        return False
    columns = min(2, len(parts))
    rows = -(-len(parts) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(6.2 * columns, 4.6 * rows), layout="constrained", squeeze=False, dpi=120
    )
    for axis in axes.flat[len(parts) :]:
        axis.set_visible(False)
    panels = {"W": _speed, "M": _memory, "S": _growth, "C": _cold}
    for axis, (letter, some) in zip(axes.flat, parts, strict=False):
        panels[letter](axis, some)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)
    plt.close(figure)
    return True


def _rows(lines: Sequence[Line]) -> list[str]:
    return list(dict.fromkeys(line.row for line in lines))


def _grouped(axis: Any, lines: Sequence[Line], height: Any) -> None:
    """Draw a group of bars for every row, one bar a contender."""
    rows = _rows(lines)
    for i, row in enumerate(rows):
        here = [line for line in lines if line.row == row]
        for j, line in enumerate(here):
            at = i + (j - (len(here) - 1) / 2) * 0.8 / len(here)
            axis.barh(at, height(line, here), 0.8 / len(here), color=COLOURS[line.who], label=line.who)
    axis.set_yticks(range(len(rows)), rows)
    axis.invert_yaxis()
    handles = dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
    axis.legend(handles.values(), handles.keys(), frameon=False, fontsize=8)


def _speed(axis: Any, lines: Sequence[Line]) -> None:
    """How much longer others take than boostlab; a tick is where the fastest peer should be."""

    def times(line: Line, here: Sequence[Line]) -> float:
        return line.median / min((o for o in here if o.who in OURS), key=lambda o: o.median, default=line).median

    _grouped(axis, lines, times)
    for i, row in enumerate(_rows(lines)):
        for line in lines:
            if line.row == row and line.target:
                axis.plot([float(line.target.strip(">= x"))] * 2, [i - 0.45, i + 0.45], "k--", lw=1)
    axis.set(xscale="log", xlabel="dashes: where the fastest peer should be", title="time, in multiples of boostlab's")


def _memory(axis: Any, lines: Sequence[Line]) -> None:
    _grouped(axis, lines, lambda line, _: line.ratio or 0.0)
    axis.axvline(1.0, color="k", ls="--", lw=1)
    axis.set(xscale="log", xlabel="in multiples of 1.3 bytes a value + 40 a row", title="peak of memory over the table")


def _growth(axis: Any, lines: Sequence[Line]) -> None:
    for row, colour in zip(_rows(lines), COLOURS.values(), strict=False):
        here = [line for line in lines if line.row == row]
        sizes = [(line.size or 1.0) / (here[0].size or 1.0) for line in here]
        seconds = [line.median / here[0].median for line in here]
        axis.plot(sizes, seconds, "o-", color=colour, label=f"{row}: {here[0].who.split()[-1]}")
    far = max(10.0, *axis.get_xlim())
    axis.plot([1, far], [1, far], "k:", lw=1, label="in proportion")
    axis.plot([1, far], [1, 1 / far], "k--", lw=1, label="threads, ideal")
    axis.set(xscale="log", yscale="log", xlabel="size, in multiples of the first", title="growth of time")
    axis.legend(frameon=False, fontsize=8)


def _cold(axis: Any, lines: Sequence[Line]) -> None:
    for i, line in enumerate(lines):
        axis.barh(i, line.median, color=COLOURS["boostlab"] if line.who == "boostlab" else "#999999")
    axis.set_yticks(range(len(lines)), [line.says for line in lines], fontsize=7)
    axis.invert_yaxis()
    axis.set(xscale="log", xlabel="seconds", title="first steps in a new process")
