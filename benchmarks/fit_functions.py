"""Fits the polynomials of the row functions and writes them where src/boostlab/functions says `# fit: NAME`.

    python benchmarks/fit_functions.py

Every polynomial is a minimax fit by Remez's exchange in 40 digits (mpmath).  All of them take a few seconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpmath import mp, mpf, workdps

FOLDER = Path(__file__).parents[1] / "src" / "boostlab" / "functions"
Function = Callable[[Any], Any]


@dataclass
class Fit:
    """A polynomial: names of its value and variable, its function, interval and degree, and the weight of an error."""

    name: str
    variable: str
    f: Function
    low: Any
    high: Any
    degree: int
    weight: Function = lambda x: 1


def remez(f: Function, low: Any, high: Any, degree: int, weight: Function, sweeps: int = 12) -> tuple[list[Any], Any]:
    """Return the coefficients of the polynomial of least weighted maximal error, constant first, and this error."""
    low, high = mpf(low), mpf(high)
    middle, radius = (low + high) / 2, (high - low) / 2

    def chebyshev(count: int) -> list[Any]:
        return [middle - radius * mp.cos(mp.pi * k / count) for k in range(count + 1)]

    points, grid = chebyshev(degree + 1), chebyshev(24 * (degree + 2))
    values, weights = [f(x) for x in grid], [weight(x) for x in grid]
    for _ in range(sweeps):
        # The polynomial whose weighted error alternates between +E and -E at degree + 2 points ...
        A, b = mp.matrix(degree + 2, degree + 2), mp.matrix(degree + 2, 1)
        for i, x in enumerate(points):
            for j in range(degree + 1):
                A[i, j] = x**j
            A[i, degree + 1], b[i] = (-1) ** i / weight(x), f(x)
        solution = mp.lu_solve(A, b)
        coefficients, level = list(solution[: degree + 1]), abs(solution[degree + 1])
        # ... then the points move to where the error is largest between two of its zeros.
        errors = [(polynomial(coefficients, x) - v) * w for x, v, w in zip(grid, values, weights, strict=True)]
        peaks: list[tuple[Any, Any]] = []
        for x, e in zip(grid, errors, strict=True):
            if not peaks or (e > 0) != (peaks[-1][1] > 0):
                peaks.append((x, e))
            elif abs(e) > abs(peaks[-1][1]):
                peaks[-1] = (x, e)
        while len(peaks) > degree + 2:
            peaks.pop(0 if abs(peaks[0][1]) < abs(peaks[-1][1]) else -1)
        largest = max(abs(e) for e in errors)
        if len(peaks) < degree + 2 or largest < level * mpf("1.001"):
            break
        points = [x for x, _ in peaks]
    return coefficients, largest


def polynomial(coefficients: list[Any], x: Any) -> Any:
    """Return the polynomial's value."""
    value = mpf(0)
    for c in reversed(coefficients):
        value = value * x + c
    return value


def horner(name: str, coefficients: list[float]) -> list[str]:
    """Return the statements of Horner's rule in the variable `square`."""
    first, *rest = reversed(coefficients)
    return [f"{name} = {first!r}", *(f"{name} = {name} * square {'+' if c > 0 else '-'} {abs(c)!r}" for c in rest)]


def statements(fit: Fit) -> list[str]:
    """Return the fitted polynomial: two chains of operations, odd and even, that a CPU works on at the same time."""
    coefficients, error = remez(fit.f, fit.low, fit.high, fit.degree, fit.weight)
    first, *others = [float(c) for c in coefficients]
    low, high, power = (mp.nstr(mpf(v), 6) for v in (fit.low, fit.high, mp.log(error, 2)))
    return [
        f"# degree {fit.degree} on [{low}, {high}], error 2^{power}",
        f"square = {fit.variable} * {fit.variable}",
        *horner("odd", others[0::2]),
        *horner("even", others[1::2]),
        f"{fit.name} = {first!r} + {fit.variable} * (odd + {fit.variable} * even)",
        "# end of fit",
    ]


def exp_rest(r: Any) -> Any:
    """Return (exp(r) - 1 - r) / r^2."""
    return (mp.expm1(r) - r) / r**2 if abs(r) > mpf(10) ** -9 else mpf(1) / 2 + r / 6 + r**2 / 24


def log_rest(z: Any) -> Any:
    """Return (log((1 + s) / (1 - s)) - 2 s) / s^3 with z = s^2."""
    s = mp.sqrt(z)
    return 2 * (mp.atanh(s) - s) / s**3 if z > mpf(10) ** -14 else mpf(2) / 3 + 2 * z / 5 + 2 * z**2 / 7


def erf_rest(z: Any) -> Any:
    """Return erf(x) / x - 1 with z = x^2."""
    return mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1 if z > 0 else 2 / mp.sqrt(mp.pi) - 1


def erfcx_rest(t: Any) -> Any:
    """Return (x + 1/2) erfcx(x) - 39/64 with t = (x - 4.5) / (x + 3)."""
    x = (mpf(4.5) + 3 * t) / (1 - t) if t < 1 else mp.inf
    if x > 3000:
        scaled = 1 - 1 / (2 * x**2) + 3 / (4 * x**4) - 15 / (8 * x**6)  # x sqrt(pi) erfcx(x)
        return scaled * (1 + 1 / (2 * x)) / mp.sqrt(mp.pi) - mpf(39) / 64
    return (x + mpf(1) / 2) * mp.exp(x * x) * mp.erfc(x) - mpf(39) / 64


def erfinv_ratio(z: Any) -> Any:
    """Return erfinv(x) / x with z = x^2."""
    return mp.erfinv(mp.sqrt(z)) / mp.sqrt(z) if z > 0 else mp.sqrt(mp.pi) / 2


def erfcinv_gap(t: Any) -> Any:
    """Return w - erfcinv(exp(-w^2)) with t = (w - 3) / (w + 3)."""
    w = 3 * (1 + t) / (1 - t)
    return w - mp.findroot(lambda y: mp.log(mp.erfc(y)) + w * w, w - mp.log(2 * w) / (2 * w))


def fits() -> list[Fit]:
    """Return all polynomials of the row functions."""
    r, s = mp.log(2) / 2 * mpf("1.0001"), (mp.sqrt(2) - 1) ** 2 * mpf("1.0001")  # a little beyond the ends
    x = mp.erf(mpf("0.76"))
    low, high = ((mpf(w) - 3) / (mpf(w) + 3) for w in ("1.1", "27.31"))
    return [
        Fit("exp_rest", "r", exp_rest, -r, r, 10, lambda r: max(abs(r), mpf(1) / 64)),
        Fit("log_rest", "z", log_rest, 0, s * s, 6, lambda z: s * s),
        Fit("erf_rest", "z", erf_rest, 0, mpf("0.563"), 10),
        Fit("erfcx_rest", "t", erfcx_rest, mpf("-1.0001"), 1, 22),
        Fit("erfinv_ratio", "z", erfinv_ratio, 0, x * x, 7),
        Fit("erfcinv_gap", "t", erfcinv_gap, low, high, 10),
    ]


@workdps(40)
def refitted(text: str) -> str:
    """Return a module's source with the statements of its polynomials as fitted now."""
    for fit in fits():
        place = re.compile(rf" +# fit: {fit.name}\n.*?# end of fit\n", re.DOTALL)
        if place.search(text):
            lines = [f"# fit: {fit.name}", *statements(fit)]
            text = place.sub("".join(f"    {line}\n" for line in lines), text)
    return text


def main() -> None:
    """Write the polynomials into the modules of the row functions."""
    for path in FOLDER.glob("*.py"):
        path.write_text(refitted(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
