"""The garbage collector rests while kernels of ours are compiled, and only then; a kernel knows a signature once."""

from __future__ import annotations

import gc

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from numba.core.errors import TypingError
from numba.extending import overload

from boostlab.backend.cpu.compiling import kernel


@pytest.fixture
def compiled():
    """Return a function that compiles a kernel of a module, and returns whether the collector ran meanwhile."""

    def compiled(module, breaks=False):
        def glimpse(): ...

        ran = []

        @overload(glimpse)
        def at_compilation():
            ran.append(gc.isenabled())
            return None if breaks else lambda: 0

        def work():
            return glimpse()

        work.__module__ = module
        if breaks:
            with pytest.raises(TypingError):
                numba.njit(work)()
        else:
            assert numba.njit(work)() == 0
        (there,) = set(ran)
        return there

    was = gc.isenabled()
    yield compiled
    (gc.enable if was else gc.disable)()


@pytest.mark.parametrize("breaks", [False, True])
def test_the_collector_rests_and_goes_on(compiled, breaks):
    gc.enable()
    assert not compiled("boostlab.backend.cpu.kernels.toy", breaks)
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off(compiled):
    gc.disable()
    assert not compiled("boostlab.backend.cpu.kernels.toy")
    assert not gc.isenabled()


@pytest.mark.parametrize("module", ["somebody.else", None])  # None: a function that a program wrote
def test_kernels_of_others_are_none_of_our_business(compiled, module):
    gc.enable()
    assert compiled(module)
    assert gc.isenabled()


def test_threads_that_call_a_kernel_first_at_the_same_moment_do_not_slow_later_calls(monkeypatch):
    """Each asks for the signature; of two equal entries Numba would choose none, and ask again in every call."""

    @kernel
    def last(x):
        return x[-1]

    x = np.arange(4.0)
    x.flags.writeable = False
    for _ in range(2):
        last.compile((numba.typeof(x),))
    asked, ask = [], Dispatcher._compile_for_args
    monkeypatch.setattr(Dispatcher, "_compile_for_args", lambda self, *args: asked.append(args) or ask(self, *args))
    assert last(x) == 3.0
    assert asked == []
