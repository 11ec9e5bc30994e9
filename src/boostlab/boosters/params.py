"""Parameters that know what they may be, so that one check serves every estimator."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import Field, dataclass, field, fields
from numbers import Integral, Real
from typing import Any


@dataclass(frozen=True)
class Check:
    """A test and the words for what passes it."""

    test: Callable[[Any], bool]
    says: str

    def __or__(self, other: Check) -> Check:
        return Check(lambda v: self.test(v) or other.test(v), f"{self.says} or {other.says}")


def number(low: float, high: float = float("inf"), brackets: str = "[]") -> Check:
    """Return a check for a real number between two limits, each included or not as in "[)"."""

    def test(v: Any) -> bool:
        if not isinstance(v, Real) or isinstance(v, bool):
            return False
        x = float(v)
        above = x > low or (x == low and brackets[0] == "[")
        return above and (x < high or (x == high and brackets[1] == "]"))

    if high == float("inf"):
        return Check(test, f"a number {'of at least' if brackets[0] == '[' else 'above'} {low:g}")
    return Check(test, f"a number in {brackets[0]}{low:g}, {high:g}{brackets[1]}")


def whole(low: int, high: int | None = None) -> Check:
    """Return a check for an integer between two limits, both included."""

    def test(v: Any) -> bool:
        return (
            isinstance(v, Integral) and not isinstance(v, bool) and low <= int(v) and (high is None or int(v) <= high)
        )

    return Check(test, f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}")


def one_of(*values: Any) -> Check:
    """Return a check for one of a few values."""
    return Check(
        lambda v: any(v is w or (type(v) is type(w) and v == w) for w in values),
        " or ".join(map(repr, values)),
    )


def flag() -> Check:
    """Return a check for True or False."""
    return Check(lambda v: isinstance(v, bool) or type(v).__name__ == "bool_", "True or False")


def param(default: Any, check: Check | None = None) -> Any:
    """Return a dataclass field with a default and a check."""
    return field(default=default, metadata={"check": check})


def check_params(estimator: Any) -> None:
    """Raise one sentence for the first parameter that is not what it may be."""
    declared: tuple[Field[Any], ...] = fields(estimator)
    for f in declared:
        check = f.metadata.get("check")
        value = getattr(estimator, f.name)
        if check is not None and not check.test(value):
            raise ValueError(
                f"{type(estimator).__name__}: {f.name}={value!r} is not possible; it must be {check.says}."
            )


def scorer(measures: Container[str], says: str) -> Check:
    """Allow a measure of ours by name, a scikit-learn scorer, or its name."""

    def test(v: Any) -> bool:
        if not isinstance(v, str) or v in measures:
            return callable(v) or isinstance(v, str)
        from sklearn.metrics import get_scorer_names  # slow to import

        return v in get_scorer_names()

    return Check(test, f"{says}, or a scikit-learn scorer or its name")
