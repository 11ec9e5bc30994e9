"""scikit-learn's checks of an estimator in one test: as tests of their own they would cost half as much again."""

from __future__ import annotations

from collections.abc import Callable, Set
from unittest import SkipTest

from sklearn.utils.estimator_checks import estimator_checks_generator


def check_all(
    estimator: object,
    without: Set[str] = frozenset(),
    excused: Callable[[str, Exception], bool] = lambda name, error: False,
) -> None:
    """Raise all failures together.

    Parameters
    ----------
    estimator : estimator
        It is copied.
    without : set of str
        The names of checks that are left out.
    excused : callable
        Whether a check of this name may fail so.
    """
    failed = []
    for copied, check in estimator_checks_generator(estimator):
        name = check.func.__name__
        if name not in without:
            try:
                check(copied)
            except SkipTest:  # scikit-learn says that it does not apply here
                continue
            except Exception as error:
                if not excused(name, error):
                    error.add_note(f"in {name}")
                    failed.append(error)
    if failed:
        raise ExceptionGroup(f"checks of {estimator}", failed)
