"""Nanoseconds a value of the row functions beside NumPy's and SciPy's, on one thread, in turns.

python benchmarks/row_functions.py
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np
import scipy.special as special

from boostlab.backend.cpu.functions import each
from boostlab.functions import ROW_FUNCTIONS

ROWS, TURNS = 20_000, 100  # columns that stay in the second cache

PEERS: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "expit": special.expit,
    "log_expit": special.log_expit,
    "softplus": lambda x: np.logaddexp(0.0, x),
    "logaddexp": np.logaddexp,
    "erf": special.erf,
    "erfc": special.erfc,
    "erfcx": special.erfcx,
    "log_erfc": lambda x: special.log_ndtr(-(2**0.5) * x),
    "erfinv": special.erfinv,
    "erfcinv": special.erfcinv,
}


def arguments(name: str) -> list[Any]:
    """Return columns of a size that rules meet."""
    rng = np.random.default_rng(0)
    x = rng.normal(scale=3.0, size=ROWS)
    if name in ("log", "log1p"):
        return [np.exp(x)]
    if name in ("erfinv", "erfcinv"):
        return [rng.uniform(-1.0, 1.0, ROWS) if name == "erfinv" else rng.uniform(0.0, 2.0, ROWS)]
    return [x, -x] if name == "logaddexp" else [x]


def main() -> None:
    """Print a table."""
    each(ROW_FUNCTIONS[0], np.zeros(1))  # the compiler's own start
    print(f"{'function':12}{'ours, ns':>10}{'peer, ns':>10}{'first call, CPU s':>20}")
    for function in ROW_FUNCTIONS:
        name = function.__name__
        given, best = arguments(name), [np.inf, np.inf]
        calls: list[Callable[..., Any]] = [partial(each, function), PEERS[name]]
        start = process_time()
        each(function, *given)
        first = process_time() - start
        for _ in range(TURNS):
            for k, call in enumerate(calls):
                start = perf_counter()
                call(*given)
                best[k] = min(best[k], perf_counter() - start)
        ours, peer = (seconds / ROWS * 1e9 for seconds in best)
        print(f"{name:12}{ours:10.2f}{peer:10.2f}{first:20.2f}")


if __name__ == "__main__":
    main()
