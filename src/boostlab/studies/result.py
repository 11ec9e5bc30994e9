"""What a comparison found: one cell a fit, and their summary a booster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf, isnan, nan, sqrt
from statistics import fmean, stdev


@dataclass(frozen=True)
class Cell:
    """One fit and its test.

    Attributes
    ----------
    booster : str
        Name in the registry.
    noise : float
        Share of the training labels that were flipped.
    repeat, fold : int
        Which split, counted from 0.
    error : float
        Share of the test rows that were predicted wrongly; NaN if the booster failed.
    seconds : float
        Time of the fit alone.
    rounds : int
        Number of rounds kept.
    stop_reason : str
        Why training ended, as "code: detail".
    failure : str
        What went wrong; empty if nothing did.
    remarks : tuple of str
        The warnings the booster gave.
    """

    booster: str
    noise: float
    repeat: int
    fold: int
    error: float = nan
    seconds: float = nan
    rounds: int = 0
    stop_reason: str = ""
    failure: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summary:
    """One booster at one level of noise.

    Attributes
    ----------
    booster : str
        Name in the registry.
    noise : float
        Share of the training labels that were flipped.
    fits : int
        Number of cells so far, failed ones included.
    failed : int
        How many of them failed.
    error, seconds, rounds : float
        Means over the cells that did not fail; NaN if there are none.
    standard_error : float
        Standard deviation of the cells' errors over the square root of their number (repeats times folds).  It
        describes the scatter; as the splits share training rows it is, if anything, too small for a test.
    """

    booster: str
    noise: float
    fits: int
    failed: int
    error: float
    standard_error: float
    seconds: float
    rounds: float

    @classmethod
    def of(cls, booster: str, noise: float, cells: Iterable[Cell]) -> Summary:
        """Sum up the cells of one booster at one level of noise."""
        cells = list(cells)
        good = [c for c in cells if not c.failure]
        errors = [c.error for c in good]
        return cls(
            booster,
            noise,
            fits=len(cells),
            failed=len(cells) - len(good),
            error=_mean(errors),
            standard_error=stdev(errors) / sqrt(len(errors)) if len(errors) > 1 else nan,
            seconds=_mean([c.seconds for c in good]),
            rounds=_mean([float(c.rounds) for c in good]),
        )

    @property
    def whole(self) -> bool:
        """Whether it has a result that no failure has thinned out."""
        return self.fits > 0 and self.failed == 0

    @property
    def place(self) -> tuple[bool, float]:
        """What ranks it: boosters with failures last, then by error (to 12 digits, so that equal means tie)."""
        return not self.whole, inf if isnan(self.error) else round(self.error, 12)


@dataclass
class Comparison:
    """All that a comparison found, so far or in the end.

    Attributes
    ----------
    boosters : list of str
        Names in the registry, in the order asked for.
    noise : list of float
        The levels of label noise.
    folds, repeats : int
        The splits: `repeats` times a stratified division into `folds` parts.
    left_out : dict from str to str
        Boosters that cannot take these data, and why.
    cells : list of Cell
        In the order they were made: split by split, so that an early end leaves all boosters about equally tested.
    interrupted : bool
        Whether Ctrl-C ended it early.
    """

    boosters: list[str]
    noise: list[float]
    folds: int
    repeats: int
    left_out: dict[str, str] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    interrupted: bool = False

    @property
    def planned(self) -> int:
        """Number of cells when all is done."""
        return len(self.boosters) * len(self.noise) * self.folds * self.repeats

    def summary(self, booster: str, noise: float) -> Summary:
        """Return the summary of one booster at one level of noise."""
        return Summary.of(booster, noise, (c for c in self.cells if c.booster == booster and c.noise == noise))

    def ranking(self, noise: float | None = None) -> list[Summary]:
        """Return one summary a booster, the lowest error first and boosters that failed last.

        Parameters
        ----------
        noise : float, optional
            The level of noise; None is the last one.

        Returns
        -------
        list of Summary
        """
        level = self.noise[-1] if noise is None else noise
        return sorted((self.summary(b, level) for b in self.boosters), key=lambda s: s.place)

    def ranks(self, noise: float | None = None) -> dict[str, int]:
        """Return the boosters' ranks from 1, equal errors sharing one; boosters without a complete result have none.

        Parameters
        ----------
        noise : float, optional
            The level of noise; None is the last one.

        Returns
        -------
        dict from str to int
        """
        places = {s.booster: s.place for s in self.ranking(noise) if s.whole}
        return {b: 1 + sum(other < place for other in places.values()) for b, place in places.items()}

    def remarks(self, booster: str) -> list[str]:
        """Return what is to be said of a booster: failures and warnings, each once, with how many fits they befell."""
        cells = [c for c in self.cells if c.booster == booster]
        said = [f"failed: {c.failure}" for c in cells if c.failure] + [r for c in cells for r in c.remarks]
        return [f"{text} ({said.count(text)} of {len(cells)} fits)" for text in dict.fromkeys(said)]


def _mean(values: list[float]) -> float:
    return fmean(values) if values else nan
