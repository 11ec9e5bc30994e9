"""How much the rows of all partitions count: decided by exact facts of all of them, as for rows in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.sample import LARGEST as LARGEST
from boostlab.data.sample import WIDEST

Array = npt.NDArray[Any]


def exact_sum(x: Array) -> Fraction:
    """Return the sum of numbers, not rounded."""
    mantissa, exponent = np.frexp(np.asarray(x, np.float64))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    total = Fraction(0)
    for e in np.unique(exponent).tolist():
        mine = whole[exponent == e]
        high, low = int((mine >> 26).sum()), int((mine & ((1 << 26) - 1)).sum())
        total += Fraction((high << 26) + low) * Fraction(2) ** (e - 53)
    return total


@dataclass
class MassFacts:
    """What decides how weights are kept: facts of partitions add up, in any order."""

    n: int = 0  # rows above zero
    least: float = math.inf
    most: float = 0.0
    whole: bool = True  # all are whole numbers
    total: Fraction = Fraction(0)

    @classmethod
    def of(cls, mass: Array) -> MassFacts:
        """Look at weights."""
        mass = mass[mass > 0]
        if not len(mass):
            return cls()
        return cls(
            len(mass), float(mass.min()), float(mass.max()), bool((mass == np.rint(mass)).all()), exact_sum(mass)
        )

    def __add__(self, other: MassFacts) -> MassFacts:
        return MassFacts(
            self.n + other.n,
            min(self.least, other.least),
            max(self.most, other.most),
            self.whole and other.whole,
            self.total + other.total,
        )

    def tamed(self, what: str) -> int:
        """Return the power of two by which weights are scaled down (see `data.sample._tamed`)."""
        if not self.n:
            return 0
        if math.log10(self.most) - math.log10(self.least) > WIDEST:
            raise ValueError(
                f"{what} spans more than {WIDEST} orders of magnitude (from {self.least:g} to {self.most:g}); "
                "give weights of like size, and 0 to rows that do not count."
            )
        power = math.frexp(self.most)[1]
        return power if abs(power) > 64 else 0

    def scaled(self, power: int) -> MassFacts:
        """Return the facts of weights divided by 2^power."""
        if not power:
            return self
        total = self.total / Fraction(2) ** power
        # Weights that far from one are no counts, before or after.
        whole = self.whole and power < 0
        return MassFacts(self.n, math.ldexp(self.least, -power), math.ldexp(self.most, -power), whole, total)

    @property
    def counts(self) -> bool:
        """Whether these are whole numbers that integers hold (see `backend.cpu.masses.are_counts`)."""
        return self.whole and float(self.total) < 2**40 and self.most < 2**31

    @property
    def ones(self) -> bool:
        """Whether every row counts once."""
        return self.least == self.most == 1.0


@dataclass
class MassPlan:
    """How every partition makes the masses of its rows.

    Parameters
    ----------
    power : int
        Sample weights are divided by 2^power first.
    classes : array, optional
        The weight of every class.
    kind : {"once", "counts", "real", "both"}
        What the rows have: nothing, integers, numbers, or counts of examples that have numbers.
    product_power : int
        Products of sample weights and class weights are divided by 2^product_power.
    """

    power: int = 0
    classes: Array | None = None
    kind: str = "once"
    product_power: int = 0

    def masses(self, codes: Array, weight: Array | None) -> tuple[Array, Array | None, Array | None]:
        """Return which rows count, and the real and integer masses of these."""
        mass = np.ones(len(codes)) if weight is None else np.asarray(weight, np.float64)
        mass = np.ldexp(mass, -self.power) if self.power else mass
        each = np.ones(len(codes)) if self.classes is None else self.classes[codes]
        kept = np.flatnonzero((mass > 0) & (each > 0))
        mass, each = mass[kept], each[kept]
        if self.kind == "once":
            return kept, None, None
        if self.kind == "both":
            return kept, each, mass.astype(np.int32)
        product = mass * each
        product = np.ldexp(product, -self.product_power) if self.product_power else product
        return (kept, None, product.astype(np.int32)) if self.kind == "counts" else (kept, product, None)
