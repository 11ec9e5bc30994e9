"""From measurements to lines of a table, a JSON file, and numbers for the chart."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from cold import Cold
from contenders import OURS
from works import CELL, ROW, Growth, Measurement, Memory, Work

Runs = Mapping[str, Sequence[Measurement] | str]  # by contender or step; a text says why there are none
HEAD = ("row", "work", "who", "median", "min - max", "ratio", "target", "")
WIDTHS = (4, 46, 24, 18, 17, 8, 12, 0)


@dataclass
class Line:
    """One line of the table; `ratio` says how it stands to what `target` is about."""

    row: str
    says: str
    who: str
    unit: str = ""
    values: list[float] = field(default_factory=list)
    ratio: float | None = None
    target: str = ""
    met: bool | None = None
    note: str = ""
    size: float | None = None  # along a growth
    raw: list[Measurement] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.values) if self.values else float("nan")

    def cells(self) -> tuple[str, ...]:
        """Return what the table shows."""
        if not self.values:
            return (self.row, self.says, self.who, "not possible", "", "", self.target, self.note)
        low, high = min(self.values), max(self.values)
        verdict = {True: "met. ", False: "missed. ", None: ""}[self.met]
        return (
            self.row,
            self.says,
            self.who,
            f"{self.median:.4g} {self.unit}",
            f"{low:.4g} - {high:.4g}",
            "" if self.ratio is None else f"{self.ratio:.2f}",
            self.target,
            (verdict + self.note).strip(),
        )


def text_of(cells: Sequence[str]) -> str:
    """Return one line of the table."""
    shown = [c.rjust(w) if i in (3, 4, 5) else c.ljust(w) for i, (c, w) in enumerate(zip(cells, WIDTHS, strict=True))]
    return "  ".join(shown).rstrip()


# -- lines -----------------------------------------------------------------------------------------------------------


def work_lines(row: str, work: Work, runs: Runs) -> Iterator[Line]:
    """Yield a line a contender; the ratio is the fastest peer's time over its own."""
    seconds = {who: [m["seconds"] for m in done] for who, done in runs.items() if not isinstance(done, str)}
    peers = [statistics.median(seconds[who]) for who in work.against if who in seconds]
    fastest = min(peers, default=None)
    for i, (who, done) in enumerate(runs.items()):
        line = Line(row, work.says if i == 0 else "", who, work.unit)
        ours = who in OURS
        if who == work.ours[0] and work.target is not None:
            line.target = f">= {work.target:g}x"
        if isinstance(done, str):
            line.note = done
        else:
            line.values, line.raw = [s * work.scale for s in seconds[who]], list(done)
            if fastest is not None:
                line.ratio = fastest / statistics.median(seconds[who])
                if ours and line.target and work.target is not None:
                    line.met = line.ratio >= work.target
            if ours and type(work) is Work:
                touched = done[0]["cells"] * work.rounds
                line.note = f"{statistics.median(seconds[who]) / touched * 1e9:.3g} ns a cell and round"
        yield line


def memory_lines(row: str, work: Memory, runs: Runs) -> Iterator[Line]:
    """Yield a line a contender; the ratio is the peak over what is allowed."""
    for i, (who, done) in enumerate(runs.items()):
        line = Line(row, work.says if i == 0 else "", who, "MB")
        if isinstance(done, str):
            line.note = done
        else:
            first = done[0]
            peak = statistics.median(m["peak_bytes"] for m in done)
            allowed = CELL * first["values"] + ROW * first["rows"]
            line.values, line.raw = [m["peak_bytes"] / 2**20 for m in done], list(done)
            line.ratio = peak / allowed
            over_rows = max(0.0, peak - ROW * first["rows"]) / first["values"]
            line.note = f"{peak / first['values']:.2f} bytes a value, {over_rows:.2f} beside {ROW:g} a row"
        if who == work.ours[0] and work.target is not None:
            line.target = f"<= {work.target:g}x"
            line.met = None if line.ratio is None else line.ratio <= work.target
        yield line


def growth_lines(row: str, growth: Growth, runs: Runs) -> Iterator[Line]:
    """Yield a line a step; the ratio is its time over the last step's; with threads the first one's over its own."""
    before: float | None = None
    for i, ((size, work), done) in enumerate(zip(growth.steps, runs.values(), strict=True)):
        line = Line(row, growth.says if i == 0 else "", f"{size:,.0f} {growth.along}", "s", size=size)
        if isinstance(done, str):
            line.note = done
            yield line
            continue
        line.values, line.raw = [m["seconds"] for m in done], list(done)
        if before is not None and growth.factor is not None:
            line.ratio, line.target = line.median / before, f"<= {growth.factor:g}x"
            line.met = line.ratio <= growth.factor
        elif before is not None:
            line.ratio = before / line.median
            if growth.speedup is not None and size >= growth.speedup[1]:
                line.target, line.met = f">= {growth.speedup[0]:g}x", line.ratio >= growth.speedup[0]
        if before is None or growth.factor is not None:
            before = line.median
        cells = done[0]["cells"] * work.rounds
        line.note = f"{line.median / cells * 1e9:.3g} ns a cell and round"
        yield line


def cold_lines(steps: Mapping[str, Cold], runs: Mapping[str, Sequence[float] | str]) -> Iterator[Line]:
    """Yield a line a step; the ratio is to the step beside it."""
    lines: dict[str, Line] = {}
    for row, done in runs.items():
        step = steps[row]
        lines[row] = line = Line(row, step.says, "boostlab" if "sklearn" not in step.says else "scikit-learn", "s")
        if isinstance(done, str):
            line.note = done
        else:
            line.values = list(done)
            beside = lines.get(step.beside or "")
            if beside is not None and beside.values and step.limit is not None:
                line.ratio, line.target = line.median / beside.median, f"< {step.limit:g}x"
                line.met = line.ratio < step.limit
            elif step.limit is not None and step.beside is None:
                line.target, line.met = f"< {step.limit:g} s", line.median < step.limit
        yield line


# -- file ------------------------------------------------------------------------------------------------------------


def machine(threads: int) -> dict[str, Any]:
    """Return where and with what was measured."""
    import boostlab

    versions = {"boostlab": boostlab.__version__}
    for name in ("lightgbm", "xgboost", "scikit-learn", "numpy", "numba"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "threads": threads,
        "versions": versions,
    }


def write_json(path: Path, facts: Mapping[str, Any], lines: Sequence[Line]) -> None:
    """Write everything that was measured."""
    shown = [{**asdict(line), "median": line.median if line.values else None} for line in lines]
    path.write_text(json.dumps({"machine": facts, "lines": shown}, indent=1) + "\n", encoding="utf-8")
