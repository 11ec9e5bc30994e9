"""Pictures of a comparison can be read."""

import pytest

from boostlab.comparison import figures


def test_names_of_points_do_not_cover_each_other():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    canvas = pytest.importorskip("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    named = [(f"Booster{i}", 0.001 * (1 + 0.01 * i), 20.0) for i in range(12)] + [("Slow", 0.5, 25.0)]
    axes.plot([x for _, x, _ in named], [y for *_, y in named], "o")
    figures._log_axis(axes)
    figures._name_points(axes, named)
    plain = pytest.importorskip("matplotlib.text").Text  # without the line to its point
    canvas.draw()
    boxes = [plain.get_window_extent(text) for text in axes.texts]
    assert len(boxes) == len(named)
    for i, one in enumerate(boxes):
        assert axes.bbox.y0 <= one.y0
        assert one.y1 <= axes.bbox.y1
        assert not any(one.shrunk(0.8, 0.8).overlaps(other.shrunk(0.8, 0.8)) for other in boxes[:i])
