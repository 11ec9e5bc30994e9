"""The rows of a training sample: how much each counts, and exact, order-free sums over them.

Every row stands for `mass` equal examples (its sample weight as given; 1 by default), so a rule writes its paper's
formulas for unit weights and `total` does the rest: weight k equals k copies by construction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import copy
from fractions import Fraction
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.exact_sums import NO_GUESS, rounded
from boostlab.backend.cpu.in_parts import NOTHING_TOLD
from boostlab.backend.cpu.kernels.fixed_point import fixed_and_sums, fixed_sums
from boostlab.backend.cpu.kernels.totals import totals_of, totals_of_each
from boostlab.backend.cpu.passes import largest_of_array, sums_of_array
from boostlab.backend.cpu.threads import spread

Array = npt.NDArray[Any]

MANY = 1 << 15  # values from which on several threads sum them
FEW = 4096  # rows whose values are held at once
ROW = 64  # cells of a histogram, that NumPy's functions of a number cost as much as
_FLOAT = np.dtype(np.float64)
_ONCE = np.empty(0, np.int32)  # counts of rows that all count once
_NO_MASS = np.empty(0)
for _array in (_ONCE, _NO_MASS):  # as real ones are: kernels are compiled once for both
    _array.setflags(write=False)


class Masses:
    """The mass of every row and the sums that reach a rule or choose a voter.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    mass : array of shape (n_rows,), optional
        Positive sample weights.  Whole numbers are treated as counts: a row of mass k gives the same bits as k rows.
    counts : array of shape (n_rows,), optional
        How many examples every row stands for, whole numbers above 0; `mass` is then that of one example, so that a
        row of count k and mass u gives the same bits as k rows of mass u.
    """

    def __init__(self, n_rows: int, mass: Array | None = None, counts: Array | None = None) -> None:
        self.n_rows, self.threads = n_rows, 1
        self.counts: Array | None = None  # integer masses, or how many examples have the real ones
        self.mass: Array | None = None  # real masses
        self.n = float(n_rows)  # the sample size every formula calls n: the sum of the masses
        if mass is not None and abs(power := math.frexp(float(mass.max()))[1]) > 64:
            mass = np.ldexp(mass, -power)  # sums of extreme weights would leave floats; their scale means nothing
        if counts is not None:
            whole = counts if mass is None else counts * mass
            if mass is None or are_counts(whole, math.fsum(whole)):
                mass, counts = whole, None
        if mass is not None and not (counts is None and np.all(mass == 1.0)):
            self.n = math.fsum(mass) if counts is None else _exact_sum(mass, counts)
            if counts is None and are_counts(mass, self.n):
                counts, mass = mass, None
            if counts is not None:
                self.counts = counts.astype(np.int32)
                self.counts.setflags(write=False)
            if mass is not None:
                self.mass = np.asarray(mass, dtype=np.float64).view()
                self.mass.setflags(write=False)
        self.n_examples = n_rows if self.counts is None else int(self.counts.sum(dtype=np.int64))
        # The integer masses and the real ones, empty where there are none.
        self.as_arrays = _ONCE if self.counts is None else self.counts, _NO_MASS if self.mass is None else self.mass
        self._shape, self.facts = (n_rows,), (*self.as_arrays, float(self.n_examples))
        self._guess = NO_GUESS  # powers of two that the last sum was rounded at

    @property
    def uniform(self) -> bool:
        """Whether every row counts once."""
        return self.counts is None and self.mass is None

    @property
    def masses(self) -> Array:
        """The mass of every row as floats."""
        if self.counts is None:
            return np.ones(self.n_rows) if self.mass is None else self.mass
        return self.counts.astype(np.float64) if self.mass is None else self.counts * self.mass

    @property
    def unit(self) -> int:
        """What `whole` makes of 1 in a row that counts once, where all rows do."""
        power = 60 - self.n_rows.bit_length()  # the first one that `fixed_sums` tries
        while self.n_rows << power < 1 << 60:
            hidden = (self.n_rows << power) + self.n_rows // 2 + 1
            power += 62 - hidden.bit_length()
        return 1 << power

    def on(self, threads: int) -> Masses:
        """Return the same rows, whose sums so many threads share."""
        same = copy(self)
        same.threads = threads
        same.__dict__.pop("_columns", None)
        return same

    def of(self, rows: Array) -> Array:
        """Return the masses of some rows as floats."""
        return self.take(rows).masses

    def take(self, rows: Array) -> Masses:
        """Return some of the rows."""
        return Masses(len(rows), *(None if a is None else a[rows] for a in (self.mass, self.counts)))

    def share(self, rows: Array) -> Masses:
        """Return some of the rows, integer masses as integers and real ones as real, whatever these rows have alone."""
        return Masses.piece(len(rows), *(None if a is None else a[rows] for a in (self.mass, self.counts)))

    @staticmethod
    def piece(n_rows: int, mass: Array | None, counts: Array | None) -> Masses:
        """Return some rows of a larger sample, integer masses (int32) as integers and real ones as real."""
        share = Masses(n_rows)
        share.counts, share.mass = counts, mass
        for a in (share.counts, share.mass):
            if a is not None:
                a.setflags(write=False)
        share.n_examples = n_rows if share.counts is None else int(share.counts.sum(dtype=np.int64))
        share.as_arrays = (
            _ONCE if share.counts is None else share.counts,
            _NO_MASS if share.mass is None else share.mass,
        )
        share.facts = (*share.as_arrays, float(share.n_examples))
        return share

    @property
    def draw_size(self) -> int:
        """How many rows a draw picks: the examples, or the rows where these stand for many."""
        return self.n_examples if self.n_examples <= 10 * self.n_rows else self.n_rows

    # -- sums ----------------------------------------------------------------------------------------------------

    @overload
    def total(self, x: Array, /) -> float: ...
    @overload
    def total(self, x: Array, x2: Array, /, *more: Array) -> tuple[float, ...]: ...
    def total(self, *xs: Array) -> float | tuple[float, ...]:
        """Return sum_i mass_i * x_i for each array, the same bits for any order of the rows.

        Values are rounded to multiples of 2^-k, with k such that the sum of magnitudes lies in [2^60, 2^62): no
        overflow, and an error of at most about n * 2^-61 of the sum of magnitudes.
        """
        return self._total(xs[0]) if len(xs) == 1 else tuple([self._total(x) for x in xs])

    def _total(self, x: Array) -> float:
        if x.dtype is _FLOAT and x.shape == self._shape and x.flags.c_contiguous:
            found: float = self._totals_of(x)[0]
            if -math.inf < found < math.inf:  # or else say what is wrong
                return found
        k, signed, _ = self._sums(*self.as_units(x)) if not self.uniform else self._sums(_in_any_order(x), _ONCE)
        return math.ldexp(signed, -k)

    def _totals_of(self, x: Array) -> tuple[float, float]:
        if not self._shares(x):
            found: tuple[float, float] = totals_of(x, *self.facts)
            return found
        k, signed, gross = self._shared_sums(x)
        return math.ldexp(signed, -k), math.ldexp(gross, -k)

    def _shared_sums(self, x: Array, integers: Array | None = None) -> tuple[int, int, int]:
        """Return what `fixed_sums` does, by all threads: in one pass where the last sum's powers of two fit."""
        found, self._guess = sums_of_array(np.ascontiguousarray(x, np.float64), self.threads, self._guess, integers)
        return found

    def _shares(self, x: Array) -> bool:
        """Return whether several threads sum these values: many, that count once each."""
        return self.threads > 1 and self.uniform and x.size >= MANY

    def totals(self, values: Array) -> tuple[float, ...]:
        """Return the sum of mass * x for each row x of a matrix, as `total` would, by one call."""
        out = np.empty(len(values))
        totals_of_each.alone(values, *self.facts, out, found=NOTHING_TOLD)
        found = out.tolist()
        if not all(-math.inf < x < math.inf for x in found):
            raise ArithmeticError("A sum over rows met NaN or infinity; the rule that asked must bound its values.")
        return tuple(found)

    def sums(self, x: Array, counts: Array | None = None) -> tuple[float, float]:
        """Return the sums of mass * x and of mass * |x|; counts as in `whole`."""
        if counts is None and x.dtype is _FLOAT and x.shape == self._shape and x.flags.c_contiguous:
            found = self._totals_of(x)
            if found[1] < math.inf:
                return found
        k, signed, gross = self._sums(*(self.as_units(x) if counts is None else (as_matrix(x), counts)))
        return math.ldexp(signed, -k), math.ldexp(gross, -k)

    def whole(self, x: Array, counts: Array | None = None, headroom: int = 0) -> tuple[Array, int, int, int]:
        """Return q = rint(mass * x * 2^k) as int64, k, and the sums of q and |q|.

        Parameters
        ----------
        x : array of shape (n_rows,) or (n_rows, channels)
            Values per unit of mass.
        counts : int32 array of shape (n_rows,), optional
            Masses to use instead of the rows' own (how often a draw picked each row).
        headroom : int
            Leave so many bits for the sums to grow into.
        """
        if counts is None and self._shares(x):
            values = np.ascontiguousarray(x, dtype=np.float64)
            if headroom == 0:
                out = np.empty(values.shape, np.int64)
                return out, *self._shared_sums(values, out)
            k, signed, gross = self._shared_sums(values)
            k = k - headroom if gross > 0 else k
            out, signed, gross = rounded(values, k, self.threads)
            return out, k, signed, gross
        matrix, counts = self.as_units(x) if counts is None else (as_matrix(x), counts)
        out = np.empty(matrix.shape, np.int64)
        k, signed, gross = _finite(fixed_and_sums(matrix, counts, _size(matrix, counts), headroom, out))
        return out.reshape(x.shape), k, signed, gross

    def as_units(self, x: Array) -> tuple[Array, Array]:
        """Fold real masses into x; integer masses stay apart, to be multiplied after rounding."""
        matrix = as_matrix(x) if self.mass is None else as_matrix(as_matrix(x) * self.mass[:, None])
        return matrix, _ONCE if self.counts is None else self.counts

    def _sums(self, matrix: Array, counts: Array) -> tuple[int, int, int]:
        if counts is _ONCE and self._shares(matrix):
            return self._shared_sums(matrix)
        return _finite(fixed_sums(matrix, counts, _size(matrix, counts)))

    def map(self, function: Callable[..., Array], *columns: Array) -> Array:
        """Return a function of columns, each row by itself, evaluated where the rows are: here, by blocks of rows."""
        if self.n_rows <= FEW:
            return function(*columns)
        like = function(*(x[:1] for x in columns))
        out = np.empty((self.n_rows, *like.shape[1:]), like.dtype)

        def work(first: int, last: int) -> None:  # temporary arrays stay in the cache
            for start in range(first, last, FEW):
                rows = slice(start, min(start + FEW, last))
                out[rows] = function(*(x[rows] for x in columns))

        spread(work, self.n_rows, ROW * sum(x.size for x in columns), self.threads)
        return out

    @cached_property
    def _columns(self) -> Any:
        from boostlab.backend.cpu.column_sums import ColumnSums  # which knows this module

        return ColumnSums(self)

    def values_of(self, what: Callable[..., Any], columns: Mapping[str, Array], *numbers: Any) -> tuple[Array, ...]:
        """Return a formula's values for every row, a column each, given its columns by name."""
        return tuple(self._columns.values(what, columns, numbers))

    def sums_of(self, what: Callable[..., Any], columns: Mapping[str, Array], *numbers: Any) -> tuple[float, ...]:
        """Return the sum of each of a formula's values, given its columns by name."""
        return tuple(self._columns.totals(what, columns, numbers))

    def largest_size(self, x: Array) -> float:
        """Return the largest magnitude; 0 if there are no rows."""
        return max(self.largest(x), -self.smallest(x)) if x.size else 0.0

    def totals_of(self, function: Callable[..., Array], n_values: int, *columns: Array) -> list[float]:
        """Return the sum of each of a function's values (one column a value), which are never held for all rows.

        Values that are true or false are counted.
        """
        if self.mass is None and function(*(x[:1] for x in columns)).dtype == np.bool_:
            return self._counts_of(function, columns)
        if self.n_rows <= FEW:
            return list(self.totals(np.ascontiguousarray(function(*columns).T, np.float64)))
        from boostlab.backend.cpu.block_sums import Blocks  # which knows this module

        def evaluate(first: int, last: int, out: Array) -> None:
            out[:] = function(*(x[first:last] for x in columns)).T

        return Blocks(self, 1, n_values * FEW).totals(evaluate, n_values, np.empty((0, n_values), np.int64))[0]

    def _counts_of(self, function: Callable[..., Array], columns: tuple[Array, ...]) -> list[float]:
        """Return the number of examples for which each of a function's values is true: exact, as all such sums are."""
        found: list[int] = []
        for first in range(0, self.n_rows, MANY):
            rows = slice(first, first + MANY)
            flags = function(*(x[rows] for x in columns)).T
            counts = None if self.counts is None else self.counts[rows]
            here = [int(np.count_nonzero(x) if counts is None else counts[x].sum(dtype=np.int64)) for x in flags]
            found = [a + b for a, b in zip(found or [0] * len(here), here, strict=True)]
        return [float(n) for n in found]

    # -- extremes and draws -------------------------------------------------------------------------------------------

    def largest(self, x: Array) -> float:
        """Return max_i x_i."""
        x = x.ravel("K")
        if self.threads > 1 and x.size >= MANY:
            return largest_of_array(np.ascontiguousarray(x, np.float64), 1, self.threads)
        return float(x.item(x.argmax()))  # a fifth of the time of `max`, on some hundred rows

    def smallest(self, x: Array) -> float:
        """Return min_i x_i."""
        x = x.ravel("K")
        if self.threads > 1 and x.size >= MANY:
            return largest_of_array(np.ascontiguousarray(x, np.float64), -1, self.threads)
        return float(x.item(x.argmin()))

    def draw(self, weight: Array, size: int, rng: np.random.Generator, order: Array, systematic: bool = False) -> Array:
        """Return how often each row is picked in `size` draws with replacement, in proportion to mass * weight.

        The draw walks the rows in the given canonical order, so it does not depend on the order they came in, and
        a row of mass k is picked exactly as often as its k copies together.
        """
        q = self.whole(weight)[0]
        heap = np.cumsum((q if q.ndim == 1 else q.sum(axis=1))[order])
        all_ = int(heap[-1])
        if systematic:
            stride, rest = divmod(all_, size)
            steps = np.arange(size, dtype=np.int64)
            marks = rng.integers(0, max(stride, 1)) + stride * steps + rest * steps // size
        else:
            marks = rng.integers(0, all_, size=size)
        picked = order[np.searchsorted(heap, marks, side="right")]
        return np.bincount(picked, minlength=self.n_rows).astype(np.int32)


def are_counts(mass: Array, n: float) -> bool:
    """Return whether masses are whole numbers that integers hold."""
    return bool(np.all(mass == np.rint(mass)) and n < 2**40 and mass.max() < 2**31)


def _exact_sum(mass: Array, counts: Array) -> float:
    """Return the sum of counts * mass, rounded once: what `math.fsum` makes of so many examples."""
    units, of = np.unique(mass, return_inverse=True)
    times = np.bincount(of, weights=counts)  # whole numbers, far below 2^53
    return float(sum(Fraction(u) * int(k) for u, k in zip(units.tolist(), times.tolist(), strict=True)))


def as_matrix(x: Array) -> Array:
    """Return values as kernels are compiled for them: contiguous, and not to be written to."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    matrix = x[:, None] if x.ndim == 1 else x.view()
    matrix.setflags(write=False)
    return matrix


def _in_any_order(x: Array) -> Array:
    """Return values that count once each, as kernels are compiled for them."""
    return as_matrix(x if x.flags.c_contiguous else x.T)


def _size(matrix: Array, counts: Array) -> float:
    return float(matrix.size if counts is _ONCE else counts.sum() * matrix.shape[1])


def _finite(found: tuple[int, int, int]) -> tuple[int, int, int]:
    if found[2] < 0:
        raise ArithmeticError("A sum over rows met NaN or infinity; the rule that asked must bound its values.")
    return found
