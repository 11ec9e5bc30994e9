"""Arguments on which row functions go wrong first, made without a random generator: the same on every machine.

Run as a script it compiles every row function to vectors of the width given as argument, and prints its name, the
digest of its values' bits, the width of its loop's products, and how many instructions multiply and add at once.
"""

from __future__ import annotations

import hashlib
import re
import sys

import numpy as np

BORDERS = (
    *(0.0, 5e-324, 2.2250738585072014e-308, 1e-300, 1e-20, 5e-17, 1.1102230246251565e-16, 1e-8, 1e-3, 0.25, 0.2888),
    *(
        0.34657359027997264,
        0.5,
        0.7071067811865476,
        0.75,
        1.0,
        1.4142135623730951,
        2.0,
        3.0,
        4.5,
        6.0,
        26.5,
        27.2,
        27.3,
    ),
    *(28.0, 36.7, 40.0, 708.3964185322641, 709.782712893384, 710.0, 744.4400719213812, 745.1332191019412, 746.0),
    *(1e9, 1e18, 1e154, 1e200, 1.7976931348623157e308, np.inf),
)


def doubles(count: int) -> np.ndarray:
    """Return numbers whose bits are spread evenly: every exponent, both signs, some NaN."""
    return (np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)).view(np.float64)


def uniform(low: float, high: float, count: int) -> np.ndarray:
    """Return numbers spread evenly over an interval, with full mantissas."""
    steps = (np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(11)
    return low + (high - low) * (steps.astype(np.float64) * 2.0**-53)


def neighbours() -> np.ndarray:
    """Return the borders between a function's formulas, three doubles to each side, with both signs, and NaN."""
    near = [np.array(BORDERS)]
    for towards in (-np.inf, np.inf):
        step = np.array(BORDERS)
        for _ in range(3):
            with np.errstate(over="ignore", under="ignore"):
                step = np.nextafter(step, towards)
            near.append(step)
    there = np.concatenate(near)
    return np.concatenate([there, -there, [np.nan]])


def arguments(count: int) -> np.ndarray:
    """Return about that many hostile numbers."""
    some = count // 6
    ranges = [(-1.0, 1.0), (-3.0, 3.0), (-30.0, 30.0), (-760.0, 720.0)]
    return np.concatenate([neighbours(), doubles(2 * some), *(uniform(*ends, some) for ends in ranges)])


def digest(values: np.ndarray) -> str:
    """Return a digest of the bits; every NaN counts as the same."""
    return hashlib.sha256(np.where(np.isnan(values), np.nan, values).astype("<f8").tobytes()).hexdigest()[:16]


def main() -> None:
    width = int(sys.argv[1])
    import llvmlite.binding

    llvmlite.binding.set_option("boostlab", f"--force-vector-width={width}")  # before anything is compiled
    from boostlab.backend.cpu.functions import _loop_of, each
    from boostlab.functions import ROW_FUNCTIONS

    for function in ROW_FUNCTIONS:
        given = [arguments(100_000)]
        value = digest(each(function, *given))
        loop = _loop_of(function, len(given))
        (text,), (assembly,) = loop.inspect_llvm().values(), loop.inspect_asm().values()
        widths = {int(w) for w in re.findall(r"fmul <(\d+) x double>", text)}
        fused = re.findall(r"\bv?fn?m(?:add|sub|la|ls)\w*", assembly)
        print(function.__name__, value, max(widths, default=1), len(fused))


if __name__ == "__main__":
    main()
