"""A certificate: promises about a vote, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from boostlab.theory.bound import Bound
from boostlab.theory.complexity import Complexity
from boostlab.theory.concentration import Interval
from boostlab.theory.margins import MarginStatistics


@dataclass(frozen=True)
class Promise:
    """One line of a certificate.

    Attributes
    ----------
    name : str
        The theorem.
    about : str
        What it bounds.
    observed : float
        That quantity on this sample (for errors on new rows: the training error).
    bound : Bound
        The bound.

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(200, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    >>> promise = model.certificate(X, y).promises[0]
    >>> promise.observed <= promise.bound.value
    True
    """

    name: str
    about: str
    observed: float
    bound: Bound


@dataclass(frozen=True, repr=False)
class Certificate:
    """What can be promised about a vote on a sample; printed, or shown in a notebook, it is a table.

    Attributes
    ----------
    booster : str
        Name of the model's class.
    n : int
        Number of rows.
    delta : float
        Probability with which a single bound on new rows, or the interval, may fail (each by itself).
    training_error : float
        Share of the rows whose margin is not positive (a tie counts as an error).
    margins : MarginStatistics
        Of the normalised margins.
    promises : tuple of Promise
        All bounds that apply.
    complexity : Complexity or None
        The Rademacher complexity that some of them use.
    held_out : tuple of Interval
        For the error on held-out rows: empirical Bernstein, and the exact binomial one.
    left_out : tuple of str
        What does not apply, and why.
    """

    booster: str
    n: int
    delta: float
    training_error: float
    margins: MarginStatistics
    promises: tuple[Promise, ...]
    complexity: Complexity | None = None
    held_out: tuple[Interval, ...] = ()
    left_out: tuple[str, ...] = field(default=())

    def __getitem__(self, name: str) -> Bound:
        """Return the bound of that name."""
        for promise in self.promises:
            if promise.name == name:
                return promise.bound
        raise KeyError(f"{name!r} is not on this certificate, which has {', '.join(p.name for p in self.promises)}.")

    def rows(self) -> list[dict[str, Any]]:
        """Return the promises as records with the keys theorem, about, observed, bound, vacuous, holds and terms."""
        return [
            {
                "theorem": p.name,
                "about": p.about,
                "observed": p.observed,
                "bound": p.bound.value,
                "vacuous": p.bound.vacuous,
                "holds": p.bound.holds,
                "terms": dict(p.bound.terms),
            }
            for p in self.promises
        ]

    def __repr__(self) -> str:
        return "\n".join(_lines(self))


def _lines(found: Certificate) -> Iterator[str]:
    m = found.margins
    yield f"{found.booster} on {found.n} training rows"
    yield f"(every single bound on new rows fails with a probability of at most {found.delta:g})"
    yield ""
    yield f"training error  {found.training_error:.4f}"
    yield f"margins         mean {m.mean:.4f}  sd {m.sd:.4f}  minimum {m.minimum:.4f}  skewness {m.skewness:.2f}"
    yield "  quantiles     " + "  ".join(f"{100 * q:g} %: {v:.4f}" for q, v in m.quantiles.items())
    if found.complexity is not None:
        R = found.complexity
        yield f"complexity      {R.value:.4f} (Rademacher, {R.draws} draws, standard error {R.standard_error:.4f})"
    for interval in found.held_out:
        ends = f"between {interval.lower:.4f} and {interval.upper:.4f} ({interval.method})"
        yield f"held-out error  {interval.mean:.4f}, {ends}"
    for about in dict.fromkeys(p.about for p in found.promises):
        lines = [p for p in found.promises if p.about == about]
        yield ""
        yield f"{about} (on these rows {lines[0].observed:.4f})"
        width = max(len(p.name) for p in lines)
        for p in lines:
            yield f"  {p.name:{width}}  {_value(p.bound)}"
    if found.left_out:
        yield ""
        yield "not said"
        yield from (f"  {line}" for line in found.left_out)


def _value(found: Bound) -> str:
    if not found.holds:
        broken = " and ".join(name for name, seen in found.assumptions.items() if not seen)
        return f"does not apply: not {broken}"
    terms = ", ".join(f"{name} {value:.4g}" for name, value in found.terms.items())
    remark = "  [says nothing]" if found.vacuous else "  [constants not checked]" if found.constants_unverified else ""
    return f"<= {found.value:.4g}{remark}  ({terms})"
