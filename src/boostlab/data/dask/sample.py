"""A sample whose rows are on the workers of a Dask cluster."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from boostlab.backend.cpu.exact_sums import exact_sums
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.dask.cluster import Cluster
from boostlab.backend.dask.parts import DaskParts
from boostlab.backend.partitioned.rows import PartitionedRows
from boostlab.backend.partitioned.whole import Whole
from boostlab.data.bins import MOST_BINS, Bins
from boostlab.data.dask.blocks import CodedBlock, PartitionReader, PartMaker, coded, looked_at, tops_and_sums
from boostlab.data.dask.facts import Asked, PartitionFacts, columns_of, described, merged_facts
from boostlab.data.dask.masses import MassFacts, MassPlan
from boostlab.data.dask.partitions import Partitions, Refused, compute, computed, merged_by_tree, told
from boostlab.data.input_errors import one_sentence
from boostlab.data.input_tables import Reader
from boostlab.data.sample import LARGEST, SIDES, class_weights_of
from boostlab.data.table_search import TableSearch, looked

Array = npt.NDArray[Any]

COUNTERS = 1 << 18  # of one pass of the search for cuts, over all columns: they travel


@dataclass
class ClusterMasses:
    """How much the rows count, as far as it can be said without them."""

    n_rows: int
    n_examples: int
    n: float
    uniform: bool


@dataclass
class ClusterSample:
    """Rows of a collection that count, read and checked; nothing of it is in this process.

    Parameters
    ----------
    cluster : Cluster
        Where they are.
    partitions : Partitions
        What they are made of.
    recipe : PartitionReader
        How.
    rows : ClusterMasses
        How many there are.
    classes : array
        The labels; none where there are numbers to predict.
    blocks : list of futures
        Their codes, once there are bins.
    bins : Bins, optional
        The cut points.
    baseline, sides
        See `PartMaker`.
    """

    cluster: Cluster
    partitions: Partitions
    recipe: PartitionReader
    rows: ClusterMasses
    classes: Array
    blocks: list[Any] | None = None
    bins: Bins | None = None
    baseline: float = 0.0
    sides: Array | None = None
    table: ClassVar[None] = None  # of codes in this process

    def less(self, baseline: float) -> ClusterSample:
        """Return the sample with the numbers to predict less a baseline."""
        return replace(self, baseline=baseline)

    def problem(self, column: Array) -> ClusterSample:
        """Return a binary problem: all rows, the classes on two sides."""
        if not column.all():
            raise TypeError(
                "This reduction leaves rows out of its binary problems, and they are on a Dask cluster; use "
                'multiclass="ovr", or a booster with a form of its own for several classes, such as SAMMEClassifier.'
            )
        return replace(self, sides=(column > 0).astype(np.int8), classes=SIDES)

    def class_masses(self) -> Array:
        """Return the mass of every class."""
        found = (self._exact(c) for c in range(len(self.classes)))
        return np.array([math.ldexp(signed, -power) for power, signed, _ in found])

    @property
    def X(self) -> Any:
        """Refuse: rows are not here."""
        raise TypeError(
            "This needs all rows in one process, and they are on a Dask cluster; use a setting that does not, or fit "
            "on a table in memory."
        )

    def binned(self, max_bins: int | str) -> ClusterSample:
        """Return the sample with bins of its own, and its rows as codes on the workers."""
        return self if self.bins is not None else self.coded(self._cuts(max_bins))

    def coded(self, bins: Bins) -> ClusterSample:
        """Return the sample with its rows as codes on the workers."""
        if self.bins is bins:
            return self
        given = self.partitions.X, self.partitions.y, self.partitions.weight
        blocks = compute(self.cluster, coded, given, self.recipe, bins)
        self.cluster.keep(blocks)
        told(self.cluster, _complaint, (blocks,))
        return replace(self, blocks=blocks, bins=bins)

    def _cuts(self, max_bins: int | str) -> Bins:
        columns = self.recipe.reader._columns
        n_categories = {} if columns is None else columns.n_categories
        limit = MOST_BINS if max_bins == "exact" else int(max_bins)
        search = TableSearch(self.partitions.n_features, limit, n_categories, COUNTERS)
        recipe = self.recipe
        if recipe.plan.kind in ("real", "both"):
            recipe = replace(recipe, power=self._exact()[0])
        given = self.partitions.X, self.partitions.y, self.partitions.weight
        while not search.done:
            question = search.question()
            seen = computed(self.cluster, lambda q=question: [self._looked(given, recipe, q, limit)])  # type: ignore[misc]
            search.hear(seen[0])
            search.advance()
        points, counts, distinct = search.cuts()
        if max_bins == "exact" and np.any(distinct > limit):
            raise ValueError(
                f'max_bins="exact" allows {MOST_BINS:,} distinct values a column, but column '
                f"{int(np.argmax(distinct > limit))} has more; give max_bins a number, for example 255."
            )
        return Bins(points, np.append(0, np.cumsum(counts)).astype(np.int64), frozenset(n_categories))

    def _looked(self, given: Any, recipe: PartitionReader, question: Any, limit: int) -> Any:
        return merged_by_tree(
            self.cluster, compute(self.cluster, looked_at, given, recipe, question), partial(_all, limit)
        )

    def _exact(self, of: int | str | None = None) -> tuple[int, int, int]:
        """Return the power of two for sums of masses (of a class; times labels), and the sums of q and |q|."""
        given = self.partitions.y, self.partitions.weight

        def one_pass(powers: Array) -> tuple[Array, Array]:
            found = told(self.cluster, tops_and_sums, given, self.recipe, powers.tolist(), of)
            return np.max([t for t, _ in found], axis=0), np.sum([s for _, s in found], axis=0)

        return exact_sums(one_pass, 1, float(self.rows.n_examples), np.empty((0, 1), np.int64))[0][0]

    def mean(self) -> float:
        """Return the mean of the numbers to predict."""
        power, signed, _ = self._exact("labels")
        return math.ldexp(signed, -power) / self.rows.n

    def for_rule(self, rule: Any, n_classes: int, threads: int) -> PartitionedRows:
        """Return the rows for a rule; the workers hold them until `parts.close` is called."""
        assert self.blocks is not None
        assert self.bins is not None
        make = PartMaker(rule, n_classes, self.baseline, self.sides)
        empty = self.bins.encode_dense(np.empty((0, self.bins.n_features)), 1)
        none = make(coded_none(self.bins, empty, self.recipe.plan, bool(n_classes)))
        facts = self.rows
        whole = Whole(facts.n_rows, facts.n_examples, facts.n, n_classes, self.bins, empty.starts, facts.uniform)
        parts = DaskParts(self.cluster, self.blocks, make)
        self.cluster.opened.append(parts)
        return PartitionedRows(rule, parts, none, whole, threads)


def coded_none(bins: Bins, codes: Any, plan: MassPlan, labels: bool) -> CodedBlock:
    """Return a block without rows."""
    from boostlab.data.coded import CodedMatrix
    from boostlab.data.dask.blocks import NO_KEYS
    from boostlab.data.table import Table

    _, mass, counts = plan.masses(np.empty(0, np.intp), None)
    empty = np.empty(0, np.int8 if labels else np.float64)
    return CodedBlock(Table(CodedMatrix(codes, bins, NO_KEYS), bins, codes), empty, Masses.piece(0, mass, counts))


def _complaint(block: Any) -> Refused | None:
    return block if isinstance(block, Refused) else None


def _all(limit: int, *reports: Any) -> Any:
    bad = next((r for r in reports if isinstance(r, Refused)), None)
    return looked(limit, *reports) if bad is None else bad


def read(
    cluster: Cluster, booster: Any, X: Any, y: Any, weight: Any, numeric: bool, class_weight: Any = None
) -> ClusterSample:
    """Read a training sample: note on the booster how its columns are read.

    Parameters
    ----------
    cluster : Cluster
        Where to.
    booster : Reading
        Gets n_features_in_, feature_names_in_ and its columns.
    X, y, weight
        Collections.
    numeric : bool
        Whether y holds numbers to predict.
    class_weight
        As in a booster.
    """
    if y is None:
        raise ValueError(f"{type(booster).__name__} requires y to be passed, but the target y is None; give labels.")
    partitions = Partitions.of(X, y, weight)
    if not len(partitions) or not partitions.n_features:
        raise ValueError("X has no partitions or no columns; give a table with at least one row and one column.")
    wanted, least = booster.categorical_features, booster.min_category_size
    asked = Asked(wanted, numeric, type(booster).__name__, "y", class_weight is not None, least > 1)
    facts = _described(cluster, partitions, asked)
    validate_data(booster, partitions.head, skip_check_array=True)
    names = list(partitions.head.columns) if hasattr(partitions.head, "columns") else None
    booster._columns = columns_of(facts, wanted, partitions.n_features, names, least)
    reader = Reader(wanted)
    for name in ("_columns", "n_features_in_", "feature_names_in_"):
        if hasattr(booster, name):
            setattr(reader, name, getattr(booster, name))
    classes = None if numeric else _classes(facts, "y")
    if numeric:
        _check_numbers(facts, "y")
    plan, rows = _weighed(cluster, partitions, facts, weight is not None, class_weight, classes, "sample_weight")
    return ClusterSample(
        cluster, partitions, PartitionReader(reader, plan, classes), rows, np.empty(0) if classes is None else classes
    )


def read_like(sample: ClusterSample, X: Any, y: Any, weight: Any) -> ClusterSample:
    """Read validation rows, as the training sample is read."""
    partitions, reader = Partitions.of(X, y, weight, "X_val"), sample.recipe.reader
    if partitions.n_features != reader.n_features_in_:
        raise ValueError(
            f"X_val has {partitions.n_features} columns, and X has {reader.n_features_in_}; give the same."
        )
    numeric = sample.recipe.classes is None
    facts = _described(sample.cluster, partitions, Asked(None, numeric, "X_val", "y_val"))
    if numeric:
        _check_numbers(facts, "y_val")
    given = weight is not None
    plan, rows = _weighed(sample.cluster, partitions, facts, given, None, None, "sample_weight_val")
    recipe = PartitionReader(reader, plan, sample.recipe.classes, "y_val")
    return ClusterSample(sample.cluster, partitions, recipe, rows, sample.classes)


def _described(cluster: Cluster, partitions: Partitions, asked: Asked) -> PartitionFacts:
    facts = merged_facts(told(cluster, described, (partitions.X, partitions.y, partitions.weight), asked))
    if not facts.n_rows:
        raise ValueError(
            "All weights are zero, or there are no rows; give rows of at least two classes a weight above 0."
        )
    return facts


def _classes(facts: PartitionFacts, where: str) -> Array:
    assert facts.labels is not None
    with one_sentence(where=where):
        check_classification_targets(np.repeat(facts.labels, 3))  # as labels, not as the few that are different
    if len(facts.labels) < 2:
        raise ValueError(
            f"{where} holds only one class ({facts.labels[0]}); a classifier needs at least two classes to tell apart."
        )
    return facts.labels


def _check_numbers(facts: PartitionFacts, where: str) -> None:
    low, high = facts.ends
    if max(abs(low), abs(high)) > LARGEST or 0 < high / 2 - low / 2 < 1 / LARGEST:
        raise ValueError(f"{where} holds numbers beyond {LARGEST:g}, or apart by less than its inverse; scale them.")


def _weighed(
    cluster: Cluster,
    partitions: Partitions,
    facts: PartitionFacts,
    given: bool,
    class_weight: Any,
    classes: Any,
    what: str,
) -> tuple[MassPlan, ClusterMasses]:
    """Decide what masses the rows have, as `data.sample._weighed` and `Masses` do."""
    n = facts.n_rows
    once = ClusterMasses(n, n, float(n), True)
    if not given and class_weight is None:
        return MassPlan(), once
    power = facts.masses.tamed(what) if given else 0
    masses = facts.masses.scaled(power)
    if class_weight is None:
        if masses.ones:
            return MassPlan(power), once
        kind = "counts" if masses.counts else "real"
        n_examples = int(masses.total) if kind == "counts" else n
        return MassPlan(power, kind=kind), ClusterMasses(n, n_examples, float(masses.total), False)
    sums = [facts.by_class[c] / 2**power if power > 0 else facts.by_class[c] * 2**-power for c in classes.tolist()]
    weights = class_weights_of(class_weight, classes, np.array([float(s) for s in sums]), float(sum(sums)))
    plan = MassPlan(power, weights, "real")
    products = sum(told(cluster, _products, (partitions.y, partitions.weight), classes, plan), MassFacts())
    if not products.n:
        raise ValueError("All weights are zero; give rows of at least two classes a weight above 0.")
    again = products.tamed("sample_weight times class_weight")
    products = products.scaled(again)
    if given and masses.counts and not products.counts:
        kind, examples = "both", int(sum(s for s, w in zip(sums, weights.tolist(), strict=True) if w > 0))
        total = sum(s * Fraction(w) for s, w in zip(sums, weights.tolist(), strict=True))
        return replace(plan, kind=kind), ClusterMasses(products.n, examples, float(total), False)
    if products.ones:
        return replace(plan, kind="once"), ClusterMasses(products.n, products.n, float(products.n), True)
    kind = "counts" if products.counts else "real"
    examples = int(products.total) if kind == "counts" else products.n
    return replace(plan, kind=kind, product_power=again), ClusterMasses(
        products.n, examples, float(products.total), False
    )


def _products(y: Any, weight: Any, classes: Array, plan: MassPlan) -> MassFacts | Refused:
    recipe = PartitionReader(None, plan, classes)
    try:
        return MassFacts.of(recipe.labels(y, weight, len(y))[1].masses)
    except (ValueError, TypeError) as error:
        return Refused(error)
