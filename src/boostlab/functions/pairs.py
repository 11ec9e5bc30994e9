"""Sums and products of two doubles that stand for one number, high + low, without a fused multiply-add."""

from __future__ import annotations

from boostlab.functions.bits import bits, from_bits


def upper(x: float) -> float:
    """Return x without the last 27 bits of its mantissa: a product of two such numbers is exact."""
    return from_bits(bits(x) & -0x8000000)


def product(high: float, low: float, other_high: float, other_low: float) -> float:
    """Return (high + low) (other_high + other_low), rounded about once."""
    whole = high + low
    low = low - (whole - high)
    high = whole
    a, b = upper(high), upper(other_high)
    rest = a * (other_high - b) + (high - a) * other_high
    return a * b + (rest + (high * other_low + low * other_high))
