"""Row functions have the same bits at every SIMD width, on every CPU, and on every machine that runs these tests."""

from __future__ import annotations

import os
import platform
import struct
import subprocess
import sys
from pathlib import Path

import llvmlite.binding
import pytest
from numba.core.dispatcher import Dispatcher

from backend.hostile import columns, digest
from boostlab.backend.cpu.functions import STAMP, _loop_of, each
from boostlab.backend.functions import ROW_FUNCTIONS
from boostlab.backend.functions.bits import bits, from_bits

SCRIPT = Path(__file__).with_name("hostile.py")

# Of the values at 100,000 hostile arguments.  They change with the functions, and with nothing else.
DIGESTS = {
    "exp": "12127e0d738b0d8c",
    "expm1": "c157bde663284508",
    "log": "a3cf3eb79f414df3",
    "log1p": "b24bc44398635ce8",
    "expit": "2ef8c0c64a69fbb2",
    "log_expit": "63a8783ab6eff258",
    "softplus": "778783b842bf3581",
    "logaddexp": "4b0b94344eaf22ca",
    "erf": "03a0b539b3ed5cbe",
    "erfc": "dcb35a2db91c10d9",
    "erfcx": "5aca188b52124e29",
    "log_erfc": "d3ad0bb99af65f8d",
    "erfinv": "4c9c0f63a1eb87d1",
    "erfcinv": "c50a2ef4ffa107aa",
}
X86 = platform.machine().lower() in {"x86_64", "amd64"}
FEATURES = llvmlite.binding.get_host_cpu_features()
BASIC = {"NUMBA_CPU_NAME": "x86-64" if X86 else "generic", "NUMBA_CPU_FEATURES": ""}
WIDE = {"NUMBA_CPU_NAME": "skylake-avx512", "NUMBA_CPU_FEATURES": "-prefer-256-bit"}
LACKS_AVX512 = pytest.mark.skipif(not (X86 and FEATURES.get("avx512dq")), reason="this CPU has no AVX-512")


@pytest.mark.parametrize("function", ROW_FUNCTIONS, ids=lambda f: f.__name__)
def test_here_as_everywhere(function):
    assert digest(each(function, *columns(function, 100_000))) == DIGESTS[function.__name__]


@pytest.mark.parametrize(
    ("width", "cpu"),
    [
        pytest.param(1, BASIC, id="one double at a time, on the simplest CPU"),
        pytest.param(4, {}, id="four, on this CPU"),
        pytest.param(8, {}, id="eight, on this CPU"),
        pytest.param(8, WIDE, id="eight, with AVX-512", marks=LACKS_AVX512),
    ],
)
def test_the_same_at_every_width(width, cpu, tmp_path):
    """Every loop is compiled to vectors of the width asked for, and nothing is multiplied and added at once."""
    environment = {**os.environ, **cpu, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, str(SCRIPT), str(width)]
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert out.split("\n")[:-1] == [f"{name} {value} {width} 0" for name, value in DIGESTS.items()]


def test_loops_are_found_again_on_disk():
    """What a loop holds has one name in every process, and tells when the source of a row function has changed."""
    held = [cell.cell_contents for cell in _loop_of(ROW_FUNCTIONS[0], 1).py_func.__closure__]
    assert STAMP in held
    assert not any(isinstance(thing, Dispatcher) for thing in held)


@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -1.5, 5e-324, 1.7976931348623157e308, float("inf"), -float("inf")])
def test_bits_and_back(x):
    assert from_bits(bits(x)).hex() == x.hex()
    assert bits(x) == int.from_bytes(struct.pack(">d", x), "big", signed=True)
