"""From what the user passes to `fit` to a checked sample."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from boostlab.backend.cpu.masses import Masses, are_counts
from boostlab.data.coded import CODES_OF_OTHERS, CodedMatrix
from boostlab.data.input_errors import one_sentence
from boostlab.data.matrix import canonical_order, fingerprint, take
from boostlab.data.table import Bins, Table

Array = npt.NDArray[Any]

LARGEST = 1e100  # number to predict: squares of such numbers can still be added up
NEAR = 1 << 15  # whole numbers in so small a range are counted to be told apart
SIDES = np.array([0, 1])  # the labels of a binary problem
WIDEST = 100  # orders of magnitude between the heaviest row and the lightest that counts


@dataclass
class Sample:
    """Masses that count: numbers, class indices, masses."""

    X: Any  # an array or a CSR matrix
    codes: Array  # or the numbers to predict
    rows: Masses
    classes: Array  # none where y holds numbers
    table: Table | None = None  # X and its codes, where it is binned already

    @classmethod
    def of(cls, X: Any, codes: Array, rows: Masses, classes: Array) -> Sample:
        """Return a sample of numbers, or of a table that is binned already."""
        return cls(X.X, codes, rows, classes, X) if isinstance(X, Table) else cls(X, codes, rows, classes)

    def part(self, rows: Array) -> Sample:
        """Return some of the rows, by their numbers."""
        X = self.X if self.table is None else self.table
        return Sample.of(_some(X, rows), self.codes[rows], self.rows.take(rows), self.classes)

    def plain(self) -> Sample:
        """Return the sample without its codes, which another object holds from now on."""
        return self if self.table is None else replace(self, table=None)

    def coded(self, bins: Bins | None, threads: int) -> Table:
        """Return the sample as a table coded by these bins, which it may be already."""
        if self.table is not None and self.table.bins is bins:
            return self.table.again(threads)
        if bins is not None and isinstance(self.X, CodedMatrix) and not self.X.tells(bins.columns, bins.points):
            raise ValueError(f"{CODES_OF_OTHERS}.")
        return Table.of(self.X, bins, threads)

    def mean(self) -> float:
        """Return the mean of the numbers to predict."""
        return float(self.rows.total(self.codes) / self.rows.n)

    def less(self, baseline: float) -> Sample:
        """Return the sample with the numbers to predict less a baseline."""
        return replace(self, codes=self.codes - baseline)

    def class_masses(self) -> Array:
        """Return the mass of every class."""
        return np.array([self.rows.total((self.codes == c).astype(np.float64)) for c in range(len(self.classes))])

    def problem(self, column: Array) -> Sample:
        """Return a binary problem: the rows of the classes that a code's column has on a side, with labels 0 and 1."""
        sides = column[self.codes]
        part = self if column.all() else self.part(np.flatnonzero(sides))
        return replace(part, codes=(sides[sides != 0] > 0).astype(np.int8), classes=SIDES)

    def canonical_order(self) -> Array:
        """Return an order of the rows that depends on their content only."""
        return canonical_order(self.X, self.codes, None if self.rows.uniform else self.rows.masses)

    def fingerprint(self) -> int:
        """Return a number that changes when the data do."""
        crc = zlib.crc32(np.ascontiguousarray(self.codes).data, fingerprint(self.X))
        return zlib.crc32(self.rows.masses.data, crc)


def encode_labels(y: Array, classes: Array, where: str) -> Array:
    """Return the indices of labels in `classes`, or say which label is new."""
    codes = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    strange = classes[codes] != y
    if np.any(strange):
        raise ValueError(
            f"{where} contains the label {y[strange][0]}, which is not among the training labels "
            f"({', '.join(map(str, classes[:10]))}{', ...' if len(classes) > 10 else ''}); leave such rows out."
        )
    return codes


def check_sample(
    X: Any, y: Array, sample_weight: Any, classes: Array | None, where: str, class_weight: Any = None
) -> Sample:
    """Check labels and weights, drop the rows of weight zero, and encode the classes.

    Parameters
    ----------
    X, y : arrays
        Already checked for shape and numbers.
    sample_weight : array or None
        Not negative, not all zero.
    classes : array or None
        The known classes; None takes those of y.
    where : str
        "y" or "y_val", for messages.
    class_weight : None, "balanced" or mapping
        What to multiply the weights of every class by.
    """
    found = _told_apart(y)
    if found is None or 2 * len(found[0]) > len(y):  # of whole numbers, scikit-learn only minds if they are very many
        with one_sentence(where=where):
            check_classification_targets(y)
    X, kept, rows = _weighed(X, y, sample_weight, where, class_weight)
    if classes is None:
        classes, codes = (found if kept is y else _told_apart(kept)) or np.unique(kept, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"{where} holds only one class ({classes[0]}); a classifier needs at least two classes to tell apart."
            )
    else:
        y = kept
        with one_sentence(where=where):
            codes = encode_labels(y, classes, where)
    return Sample.of(X, _small(codes, len(classes)), rows, classes)


def _told_apart(y: Array) -> tuple[Array, Array] | None:
    """Return the different ones of whole numbers that are near each other, and which of them every row has.

    It is what `np.unique` would return, ten times faster; None where y is not like that.
    """
    if y.dtype.kind not in "biu" or not len(y):
        return None
    whole = y.astype(np.uint64 if y.dtype.kind == "u" else np.int64, copy=False)
    low, high = whole.min(), whole.max()
    if int(high) - int(low) >= NEAR:
        return None
    if int(high) - int(low) == 1:
        return np.array([low, high]).astype(y.dtype), (whole == high).view(np.int8)
    places = whole.astype(np.intp, copy=False) if low == 0 else (whole - low).astype(np.intp, copy=False)
    seen = np.bincount(places) > 0
    kind = np.min_scalar_type(-int(seen.sum()))
    if seen.all():  # without gaps a number's place is its class
        return (np.arange(len(seen), dtype=whole.dtype) + low).astype(y.dtype), places.astype(kind)
    codes = (np.cumsum(seen) - 1).astype(kind)
    return (np.flatnonzero(seen).astype(whole.dtype) + low).astype(y.dtype), codes[places]


def check_numbers(X: Any, y: Array, sample_weight: Any, where: str) -> Sample:
    """Check numbers to predict and weights, and drop the rows of weight zero.

    Parameters
    ----------
    X, y, sample_weight, where
        As for `check_sample`.
    """
    X, y, rows = _weighed(X, np.asarray(y, np.float64), sample_weight, where)
    spread = float(y.max() / 2 - y.min() / 2)
    if np.abs(y).max() > LARGEST or 0 < spread < 1 / LARGEST:
        raise ValueError(f"{where} holds numbers beyond {LARGEST:g}, or apart by less than its inverse; scale them.")
    return Sample.of(X, y, rows, np.empty(0))


def _weighed(X: Any, y: Array, sample_weight: Any, where: str, class_weight: Any = None) -> tuple[Any, Array, Masses]:
    """Return the rows that count and their masses.

    Whole sample weights stay counts beside the weights of classes: weight k is k copies of a row, to the bit.
    """
    if sample_weight is None and class_weight is None:
        return X, y, Masses(len(y))
    with one_sentence(where=where):
        mass = _check_sample_weight(sample_weight, _counted(X), dtype=np.float64, ensure_non_negative=True)
    mass = _tamed(mass, "sample_weight" if where == "y" else "sample_weight_val")
    counts = None
    if class_weight is not None:
        classes = _class_weights(class_weight, y, mass)
        whole = _tamed(mass * classes, "sample_weight times class_weight")
        if sample_weight is not None and are_counts(mass, math.fsum(mass)):
            mass, counts = classes, mass
        else:
            mass = whole
    kept = np.flatnonzero(mass > 0 if counts is None else (mass > 0) & (counts > 0))
    if not len(kept):
        raise ValueError("All weights are zero; give rows of at least two classes a weight above 0.")
    if len(kept) == len(y):
        return X, y, Masses(len(y), mass, counts)
    return _some(X, kept), y[kept], Masses(len(kept), mass[kept], None if counts is None else counts[kept])


def weighed_rows(X: Any, sample_weight: Any) -> tuple[Any, Masses]:
    """Return the rows that count, X itself if all do, and their masses.

    Parameters
    ----------
    X : array or CSR matrix
        Numbers.
    sample_weight : array or None
        Not negative, not all zero.
    """
    kept, _, rows = _weighed(X, np.empty(X.shape[0]), sample_weight, "y")
    return kept, rows


def _some(X: Any, rows: Array) -> Any:
    """Return some rows of numbers, or of a table that is binned already."""
    return X.take(rows) if isinstance(X, Table) else take(X, rows)


def _counted(X: Any) -> Any:
    """Return what scikit-learn can count the rows of."""
    return X.X if isinstance(X, Table) else X


def _small(codes: Array, n_classes: int) -> Array:
    """Return class indices in as few bytes as they need."""
    return codes.astype(np.min_scalar_type(-n_classes), copy=False)


def _class_weights(class_weight: Any, y: Array, mass: Array) -> Array:
    """Return every row's class weight; "balanced" gives all classes the same mass, and the sample the mass it has."""
    classes, codes = np.unique(y, return_inverse=True)
    sums = np.array([math.fsum(mass[codes == c]) for c in range(len(classes))])
    return class_weights_of(class_weight, classes, sums, math.fsum(mass))[codes]


def class_weights_of(class_weight: Any, classes: Array, sums: Array, whole: float) -> Array:
    """Return every class's weight, given the masses of the classes and of the sample."""
    if isinstance(class_weight, str):
        return np.divide(whole, len(classes) * sums, out=np.zeros(len(sums)), where=sums > 0)
    for c, w in class_weight.items():
        if not (isinstance(w, Real) and math.isfinite(w)):
            raise ValueError(f"class_weight has {w!r} for the class {c!r}; give a finite number of at least 0.")
        if w < 0:
            raise ValueError(f"class_weight has a negative weight ({w}) for the class {c!r}; give at least 0.")
    with one_sentence():
        weights = compute_class_weight(dict(class_weight), classes=classes, y=classes)
    return _tamed(weights, "class_weight")


def _tamed(mass: Array, what: str) -> Array:
    """Return weights whose sums and products stay in the range of floats: the scale of all of them means nothing."""
    positive = mass[mass > 0]
    if not len(positive):
        return mass
    least, most = float(positive.min()), float(positive.max())
    if math.log10(most) - math.log10(least) > WIDEST:
        raise ValueError(
            f"{what} spans more than {WIDEST} orders of magnitude (from {least:g} to {most:g}); "
            "give weights of like size, and 0 to rows that do not count."
        )
    power = math.frexp(most)[1]
    return np.ldexp(mass, -power) if abs(power) > 64 else mass


def hold_out(sample: Sample, share: float, rng: np.random.Generator) -> tuple[Sample, Sample]:
    """Return a training and a validation part, the same share of the rows of every class, whatever their order."""
    held = held_rows(sample, share, rng)
    return sample.part(np.flatnonzero(~held)), sample.part(np.flatnonzero(held))


def held_rows(sample: Sample, share: float, rng: np.random.Generator) -> Array:
    """Return which rows to hold out."""
    order = sample.canonical_order()
    held = np.zeros(len(order), bool)
    for c in range(max(len(sample.classes), 1)):
        members = order[sample.codes[order] == c] if len(sample.classes) else order
        k = min(max(1, round(share * len(members))), len(members) - 1)
        held[rng.permutation(members)[:k]] = True
    if not held.any():
        raise ValueError(
            "Early stopping finds no rows to hold out: every class has one row, or one sample is all there is; "
            "pass X_val and y_val, or turn it off."
        )
    return held
