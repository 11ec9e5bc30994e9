"""Pictures as inline SVG: lines, intervals, bars and steps, in the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from boostlab.report.html import Markup, element, joined

WIDTH, HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 24, 44


@dataclass(frozen=True)
class Series:
    """One line: its name, its points, its colour, and points to mark."""

    name: str
    x: Any
    y: Any
    colour: str = "var(--c0)"
    marks: Sequence[int] = ()
    dashed: bool = False
    steps: bool = False


def colour(i: int) -> str:
    """Return the i-th colour of the page."""
    return f"var(--c{i % 10})"


def lines(
    series: Sequence[Series],
    x_label: str,
    y_label: str,
    *,
    log_x: bool = False,
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
    height: int = HEIGHT,
    width: int = WIDTH,
) -> Markup:
    """Return lines on common axes; a mark says its values when it is pointed at."""
    xs = [x for one in series for x in one.x if math.isfinite(x)] or [0.0, 1.0]
    ys = [y for one in series for y in one.y if math.isfinite(y)] or [0.0, 1.0]
    span = x_range or (min(xs), max(xs))
    axis_x = _Axis(span[0], span[1], _LEFT, width - _RIGHT, log_x)
    axis_y = _Axis(*(y_range or _padded(min(ys), max(ys))), height - _BOTTOM, _TOP)
    body = [_axes(axis_x, axis_y, x_label, y_label, width, height)]
    for one in series:
        points = [(axis_x(x), axis_y(y)) for x, y in zip(one.x, one.y, strict=True) if math.isfinite(y)]
        style = {"stroke": one.colour, "stroke_width": "1.8", "stroke_dasharray": "5 4" if one.dashed else None}
        drawn = [element("path", d=_path(points, one.steps), **style)]
        drawn += [
            _mark(axis_x(one.x[i]), axis_y(one.y[i]), one.colour, f"{one.name}: {_n(one.x[i])}, {_n(one.y[i])}")
            for i in one.marks
        ]
        hover = f"{one.name}: ends at {_n(one.y[-1])}" if len(one.y) else one.name
        drawn.append(
            element("path", d=_path(points, one.steps), stroke="transparent", stroke_width="9", data_tip=hover)
        )
        body.append(element("g", *drawn, data_name=one.name))
    return _svg(width, height, body, f"{y_label} against {x_label}")


def intervals(
    rows: Sequence[tuple[str, float, float, float, str]],
    label: str,
    show: Callable[[float], str],
    base: float = math.nan,
) -> Markup:
    """Return a row a name: a point and its interval, and the place of a constant answer.

    Parameters
    ----------
    rows : sequence of (name, value, low, high, colour)
    label : str
        Of the axis.
    show : callable
        Makes a value text.
    base : float
        Where a dotted line stands; NaN is nowhere.
    """
    left, step = 170, 26
    height = _TOP + step * len(rows) + _BOTTOM
    numbers = [v for row in rows for v in row[1:4] if math.isfinite(v)] + ([base] if math.isfinite(base) else [])
    axis = _Axis(*_padded(min(numbers), max(numbers)), left, WIDTH - _RIGHT)
    bottom = height - _BOTTOM
    body = _ticks_x(axis, _TOP, bottom, label, WIDTH, left)
    if math.isfinite(base):
        line = element("line", x1=_c(axis(base)), x2=_c(axis(base)), y1=_TOP, y2=bottom, class_="axis")
        body.append(element("g", line, data_tip=f"constant answer: {show(base)}", stroke_dasharray="3 3"))
    for i, (name, value, low, high, ink) in enumerate(rows):
        y = _TOP + step * (i + 0.5)
        tip = f"{name}: {show(value)}" + (f" ({show(low)} to {show(high)})" if math.isfinite(low) else "")
        parts = [element("text", _cut(name), x=left - 8, y=_c(y + 4), text_anchor="end")]
        if math.isfinite(low):
            parts.append(
                element("line", x1=_c(axis(low)), x2=_c(axis(high)), y1=_c(y), y2=_c(y), stroke=ink, stroke_width="3")
            )
        parts.append(_mark(axis(value), y, ink, tip, 5))
        body.append(element("g", *parts, data_name=name, data_tip=tip))
    return _svg(WIDTH, height, body, label)


def bars(rows: Sequence[tuple[str, float]], label: str, width: int = WIDTH) -> Markup:
    """Return horizontal bars, the first on top."""
    left, step = (190 if width == WIDTH else 110), 22
    height = _TOP + step * len(rows) + _BOTTOM
    axis = _Axis(min(0.0, *(v for _, v in rows)), max(0.0, *(v for _, v in rows)) or 1.0, left, width - _RIGHT)
    body = _ticks_x(axis, _TOP, height - _BOTTOM, label, width, left)
    for i, (name, value) in enumerate(rows):
        y = _TOP + step * i
        start, end = sorted((axis(0.0), axis(value)))
        box = {"x": _c(start), "y": _c(y + 3), "width": _c(max(end - start, 0.5)), "height": step - 6}
        tip = f"{name}: {_n(value)}"
        body.append(element("text", _cut(name, left // 7), x=left - 8, y=_c(y + step / 2 + 4), text_anchor="end"))
        ink = "var(--c0)" if value >= 0 else "var(--c3)"
        body.append(element("rect", **box, fill=ink, class_="mark", data_tip=tip, tabindex="0"))
    return _svg(width, height, body, label)


# -- axes -------------------------------------------------------------------------------------------------------------


class _Axis:
    """Numbers to places on the page."""

    def __init__(self, low: float, high: float, start: float, end: float, log: bool = False) -> None:
        self.log = log and low > 0
        if low == high:
            low, high = low - 0.5, high + 0.5
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value: float) -> float:
        low, high, value = (math.log(max(v, 1e-300)) if self.log else v for v in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (value - low) / (high - low)

    def ticks(self) -> list[float]:
        if self.log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            every = [m * 10.0**p for p in powers for m in (1, 2, 5)]
            return [t for t in every if self.low <= t <= self.high]
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 2))
        for factor in (1, 2, 5):
            if (self.high - self.low) / (step * factor) <= 6:
                step *= factor
                break
        first = math.ceil(self.low / step - 1e-9) * step
        return [first + i * step for i in range(int((self.high - first) / step + 1e-9) + 1)]


def _axes(x: _Axis, y: _Axis, x_label: str, y_label: str, width: int, height: int) -> Markup:
    bottom = height - _BOTTOM
    parts = []
    for tick in y.ticks():
        at = _c(y(tick))
        parts.append(element("line", x1=_LEFT, x2=width - _RIGHT, y1=at, y2=at, class_="rule"))
        parts.append(element("text", _n(tick), x=_LEFT - 6, y=_c(y(tick) + 4), text_anchor="end", class_="tick"))
    parts += _ticks_x(x, _TOP, bottom, x_label, width, _LEFT)
    parts.append(element("text", y_label, x=4, y=_TOP - 10, class_="tick"))
    return joined(parts)


def _ticks_x(axis: _Axis, top: float, bottom: float, label: str, width: int, left: float) -> list[Markup]:
    parts = [element("line", x1=left, x2=width - _RIGHT, y1=bottom, y2=bottom, class_="axis")]
    for tick in axis.ticks():
        at = _c(axis(tick))
        parts.append(element("line", x1=at, x2=at, y1=top, y2=bottom, class_="rule"))
        parts.append(element("text", _n(tick), x=at, y=bottom + 15, text_anchor="middle", class_="tick"))
    middle = (left + width - _RIGHT) / 2
    parts.append(element("text", label, x=_c(middle), y=bottom + 34, text_anchor="middle", class_="tick"))
    return parts


def _padded(low: float, high: float) -> tuple[float, float]:
    margin = 0.06 * (high - low) or 0.5 * abs(high) or 0.5
    return (low - margin if low < 0 or low - margin > 0 else 0.0), high + margin


def _path(points: Sequence[tuple[float, float]], steps: bool) -> str:
    if not points:
        return "M0 0"
    words = [f"M{_c(points[0][0])} {_c(points[0][1])}"]
    for (_, before), (x, y) in pairwise(points):
        words.append(f"L{_c(x)} {_c(before)}L{_c(x)} {_c(y)}" if steps else f"L{_c(x)} {_c(y)}")
    return "".join(words)


def _mark(x: float, y: float, ink: str, tip: str, size: float = 4) -> Markup:
    return element("circle", cx=_c(x), cy=_c(y), r=size, fill=ink, class_="mark", data_tip=tip, tabindex="0")


def _svg(width: int, height: int, body: Sequence[Markup], label: str) -> Markup:
    return element("svg", joined(body), viewBox=f"0 0 {width} {height}", role="img", aria_label=label)


def _cut(text: str, most: int = 24) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _c(number: float) -> str:
    return f"{number:.1f}"


def _n(value: float) -> str:
    if not np.isfinite(value):
        return ""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return str(np.format_float_positional(value, precision=3, unique=False, fractional=False, trim="-"))
