"""Kernels are compiled with their parts as a whole, and once."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.kernels.workspace import last_at_most, to_read, to_write


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
