"""Row functions against mpmath, at infinities, zeros and NaN, and by what they promise of each other."""

from __future__ import annotations

import math
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.hostile import arguments, neighbours, uniform
from backend.references import errors
from boostlab import functions
from boostlab.backend.cpu.functions import each
from boostlab.functions import ROW_FUNCTIONS
from boostlab.functions.exponential import exp_parts, scaled

INF, NAN = math.inf, math.nan
FIT = Path(__file__).parents[2] / "benchmarks" / "fit_functions.py"

# Every function's bound in units of the last place, its domain, and intervals on which it is looked at closely.
ACCURACY = {
    "exp": (1.0, -INF, INF, [(-746, 710), (-2, 2), (-745.2, -708)]),
    "expm1": (1.0, -INF, INF, [(-40, 710), (-3, 3), (0.34, 0.42), (-1e-3, 1e-3)]),
    "log": (1.0, 5e-324, 1e308, [(0.3, 3), (0.99, 1.01), (5e-324, 1e-307), (0, 1e308)]),
    "log1p": (1.0, -0.9999999999999999, 1e308, [(-1, 3), (-0.3, 0.5), (-1e-3, 1e-3), (0, 1e20)]),
    "expit": (2.0, -INF, INF, [(-750, 40), (-5, 5)]),
    "softplus": (2.0, -INF, INF, [(-750, 800), (-5, 5)]),
    "log_expit": (2.0, -INF, INF, [(-750, 800), (-5, 5)]),
    "erf": (2.0, -INF, INF, [(-7, 7), (-1.5, 1.5), (0.7, 0.8)]),
    "erfc": (2.0, -INF, INF, [(-7, 28), (-1.5, 3), (0.5, 0.8), (26, 27.3)]),
    "erfcx": (2.0, -INF, INF, [(-27, 30), (-1.5, 3), (0.5, 0.8), (0, 1e5)]),
    "log_erfc": (2.0, -INF, INF, [(-7, 40), (-1.5, 3), (0.74, 0.8), (-0.5, 0.5), (0, 1e5)]),
    "erfinv": (2.0, -0.9999999999999999, 0.9999999999999999, [(-1, 1), (0.65, 0.75), (-1e-3, 1e-3), (0.9999, 1)]),
    "erfcinv": (2.0, 5e-324, 1.9999999999999998, [(0, 2), (0.25, 0.33), (0, 1e-3), (0.999, 1.001), (0, 1e-300)]),
}
SPECIAL = {
    "exp": {INF: INF, -INF: 0.0, 0.0: 1.0, 710.0: INF, -746.0: 0.0},
    "expm1": {INF: INF, -INF: -1.0, 0.0: 0.0, 5e-324: 5e-324, -5e-324: -5e-324, 710.0: INF, -50.0: -1.0},
    "log": {INF: INF, -INF: NAN, 0.0: -INF, 1.0: 0.0, -5e-324: NAN, 5e-324: -744.4400719213812},
    "log1p": {INF: INF, -INF: NAN, 0.0: 0.0, -1.0: -INF, -1.1: NAN, 5e-324: 5e-324, -5e-324: -5e-324},
    "expit": {INF: 1.0, -INF: 0.0, 0.0: 0.5, 40.0: 1.0},
    "softplus": {INF: INF, -INF: 0.0, 0.0: math.log(2.0), 1e300: 1e300},
    "log_expit": {INF: -0.0, -INF: -INF, 0.0: -math.log(2.0), -1e300: -1e300},
    "erf": {INF: 1.0, -INF: -1.0, 0.0: 0.0, 6.0: 1.0, -1e300: -1.0},
    "erfc": {INF: 0.0, -INF: 2.0, 0.0: 1.0, 1e300: 0.0, -6.0: 2.0, 28.0: 0.0},
    "erfcx": {INF: 0.0, -INF: INF, 0.0: 1.0, -27.0: INF},
    "log_erfc": {INF: -INF, -INF: math.log(2.0), 0.0: 0.0, 1e200: -INF, -1e300: math.log(2.0)},
    "erfinv": {1.0: INF, -1.0: -INF, 0.0: 0.0, 1.1: NAN, -1.1: NAN, INF: NAN, -INF: NAN},
    "erfcinv": {0.0: INF, 2.0: -INF, 1.0: 0.0, -0.1: NAN, 2.1: NAN, INF: NAN, -INF: NAN},
}
numbers = st.floats(allow_nan=False)


def value(name, x):
    return float(each(getattr(functions, name), np.array([x]))[0])


def same(x, y):
    """Return whether two arrays have the same bits, or both NaN."""
    return (np.isnan(x) & np.isnan(y)) | (x.view(np.int64) == y.view(np.int64))


def test_every_row_function_is_looked_at():
    names = {f.__name__ for f in ROW_FUNCTIONS}
    assert names == set(ACCURACY) == set(SPECIAL)
    assert names == set(functions.__all__) - {"ROW_FUNCTIONS"}


@pytest.mark.parametrize("name", ACCURACY)
def test_accuracy(name):
    bound, low, high, intervals = ACCURACY[name]
    x = np.concatenate([neighbours(), 2.0 ** uniform(-1074, 1023, 150), *(uniform(a, b, 150) for a, b in intervals)])
    x = np.concatenate([x, -x])
    x = x[np.isfinite(x) & (low <= x) & (x <= high)]
    found = np.array(errors(name, x, each(getattr(functions, name), x)))
    assert x.size > 300
    worst = found.argmax()
    assert found[worst] <= bound, f"{found[worst]:.3f} ulp at {x[worst]!r}"


@pytest.mark.parametrize("name", SPECIAL)
def test_infinities_zeros_and_nan(name):
    x = np.array([*SPECIAL[name], NAN])
    expected = np.array([*SPECIAL[name].values(), NAN])
    assert same(each(getattr(functions, name), x), expected).all()


@pytest.mark.parametrize("name", sorted(set(SPECIAL) - {"expm1", "log1p", "erf", "erfinv"}))
def test_zeros_are_one_number(name):
    assert value(name, -0.0) == value(name, 0.0)


@pytest.mark.parametrize("name", ["expm1", "log1p", "erf", "erfinv"])
def test_the_sign_of_zero_stays(name):
    assert math.copysign(1.0, value(name, -0.0)) == -1.0
    assert math.copysign(1.0, value(name, 0.0)) == 1.0


@pytest.mark.parametrize("function", ROW_FUNCTIONS, ids=lambda f: f.__name__)
def test_plain_python_gives_the_same_bits(function):
    """The source needs no compiler, and never raises."""
    given = [arguments(3000)]
    plain = np.array([function(*row) for row in zip(*(c.tolist() for c in given), strict=True)])
    assert same(plain, each(function, *given)).all()


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "erf", "erfc"])
def test_monotone_from_one_double_to_the_next(name):
    starts = np.concatenate([uniform(2.0**-k, 2.0 ** (1 - k), 60) for k in range(-10, 60)])
    x = (starts.view(np.int64)[:, None] + np.arange(40)).view(np.float64)
    x = x if name.startswith("log") else np.concatenate([x, -x[:, ::-1]])
    steps = np.diff(each(getattr(functions, name), x.ravel()).reshape(x.shape).clip(-1e308, 1e308), axis=1)
    assert (steps <= 0).all() if name == "erfc" else (steps >= 0).all()


def test_exp_is_made_of_its_parts():
    x = uniform(-745.0, 709.0, 2000)
    n, high, low = np.array([exp_parts(v, 0.0) for v in x.tolist()]).T
    parts = np.array([scaled(y, m) for y, m in zip((high + low).tolist(), n.tolist(), strict=True)])
    assert same(parts, each(functions.exp, x)).all()


@given(numbers)
def test_symmetry(x):
    assert value("erf", -x) == -value("erf", x)
    assert value("log_expit", x) == -value("softplus", -x)


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_log_undoes_exp_and_exp_undoes_log(x):
    back = value("exp", value("log", x))
    assert back == pytest.approx(x, rel=2.0**-52 * (1.0 + abs(math.log(x))))  # what rounding the logarithm costs


@given(st.floats(min_value=-5.0, max_value=5.0))
def test_the_inverses_undo_erf_and_erfc(y):
    lost = 2.0**-52 * (1.0 + math.exp(y * y) * math.sqrt(math.pi))  # what rounding erf costs
    assert value("erfinv", value("erf", y)) == pytest.approx(y, abs=lost)
    z = value("erfc", y)
    assert value("erfcinv", z) == pytest.approx(y, abs=lost * 2.0 if y < 0 else 2.0**-49)


@pytest.mark.parametrize("module", ["exponential", "logarithm", "error"])
def test_polynomials_are_those_of_the_fit(module):
    """No coefficient was changed by hand."""
    tool = runpy.run_path(str(FIT))
    text = (tool["FOLDER"] / f"{module}.py").read_text(encoding="utf-8")
    assert "# fit: " in text
    assert tool["refitted"](text) == text


def test_the_source_imports_neither_compiler_nor_library():
    code = "import sys, boostlab.functions; print({'numba', 'numpy', 'scipy', 'mpmath'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
