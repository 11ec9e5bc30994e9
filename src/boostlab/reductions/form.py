"""A form of reduction: a code, and how the answers to its binary problems become one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.ensemble.vote import settle
from boostlab.reductions import decoding
from boostlab.reductions.codes import make_code
from boostlab.reductions.coupling import coupled

Array = npt.NDArray[Any]

LEAST = 2.0**-53  # share of a side: beside it the other one is still below 1, so that log odds are finite

# How scores of classes are made, of binary scores or of binary probabilities.
BY_SCORES: dict[str, Callable[..., Array]] = {
    "strongest": decoding.strongest,
    "vote": decoding.voted,
    "dag": decoding.dag,
    "hamming": decoding.hamming,
    "loss": decoding.loss_based,
}
BY_PROBABILITIES: dict[str, Callable[..., Array]] = {
    "coupling": coupled,
    "least_squares": decoding.least_squares,
}


@dataclass(frozen=True, eq=False)
class ReductionForm:
    """A code and a decoder, and what the binary problems were made of.

    Parameters
    ----------
    code : int8 array of shape (n_classes, n_problems)
        See `codes`.
    decoder : str
        A name in `BY_SCORES` or `BY_PROBABILITIES`.
    sizes, shares : arrays of shape (n_problems,)
        The mass of every problem's examples, and the share of the side +1.
    order : sequence of int, optional
        Of classes, for "dag".
    """

    code: Array
    decoder: str
    sizes: Array
    shares: Array
    order: Sequence[int] | None = None

    @classmethod
    def of(cls, code: Array, decoder: str, masses: Array, order: Sequence[int] | None = None) -> ReductionForm:
        """Return a form for classes of these masses."""
        high, low = (masses @ (code == sign) for sign in (1, -1))
        return cls(code, decoder, high + low, np.clip(high / (high + low), LEAST, 1 - LEAST), order)

    @property
    def n_problems(self) -> int:
        """Number of binary problems."""
        return int(self.code.shape[1])

    @property
    def by_probabilities(self) -> bool:
        """Whether classes are told apart by probabilities rather than by scores."""
        return self.decoder in BY_PROBABILITIES

    def priors(self) -> Array:
        """Return what a problem says whose vote is silent: half the log odds of its two sides."""
        return np.log(self.shares / (1 - self.shares)) / 2

    def scores(self, F: Array | None, R: Array | None) -> Array:
        """Return one score a class; of binary scores or of binary probabilities, whichever the decoder asks for."""
        if self.by_probabilities:
            return BY_PROBABILITIES[self.decoder](self.code, R, self.sizes)
        assert F is not None
        more = (self.order,) if self.decoder == "dag" else ()
        D = BY_SCORES[self.decoder](self.code, F, *more)
        return settle(D, max(1.0, float(np.abs(D).max(initial=0.0))))

    def probabilities(self, F: Array | None, R: Array) -> Array:
        """Return class probabilities, whose largest is that of the largest score."""
        scores = self.scores(F, R)
        if self.by_probabilities:
            return scores
        link = decoding.normalised if self.decoder == "strongest" else coupled
        return decoding.agreeing(link(self.code, R, self.sizes), scores.argmax(axis=1))


# The parameter `multiclass` of boosters: which code, and which decoder.
FORMS = {"ovr": ("ovr", "strongest"), "ovo": ("ovo", "vote"), "ecoc": ("auto", "loss")}


def form_of(name: str, masses: Array, rng: np.random.Generator) -> ReductionForm:
    """Return a booster's form of reduction by its name.

    Parameters
    ----------
    name : {"ovr", "ovo", "ecoc"}
        One class against the rest, all pairs, or an error-correcting code.
    masses : array of shape (n_classes,)
        The mass of every class.
    rng : numpy Generator
        For codes that draw.
    """
    code, decoder = FORMS[name]
    return ReductionForm.of(make_code(code, len(masses), None, rng), decoder, masses)
