"""The bits of a float as an integer, and back: what plain Python does here, a backend replaces by one instruction."""

from __future__ import annotations

import struct

_DOUBLE, _INTEGER = struct.Struct("<d"), struct.Struct("<q")


def bits(x: float) -> int:
    """Return the bits of a double as a signed integer of 64 bits."""
    return int(_INTEGER.unpack(_DOUBLE.pack(x))[0])


def from_bits(i: int) -> float:
    """Return the double with these bits."""
    return float(_DOUBLE.unpack(_INTEGER.pack(i))[0])
