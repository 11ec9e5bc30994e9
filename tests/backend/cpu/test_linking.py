"""Kernels are compiled with their parts as a whole, and once."""

from __future__ import annotations

import itertools
import operator
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba import njit
from numba.core import types
from numba.core.errors import TypingError
from numba.core.event import install_recorder
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python, rtsys

import boostlab
from boostlab.backend.cpu.compiling import KERNEL, LINKED, kernel, part
from boostlab.backend.cpu.kernels.workspace import doubles, last_at_most, to_read, to_write


@part
def root(x):
    if x < 0.0:
        raise ValueError(f"no root of {x}")
    return np.sqrt(x)


@kernel
def roots(x):
    values, out = to_read(x), np.empty(x.shape)
    to = to_write(out)
    for i in range(values.size):
        to[i] = root(values[i])
    return out


def test_a_part_is_linked_with_its_kernel_and_its_errors_reach_python():
    x = np.arange(6.0).reshape(2, 3)
    x.setflags(write=False)
    np.testing.assert_array_equal(roots(x), np.sqrt(x))
    with pytest.raises(ValueError, match="no root"):
        roots(x - 9.0)


@part
def first_half(x):
    return x[: x.size // 2]


@part
def squares(x):
    out = doubles(x.size)
    for i in range(x.size):
        out[i] = x[i] * x[i]
    return out


@part
def sum_of_squares(x):
    found = 0.0
    for half in (first_half(x), x[x.size // 2 :]):
        of = squares(half)
        for i in range(of.size):
            found += of[i]
    return found


@part
def largest(pair):
    rows, at = pair
    found = rows[at[0]][0]
    for j in range(rows.shape[1]):
        row = rows[at[0]]
        found = max(found, row[j])
    return found


@kernel
def all_of_it(rows, at, out):
    for i in range(rows.shape[0]):
        at[0] = i
        out[i] = sum_of_squares(rows[i]) + largest((rows, at))


def test_what_owns_no_array_counts_no_references_and_what_does_frees_it():
    """Of these parts some return views, some make arrays, and some only look at what they are given."""
    rows, out = np.arange(12.0).reshape(3, 4), np.empty(3)
    all_of_it(rows, np.zeros(1, np.int64), out)
    _nrt_python.memsys_enable_stats()
    before, held = rtsys.get_allocation_stats(), sys.getrefcount(rows)
    for _ in range(5):
        all_of_it(rows, np.zeros(1, np.int64), out)
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    np.testing.assert_array_equal(out, (rows**2).sum(1) + rows.max(1))
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free == 5 * 3 * 2  # the squares of two halves
    assert sys.getrefcount(rows) == held


@pytest.mark.parametrize("booster", [boostlab.AdaBoostClassifier, boostlab.LogitBoostClassifier])
@pytest.mark.parametrize("learner", [{}, {"max_leaf_nodes": 4}, {"estimator": "tree"}])
def test_fits_free_what_they_make(table, booster, learner):
    model = booster(n_estimators=3, **learner).fit(*table)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    model.fit(*table).predict(table[0])
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free
    assert after.alloc - before.alloc == after.free - before.free


@kernel
def added(x, out):
    for i in range(x.size):
        out[i] += x[i]


def test_one_kernel_serves_arrays_that_may_be_written_to_and_others():
    x, out = np.arange(3.0), np.zeros(3)
    for writeable in (False, True, False):
        x.flags.writeable = writeable
        added(x, out)
    np.testing.assert_array_equal(out, [0, 3, 6])
    assert len(added.signatures) == 1


@part
def halved(x):
    return x / 2.0


@part
def quartered(x):
    return halved(halved(x))


def test_a_part_is_compiled_once_for_kernels_and_for_other_parts():
    made = njit(**KERNEL)(lambda x: halved(x) + quartered(x))  # not from the cache on disk
    with install_recorder("numba:compile") as seen:
        assert made(8.0) == 6.0
    names = [event.data["dispatcher"].py_func.__name__ for _, event in seen.buffer if event.is_start]
    assert sorted(names) == ["<lambda>", "halved", "quartered"]


NUMBERS = types.int8, types.uint8, types.int64, types.uint64, types.float32, types.float64, types.boolean
OPERATORS = operator.add, operator.iadd, operator.mul, operator.truediv, operator.floordiv, operator.and_, operator.lt


@pytest.mark.skipif(not numba.__version__.startswith(LINKED), reason="another release of Numba")
def test_what_operators_make_of_numbers_is_what_numba_says():
    from boostlab.backend.cpu.linking import _Typing

    says, remembers = cpu_target.typing_context, _Typing(cpu_target.typing_context)
    says.refresh()
    kinds = *NUMBERS, types.literal(0), types.literal(3)
    for _ in range(2):  # asked, and remembered
        for name, *asked in itertools.product(OPERATORS, kinds, kinds):
            function = says.resolve_value_type(name)
            if name is operator.and_ and set(asked) & {types.float32, types.float64}:
                for context in (says, remembers):
                    with pytest.raises(TypingError):
                        context.resolve_function_type(function, tuple(asked), {})
            else:
                found = remembers.resolve_function_type(function, tuple(asked), {})
                assert found == says.resolve_function_type(function, tuple(asked), {})
    truth = says.resolve_value_type(bool)
    for kind in kinds:
        found = remembers.resolve_function_type(truth, (kind,), {})
        assert found == says.resolve_function_type(truth, (kind,), {})


@pytest.mark.parametrize("value", range(-1, 9))
def test_the_last_that_is_at_most_a_value(value):
    x = np.array([0, 2, 2, 5, 7])
    assert last_at_most(x, value) == np.searchsorted(x, value, side="right") - 1
    assert last_at_most(x[:0], value) == -1


FITS = """
import gc, warnings
import numpy as np
from numba.core import types
from numba.core.dispatcher import Dispatcher
import boostlab

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
weights = None, rng.integers(1, 4, 80), rng.random(80) + 0.1
for cls in (boostlab.AdaBoostClassifier, boostlab.LogitBoostClassifier, boostlab.WeightBoostClassifier):
    for weight in weights:
        for how in ({}, {"max_leaf_nodes": 3}):
            cls(n_estimators=2, **how).fit(X, y, sample_weight=weight).predict(X)


def plain(kind):
    if isinstance(kind, types.Array):
        return kind.dtype, kind.ndim
    return tuple(map(plain, kind.types)) if isinstance(kind, types.BaseTuple) else kind


kernels = 0
for made in gc.get_objects():
    if isinstance(made, Dispatcher) and str(made.py_func.__module__).startswith("boostlab."):
        known = [tuple(map(plain, signature)) for signature in made.signatures]
        kernels += len(known)
        if len(set(known)) < len(known) and made.targetoptions.get("nogil"):
            print(made.py_func.__qualname__, *made.signatures, sep="\\n    ")
assert kernels > 20, kernels
"""


def test_no_kernel_is_compiled_twice_for_the_layout_of_arrays():
    done = subprocess.run([sys.executable, "-c", FITS], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
