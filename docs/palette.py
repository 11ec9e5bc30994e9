"""The look of the documentation's pictures: that of boostlab's own plots."""

from __future__ import annotations

from boostlab.plots.style import GREY, LOOKS, look, tidy

__all__ = ["GREY", "LOOKS", "look", "tidy"]
