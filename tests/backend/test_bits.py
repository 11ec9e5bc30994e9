"""Row functions have the same bits at every SIMD width, on every CPU, and on every machine that runs these tests.

So have models, whatever loops NumPy chooses for this CPU.
"""

from __future__ import annotations

import os
import platform
import struct
import subprocess
import sys
from pathlib import Path

import llvmlite.binding
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from backend.hostile import arguments, digest
from backend.models import digests
from boostlab.backend.cpu.functions import STAMP, _loop_of, each
from boostlab.functions import ROW_FUNCTIONS
from boostlab.functions.bits import bits, from_bits

SCRIPT = Path(__file__).with_name("hostile.py")

# Of the values at 100,000 hostile arguments.  They change with the functions, and with nothing else.
DIGESTS = {
    "exp": "113863689741f694",
    "expm1": "78ec604844e7cf64",
    "log": "a3cf3eb79f414df3",
    "log1p": "b24bc44398635ce8",
    "expit": "23e8c248b9d24313",
    "log_expit": "e972d8d637399e77",
    "softplus": "ca4adb48cd14913a",
    "erf": "49be4f0680964387",
    "erfc": "f7e09aad7f03a948",
    "erfcx": "85a9920cc0081be8",
    "log_erfc": "07d509e701094726",
    "erfinv": "7da0895eb0e74f42",
    "erfcinv": "b50ecf69e2bb124d",
}
X86 = platform.machine().lower() in {"x86_64", "amd64"}
FEATURES = llvmlite.binding.get_host_cpu_features()
BASIC = {"NUMBA_CPU_NAME": "x86-64" if X86 else "generic", "NUMBA_CPU_FEATURES": ""}
WIDE = {"NUMBA_CPU_NAME": "skylake-avx512", "NUMBA_CPU_FEATURES": "-prefer-256-bit"}
AVX512 = X86 and FEATURES.get("avx512dq", False)


@pytest.mark.parametrize("function", ROW_FUNCTIONS, ids=lambda f: f.__name__)
def test_here_as_everywhere(function):
    assert digest(each(function, arguments(100_000))) == DIGESTS[function.__name__]


@pytest.mark.parametrize(
    ("width", "cpu"),
    [
        pytest.param(1, BASIC, id="one double at a time, on the simplest CPU"),
        pytest.param(4, {}, id="four, on this CPU"),
        pytest.param(8, WIDE if AVX512 else {}, id=f"eight, {'with AVX-512' if AVX512 else 'on this CPU'}"),
    ],
)
def test_the_same_at_every_width(width, cpu, tmp_path):
    """Every loop is compiled to vectors of the width asked for, and nothing is multiplied and added at once.

    The width that this CPU takes by itself is that of `test_here_as_everywhere`.
    """
    environment = {**os.environ, **cpu, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, str(SCRIPT), str(width)]
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert out.split("\n")[:-1] == [f"{name} {value} {width} 0" for name, value in DIGESTS.items()]


def test_models_do_not_depend_on_the_loops_that_numpy_chooses():
    """NumPy's exponentials differ in the last place from one CPU to the next; no model is made of them."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    if not found:
        pytest.skip("NumPy has no loops for this CPU that can be switched off")
    environment = {
        **os.environ,
        "NPY_DISABLE_CPU_FEATURES": " ".join(found),
        "PYTHONPATH": os.pathsep.join([str(SCRIPT.parents[1]), *sys.path]),
    }
    command = [sys.executable, str(SCRIPT.with_name("models.py"))]
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == digests()


def test_loops_are_found_again_on_disk():
    """What a loop holds has one name in every process, and tells when the source of a row function has changed."""
    held = [cell.cell_contents for cell in _loop_of(ROW_FUNCTIONS[0], 1).py_func.__closure__]
    assert STAMP in held
    assert not any(isinstance(thing, Dispatcher) for thing in held)


@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -1.5, 5e-324, 1.7976931348623157e308, float("inf"), -float("inf")])
def test_bits_and_back(x):
    assert from_bits(bits(x)).hex() == x.hex()
    assert bits(x) == int.from_bytes(struct.pack(">d", x), "big", signed=True)
