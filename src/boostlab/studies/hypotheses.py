"""Hypotheses that a study registers before it runs, and what its errors say of them.

One hypothesis is one sentence about two methods over data sets.  It is judged by the size of the difference and its
interval, by Wilcoxon's test with Holm's correction over all hypotheses of the study, and by the Bayesian signed-rank
test with a region of practical equivalence; families of related data sets are tested as one set each beside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from boostlab.studies.statistics import (
    Posterior,
    Shift,
    bayesian_signed_rank,
    hodges_lehmann,
    holm,
    sign_test,
    wilcoxon,
)
from boostlab.studies.study import Claim, Results
from boostlab.studies.tables import mean_and_error

Array = npt.NDArray[Any]

LEVEL = 0.05
RESAMPLES, DRAWS = 2000, 5000  # behind an interval, and behind a posterior
FEWEST = 6  # data sets, below which no test over data sets can be significant

_SHORT = ("hypothesis", "method", "against", "where", "sets", "difference, points", "95 % from", "to", "Wilcoxon p")

Expected = Literal["lower", "higher", "not lower"]


@dataclass(frozen=True)
class Hypothesis:
    """What is expected of one method against another.

    Parameters
    ----------
    name : str
        A short name: "H1".
    text : str
        The sentence.
    block : str
        Where both methods are.
    method, opponent : str
        Whose errors are compared.
    expected : {"lower", "higher", "not lower"}
        Of the method's errors, against the opponent's.
    pilot : float, optional
        The difference in percent points that suggested it: where the interval excludes it, the pilot is refuted.
    primary : bool
        Whether it is one of those that Holm's correction counts; others explore.
    """

    name: str
    text: str
    block: str
    method: str
    opponent: str
    expected: Expected
    pilot: float | None = None
    primary: bool = True


@dataclass(frozen=True)
class Judged:
    """A hypothesis and what the errors say; differences are method less opponent, in percent points."""

    hypothesis: Hypothesis
    sets: int
    shift: Shift  # the typical difference
    mean: float
    lower: int
    higher: int
    p: float
    p_holm: float
    p_families: float
    posterior: Posterior
    verdict: str
    errors: tuple[Array, Array]  # of the method and of its opponent on every set, in percent

    def posterior_at(self, rope: float) -> Posterior:
        """Return the posterior with another region of practical equivalence."""
        return bayesian_signed_rank(*self.errors, rope=rope, n_samples=DRAWS)

    def row(self) -> dict[str, Any]:
        """Return a row of the table of hypotheses."""
        h, shift = self.hypothesis, self.shift
        return {
            "hypothesis": h.name,
            "method": h.method,
            "against": h.opponent,
            "where": h.block,
            "expected": h.expected,
            "sets": self.sets,
            "difference, points": round(shift.estimate, 3),
            "95 % from": round(shift.low, 3),
            "to": round(shift.high, 3),
            "mean difference": round(self.mean, 3),
            "lower on": self.lower,
            "higher on": self.higher,
            "Wilcoxon p": float(f"{self.p:.2g}"),
            "Holm p": float(f"{self.p_holm:.2g}") if h.primary else None,
            "p over families": float(f"{self.p_families:.2g}"),
            "P(lower)": round(self.posterior.better, 3),
            "P(equal)": round(self.posterior.equal, 3),
            "P(higher)": round(self.posterior.worse, 3),
            "verdict": self.verdict,
        }

    def short_row(self, difference: str = "difference, points", asked: str = "hypothesis") -> dict[str, Any]:
        """Return a row without verdict, where another number is compared or nothing was registered."""
        shown = {"hypothesis": asked, "difference, points": difference}
        row = self.row()
        return {shown.get(name, name): row[name] for name in _SHORT}

    def equivalence_row(self, rope: float) -> dict[str, Any]:
        """Return a row of the posterior with another region of practical equivalence."""
        p = self.posterior_at(rope)
        shares = {"P(lower)": p.better, "P(equal)": p.equal, "P(higher)": p.worse}
        return {"hypothesis": self.hypothesis.name} | {name: round(share, 3) for name, share in shares.items()}

    def claim(self) -> Claim:
        """Return it as a claim of the study's page."""
        h, shift = self.hypothesis, self.shift
        said = f"{shift.estimate:+.2f} points (95 % {shift.low:+.2f} to {shift.high:+.2f}), lower on {self.lower} and "
        said += f"higher on {self.higher} of {self.sets} sets; Wilcoxon p = {self.p:.2g}"
        said += f", Holm {self.p_holm:.2g}" if h.primary else ", not corrected"
        said += f", over families {self.p_families:.2g}. P(lower, equal, higher) = {self.posterior.better:.2f}, "
        said += f"{self.posterior.equal:.2f}, {self.posterior.worse:.2f}."
        if h.pilot is not None:
            said += f" The pilot had {h.pilot:+.2f}."
        return Claim(f"{h.name}{'' if h.primary else ' (exploring)'}: {h.text}", self.verdict, said, self.sets)


def means_over_repeats(
    results: Results, block: str, value: str = "test_error", only: Sequence[str] | None = None
) -> tuple[list[str], dict[str, Array]]:
    """Return the data sets of a block, and every method's mean of a number on each; of all methods, or some.

    Only repeats count that every one of these has, so that a run that is not finished compares like with like.
    """
    problems, methods, values = results.matrix(block, value)
    if only is not None:
        columns = [j for j, name in enumerate(methods) if name in only]
        methods, values = [methods[j] for j in columns], values[:, columns]
    whole: list[Array] = [np.flatnonzero(~np.isnan(one).any(axis=0)) for one in values]
    kept = [i for i, repeats in enumerate(whole) if len(repeats)]
    means = {m: np.array([values[i, j][whole[i]].mean() for i in kept]) for j, m in enumerate(methods)}
    return [problems[i] for i in kept], means


def judge(
    results: Results,
    hypotheses: Sequence[Hypothesis],
    families: Mapping[str, str],
    rope: float,
    value: str = "test_error",
) -> list[Judged]:
    """Judge hypotheses by the errors of a study.

    Parameters
    ----------
    results : Results
        The finished cells.
    hypotheses : sequence of Hypothesis
        All of the study: Holm's correction is over the primary ones.
    families : mapping from str to str
        Which data sets are related; one that is not named is its own family.
    rope : float
        Differences in percent points below this are practically none.
    value : str, default="test_error"
        Which number of the cells; shares are shown in percent.

    Returns
    -------
    list of Judged
        Without hypotheses of which there are fewer than six data sets.
    """
    found = []
    for h in hypotheses:
        problems, means = means_over_repeats(results, h.block, value, (h.method, h.opponent))
        if len(problems) >= FEWEST and {h.method, h.opponent} <= means.keys():
            found.append((h, problems, 100 * means[h.method], 100 * means[h.opponent]))
    p = [wilcoxon(a, b).p for _, _, a, b in found]
    primary = [i for i, (h, *_) in enumerate(found) if h.primary]
    corrected = dict(zip(primary, holm([p[i] for i in primary]) if primary else [], strict=True))
    out = []
    for i, (h, problems, a, b) in enumerate(found):
        shift, signs = hodges_lehmann(a, b, n_resamples=RESAMPLES), sign_test(a, b)
        posterior = bayesian_signed_rank(a, b, rope=rope, n_samples=DRAWS)
        p_holm = float(corrected.get(i, p[i]))
        out.append(
            Judged(
                *(h, len(problems), shift, float(np.mean(a - b)), signs.wins, signs.losses),
                *(p[i], p_holm, _over_families(problems, a - b, families)),
                *(posterior, _verdict(h, shift, p[i], p_holm, rope), (a, b)),
            )
        )
    return out


def in_short(judged: Sequence[Judged]) -> list[str]:
    """Return what became of the registered hypotheses, a line a verdict, in words that can be quoted."""
    primary = [one for one in judged if one.hypothesis.primary]
    lines = []
    for verdict, said in _SAID.items():
        mine = [one for one in primary if one.verdict == verdict]
        if mine:
            listed = "; ".join(f"{one.hypothesis.name}: {_found(one)}" for one in mine)
            lines.append(f"**{said}** ({len(mine)} of {len(primary)} registered hypotheses): {listed}.")
    return lines


_SAID = {
    "holds": "Holds",
    "partly": "Holds only before the correction for their number",
    "does not hold": "Does not hold",
    "cannot be judged": "Cannot be judged",
}


def _found(one: Judged) -> str:
    """Return who errs less and by how much; of what cannot be judged, only the pair."""
    h, shift = one.hypothesis, one.shift
    method, opponent = (f'"{name}"' if ", " in name else name for name in (h.method, h.opponent))
    size = f"{shift.estimate:+.2f} points ({shift.low:+.2f} to {shift.high:+.2f})"
    if one.verdict == "cannot be judged":
        return f"{method} against {opponent} ({h.block})"
    if one.verdict == "holds" and h.expected == "not lower":
        return f"{method} errs no less than {opponent} ({h.block}): {size}"
    expected = {"lower": "less", "higher": "more", "not lower": "no less"}[h.expected]
    surprise = f", expected {expected}" if one.verdict == "does not hold" else ""
    if shift.low * shift.high <= 0:
        return f"{method} against {opponent} ({h.block}): {size}{surprise}"
    low, high = sorted((abs(shift.low), abs(shift.high)))
    size = f"{abs(shift.estimate):.2f} points ({low:.2f} to {high:.2f})"
    way = "more" if shift.estimate > 0 else "less"
    return f"{method} errs {way} than {opponent} ({h.block}) by {size}{surprise}"


def _over_families(problems: Sequence[str], d: Array, families: Mapping[str, str]) -> float:
    """Return Wilcoxon's p over the mean differences of families of data sets."""
    groups: dict[str, list[float]] = {}
    for problem, value in zip(problems, d, strict=True):
        groups.setdefault(families.get(problem, problem), []).append(float(value))
    means = [mean_and_error(values)[0] for values in groups.values()]
    return wilcoxon(means, np.zeros(len(means))).p


def _verdict(h: Hypothesis, shift: Shift, p: float, p_holm: float, rope: float) -> str:
    """Return a verdict; a difference counts in the direction of h."""
    if h.expected == "not lower":
        if p_holm < LEVEL and shift.estimate < 0:
            return "does not hold"
        return "holds" if shift.low >= -rope else "cannot be judged"
    sign = -1.0 if h.expected == "lower" else 1.0
    estimate, far = sign * shift.estimate, max(sign * shift.low, sign * shift.high)
    if estimate > 0 and p_holm < LEVEL:
        return "holds"
    if estimate > 0 and p < LEVEL:
        return "partly"
    refuted = far < sign * h.pilot if h.pilot is not None else far <= rope
    return "does not hold" if refuted or (estimate < 0 and p < LEVEL) else "cannot be judged"
