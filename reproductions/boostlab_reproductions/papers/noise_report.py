"""What the noise study makes of its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.hypotheses import Hypothesis, in_short, judge
from boostlab.studies.statistics import (
    bayesian_signed_rank,
    detectable,
    friedman,
    hodges_lehmann,
    most_lost,
    nemenyi,
    wilcoxon,
)
from boostlab.studies.study import Claim, Report, Results
from boostlab.studies.tables import Spread, error_table, mean_and_error
from boostlab_reproductions.papers.noise_figures import add_figures, ranks_of
from boostlab_reproductions.papers.noise_settings import (
    CONTROL,
    CONVEX,
    GIVES_UP,
    JITTER,
    PLAIN,
    NoiseSetting,
    against_control,
    friedman_of,
    pooled,
    settings_of,
)

Array = npt.NDArray[Any]
USUAL_ROPE = 1.0  # percent points: what the field calls practically equal
AHEAD = "better than the control (Holm, 5 %)"


def report(results: Results, hypotheses: Sequence[Hypothesis] = ()) -> Report:
    """Make tables, figures and verdicts, of as many cells as there are."""
    judged = judge(results, hypotheses, {}, ROPE)
    found = settings_of(results)
    sets = [s for s in found if s.where in ("stumps", "trees")]
    special = [s for s in found if s.where == "Long-Servedio"]
    out = Report()
    if judged:
        out.tables["Registered hypotheses"] = [one.row() for one in judged]
        out.tables["Practical equivalence"] = [one.equivalence_row(USUAL_ROPE) for one in judged]
        out.captions = {"Registered hypotheses": _CAPTION, "Practical equivalence": _USUAL}
    for value, name in (("log_loss", "log loss"), ("calibration_error", "calibration error")):
        if again := judge(results, hypotheses, {}, ROPE, value):
            out.tables[f"Registered hypotheses by {name}"] = [one.short_row("difference, × 100") for one in again]
            out.captions[f"Registered hypotheses by {name}"] = f"The same pairs by {name}, times 100; no verdicts."
    for learner in ("stumps", "trees"):
        rows = _overall([s for s in sets if s.where == learner and s.kind == "uniform"], results)
        if rows:
            out.tables[f"Overall, {learner}, uniform noise"] = rows
    if sets:
        out.tables["Mean errors in percent"] = _across(sets, lambda s: dict(_mean_errors(s)))
        out.tables["Average ranks"] = _across(sets, lambda s: dict(ranks_of(s)))
        out.tables["Friedman's test, and Wilcoxon's against the control"] = [_tested(s) for s in sets if friedman_of(s)]
    if special:
        out.tables["Long and Servedio's construction, errors in percent"] = _across(
            special, lambda s: dict(_spreads(s))
        )
    for s in sets:
        if s.percent == 20 and s.kind == "uniform":
            out.tables[f"By data set, {s.name}"] = error_table(results, s.block)
    if sets:
        out.tables["Log loss, calibration, rounds and ties"] = [row for s in sets for row in _beside(results, s)]
    out.claims = [*(one.claim() for one in judged), *_claims(sets), *_special_claims(special)]
    tested = out.tables.get("Friedman's test, and Wilcoxon's against the control", [])
    out.headline = [*in_short(judged), *_ahead(tested)] if judged else []
    add_figures(out, sets, special)
    out.captions |= {name: _LINES for name in out.figures if name in _DRAWN} | {"Average ranks by setting": _RANKS}
    out.notes = [
        "Average ranks are over the sets, 1 is best, among the methods with a result on all sets. Bold errors by data "
        "set are the smallest and those not significantly larger (paired t-test, 1 %, which is liberal).",
        "What is chosen by 250 noisy rows is itself noisy: methods with one candidate do not pay for choosing, those "
        "with six do, all alike; AdaBoost, best of 6, chooses among six runs that differ by chance only.",
        "The settings are tested one by one: Holm's correction is over the boosters of a setting, not over settings. "
        "docs/noise_table.md asks something else: what all boosters do at their defaults, untuned, on five sets.",
        *_power(sets),
        *_cut_off(results, sets),
    ]
    return out


def _ahead(tested: list[dict[str, Any]]) -> list[str]:
    """Return who is significantly better than the control, and where none is."""
    ahead = [f"{better} ({row['setting']})" for row in tested if (better := row[AHEAD])]
    others = len(tested) - len(ahead)
    return [
        f"Boosters that err significantly less than AdaBoost with a chosen learning rate, after Holm's correction over "
        f"the boosters of a setting: {'; '.join(ahead) or 'none'}. In {others} of {len(tested)} settings nobody does, "
        "and only large differences could be seen: see Power under Notes.",
        "The 12 sets are those of a first study, whose results were known: this corrects it and confirms nothing. "
        "Differences are in percent points of test error, typical ones over the sets, with 95 percent intervals; "
        "below 0 the first errs less.",
    ]


def _power(sets: list[NoiseSetting]) -> list[str]:
    """Return what the tests could see at all."""
    noisy = [s for s in sets if s.where == "stumps" and s.kind == "uniform" and s.percent]
    methods, errors = pooled(noisy)
    if CONTROL not in methods or len(errors) < 2:
        return []
    n, tests = len(errors), len(methods) - 1
    control = errors[:, methods.index(CONTROL)]
    spread = float(np.median([np.std(e - control, ddof=1) for e in errors.T if (e != control).any()] or [0.0]))
    lost = most_lost(n, tests)
    needs = (
        f"with a smallest rank sum of {lost} for the sets that it loses (of {n * (n + 1) // 2})"
        if lost >= 0
        else "which no result could give"
    )
    return [
        f"**Power.** With {n} sets and {tests} tests against the control, a booster is significantly better after "
        f"Holm's correction only {needs}. At the spread of the differences that we see ({100 * spread:.2f} points over "
        f"the sets, the median of the boosters) a mean difference of {100 * detectable(n, tests, spread):.2f} points "
        'would be found in 80 % of such studies. So "none is significantly better" was nearly fixed in advance for '
        "smaller differences: it does not say that there are none, and the intervals say how large they may be."
    ]


def _cut_off(results: Results, sets: list[NoiseSetting]) -> list[str]:
    """Return which boosters that answer by their last round were ended by the limit on rounds."""
    shares = {}
    for m in CUT:
        stops = [
            o.outcome.numbers.get("stop") == "max_rounds"
            for s in sets
            if s.percent
            for o in results.rows(s.block)
            if o.method == m and o.outcome
        ]
        if stops and np.mean(stops) >= 0.05:
            shares[m] = float(np.mean(stops))
    if not shares:
        return []
    listed = ", ".join(f"{m} {share:.0%}" for m, share in shares.items())
    return [
        f"**Limits that bind.** These answer by their last round, and the limit on rounds ended so many of their "
        f"chosen trainings under noise: {listed}. Their errors are those of trainings that were cut off; with more "
        "rounds they may be lower. Boost by majority, RLP- and RQP-Boost are made for a number of rounds given in "
        "advance. Of all others any round may be chosen; the table shows how many choices lie in the last tenth."
    ]


def _beside(results: Results, s: NoiseSetting) -> list[dict[str, Any]]:
    rows = []
    for m in s.methods:
        done = [o for o in results.rows(s.block) if o.method == m and o.outcome]
        means = {name: float(np.mean([o.number(name) for o in done])) for name in _BESIDE} if done else {}
        if means:
            cut = np.mean([o.outcome is not None and o.outcome.numbers.get("stop") == "max_rounds" for o in done])
            rows.append(
                {"setting": s.name, "booster": m}
                | {shown: round(scale * means[name], 3) for name, (shown, scale) in _BESIDE.items()}
                | {"ended by the limit on rounds, %": round(100 * float(cut), 1)}
            )
    return rows


_BESIDE = {
    "log_loss": ("log loss", 1.0),
    "calibration_error": ("calibration error, %", 100.0),
    "rounds": ("rounds", 1.0),
    "near_cap": ("chosen in the last tenth of the rounds, %", 100.0),
    "tied": ("decided by a tie, %", 100.0),
}


def _across(settings: list[NoiseSetting], column: Any) -> list[dict[str, Any]]:
    """Return a row a method, a column a setting."""
    columns = {s.name: column(s) for s in settings}
    methods = dict.fromkeys(m for s in settings for m in s.methods)
    return [{"booster": m, **{name: values.get(m) for name, values in columns.items()}} for m in methods]


def _mean_errors(s: NoiseSetting) -> Any:
    methods, errors = s.whole()
    means = 100 * errors.mean(axis=0)
    best = means.min(initial=np.inf)
    return ((m, Spread(float(v), bold=bool(v == best))) for m, v in zip(methods, means, strict=True))


def _spreads(s: NoiseSetting) -> Any:
    return ((m, Spread(*mean_and_error(100 * s.repeats[0, j]))) for j, m in enumerate(s.methods))


def _tested(s: NoiseSetting) -> dict[str, Any]:
    test = friedman_of(s)
    assert test is not None
    methods, errors = s.whole()
    against = against_control(methods, errors)
    ahead = [m for m, (wins, losses, _, p) in against.items() if p < 0.05 and wins > losses]
    behind = [m for m, (wins, losses, _, p) in against.items() if p < 0.05 and wins < losses]
    return {
        "setting": s.name,
        "sets": test.n,
        "boosters": test.k,
        "chi²": round(test.chi2, 1),
        "p": float(f"{test.p:.2g}"),
        "F": round(test.F, 2),
        "p of F": float(f"{test.p_F:.2g}"),
        "critical difference of ranks (5 %)": round(nemenyi(test.n, test.k), 1),
        "best rank": methods[int(np.argmin(test.ranks))],
        AHEAD: ", ".join(ahead),
        "worse": ", ".join(behind),
    }


def _overall(settings: list[NoiseSetting], results: Results) -> list[dict[str, Any]]:
    """Return a row a method: clean, noisy, and how it compares with the control over the noisy levels."""
    noisy, clean = [s for s in settings if s.percent], [s for s in settings if not s.percent]
    methods, errors = pooled(noisy)
    if len(methods) < 2 or len(errors) < 2:
        return []
    against, test = against_control(methods, errors), friedman(errors)
    calm = {m: s.of(m) for s in clean for m in s.methods}
    rows = []
    for j in np.argsort(test.ranks, kind="stable"):
        m = methods[j]
        wins, losses, p, corrected = against.get(m, (0, 0, float("nan"), float("nan")))
        done = [o for s in noisy for o in results.rows(s.block) if o.method == m and o.outcome]
        other = [] if m == CONTROL else _difference(errors[:, j], errors[:, methods.index(CONTROL)])
        rows.append(
            {
                "booster": m,
                **({"clean, %": round(100 * float(np.mean(calm[m])), 1) if m in calm else None} if calm else {}),
                f"{_levels(noisy)}, %": round(100 * float(errors[:, j].mean()), 1),
                "average rank": round(float(test.ranks[j]), 1),
                **dict(zip(_DIFFERENCE, other or [None] * len(_DIFFERENCE), strict=True)),
                "better than the control": None if m == CONTROL else wins,
                "worse": None if m == CONTROL else losses,
                "Wilcoxon p": None if m == CONTROL else float(f"{p:.2g}"),
                "Holm p": None if m == CONTROL else float(f"{corrected:.2g}"),
                "noise learnt, %": round(100 * mean_and_error([o.number("learnt_noise") for o in done])[0], 1),
                "rounds": round(mean_and_error([o.number("rounds") for o in done])[0], 0),
                "seconds a cell": round(mean_and_error([o.seconds for o in done])[0], 2),
            }
        )
    return rows


_USUAL = f"The same test with the field's usual region, {USUAL_ROPE:g} point."
_CAPTION = (
    "Differences are method less opponent in percent points: the typical one (Hodges and Lehmann) with its bootstrap "
    "interval over the sets, and the mean. Holm's correction is over these six. P is the Bayesian signed-rank test's, "
    "differences below 0.1 points being equal."
)
_DRAWN = ("Error against noise, stumps", "Error against noise, trees", "Long and Servedio's construction")
_LINES = (
    "Mean test errors of AdaBoost, of the control (AdaBoost, rate chosen) and of the six boosters with the lowest mean "
    "over these levels. They are the best of 21 by the errors that are drawn, which flatters them; the tables have all."
)
_RANKS = "Average ranks over the sets, 1 (yellow) is best; EBBoost has no trees."
CUT = ("BrownBoost", "RobustBoost", "RobustBoost, smooth")  # end by themselves, if they may
_DIFFERENCE = ("to the control, points", "95 % from", "to", "P(lower)", "P(equal)", "P(higher)")
ROPE = 0.1  # percent points that are practically none


def _difference(a: Array, b: Array) -> list[float | None]:
    """Return the typical difference in points, its interval, and how likely it is to be one."""
    shift, p = hodges_lehmann(100 * a, 100 * b, n_resamples=2000), bayesian_signed_rank(100 * a, 100 * b, rope=ROPE)
    numbers = (shift.estimate, shift.low, shift.high, p.better, p.equal, p.worse)
    return [round(number, 2) for number in numbers]


def _levels(settings: list[NoiseSetting]) -> str:
    levels = sorted({s.percent for s in settings})
    return f"noise {levels[0]}" if len(levels) == 1 else f"noise {levels[0]} to {levels[-1]}"


# -- claims ----------------------------------------------------------------------------------------------------------


def _claims(sets: list[NoiseSetting]) -> list[Claim]:
    claims = []
    for learner in ("stumps", "trees"):
        uniform = [s for s in sets if s.where == learner and s.kind == "uniform"]
        noisy = pooled([s for s in uniform if s.percent])
        if CONTROL not in noisy[0] or len(noisy[1]) < 2:
            continue
        claims += [_shrinkage(learner, *noisy), _robust(f"uniform noise ({learner})", *noisy)]
        clean = [s for s in uniform if not s.percent]
        if clean and clean[0].percent == 0:
            claims.append(_price(learner, clean[0]))
    for s in sets:
        if s.kind != "uniform" and CONTROL in s.whole()[0] and len(s.whole()[1]) > 1:
            claims.append(_robust(f"noise by {s.kind} ({s.where}, {s.percent} %)", *s.whole()))
    return claims


def _shrinkage(learner: str, methods: list[str], errors: Array) -> Claim:
    text = (
        f"Shrinkage alone is a strong remedy: AdaBoost with a chosen rate beats plain AdaBoost under noise ({learner})."
    )
    if PLAIN not in methods:
        return Claim(text, "cannot be judged", "Plain AdaBoost is not computed on all sets.")
    wins, losses, p, _ = against_control([CONTROL, PLAIN], errors[:, [methods.index(CONTROL), methods.index(PLAIN)]])[
        PLAIN
    ]
    plain, control = (100 * errors[:, methods.index(m)].mean() for m in (PLAIN, CONTROL))
    gains = _gains([CONTROL], methods, errors, PLAIN)
    verdict = ("holds" if control < plain else "does not hold") if p < 0.05 else _denied(gains)
    said = f"{control:.1f} % against {plain:.1f} % over the noisy levels; better on {losses} sets, worse on {wins} "
    said += f"(Wilcoxon p = {p:.2g}). Both choose their rounds by validation, which is a remedy too."
    if JITTER in methods:
        chance = wilcoxon(errors[:, methods.index(CONTROL)], errors[:, methods.index(JITTER)]).p
        best = 100 * errors[:, methods.index(JITTER)].mean()
        said += f" The best of six runs that differ by chance has {best:.1f} % (p = {chance:.2g} against the rate)."
    return Claim(text, verdict, said)


def _robust(where: str, methods: list[str], errors: Array) -> Claim:
    """Judge whether any other booster beats the control; it is denied only where no interval allows a gain."""
    against = against_control(methods, errors)
    ahead = [m for m, (wins, losses, _, p) in against.items() if p < 0.05 and wins > losses]
    means = dict(zip(methods, 100 * errors.mean(axis=0), strict=True))
    best = min(means, key=lambda m: means[m])
    said = f"Least mean error: {best}, {means[best]:.1f} %; the control has {means[CONTROL]:.1f} %. "
    said += f"Significantly better over the sets (Holm, 5 %): {', '.join(ahead) or 'none'}."
    near = [m for m, (wins, losses, p, _) in against.items() if p < 0.05 and wins > losses and m not in ahead]
    if near:
        said += f" Without the correction also {', '.join(near)}."
    gains = _gains(list(against), methods, errors, CONTROL)
    possible = sum(gain > ROPE for gain in gains)
    if not ahead and not near and possible:
        said += f" But the intervals of {possible} boosters leave room for a gain: see Power."
    text = f"Some robust or regularised booster beats AdaBoost with a chosen rate under {where}."
    return Claim(text, "holds" if ahead else "partly" if near else _denied(gains), said)


def _gains(some: list[str], methods: list[str], errors: Array, opponent: str) -> list[float]:
    """Return the largest gains over an opponent, in points, that the 95 % intervals of some methods allow."""
    other = 100 * errors[:, methods.index(opponent)]
    return [-hodges_lehmann(100 * errors[:, methods.index(m)], other, n_resamples=2000).low for m in some]


def _denied(gains: list[float]) -> str:
    """Return the verdict on a gain that is not seen: denied only where no interval allows it."""
    return "cannot be judged" if any(gain > ROPE for gain in gains) else "does not hold"


def _price(learner: str, clean: NoiseSetting) -> Claim:
    methods, errors = clean.whole()
    means = dict(zip(methods, 100 * errors.mean(axis=0), strict=True))
    robust = [m for m in GIVES_UP if m in means]
    text = f"Boosters that give rows up lose on clean labels ({learner})."
    if not robust or CONTROL not in means:
        return Claim(text, "cannot be judged", "Not all of them are computed.")
    p = {m: found[2] for m, found in against_control(methods, errors).items()}
    worse = [m for m in robust if means[m] > means[CONTROL] and p[m] < 0.05]
    losses = [gain for m in robust for gain in _gains([CONTROL], methods, errors, m)]
    listed = ", ".join(f"{m} {means[m]:.1f} % (p = {p[m]:.2g})" for m in robust)
    return Claim(
        text,
        "holds" if len(worse) == len(robust) else "partly" if worse else _denied(losses),
        f"{listed}; AdaBoost with a chosen rate {means[CONTROL]:.1f} %. Their target is chosen by validation here, "
        "so the loss is what their candidates leave.",
    )


def _special_claims(special: list[NoiseSetting]) -> list[Claim]:
    claims = []
    noisy = [s for s in special if s.percent in (10, 20)]
    methods, errors = pooled(noisy)
    if methods:
        means = dict(zip(methods, errors.mean(axis=0), strict=True))
        convex = {m: v for m, v in means.items() if m in CONVEX}
        others = {m: v for m, v in means.items() if m in GIVES_UP}
        for group, text, failing in (
            (convex, "Boosters with a convex loss fail on Long and Servedio's construction (10 and 20 % noise).", True),
            (others, "Boosters that give rows up learn it.", False),
        ):
            if not group:
                continue
            agree = [m for m, v in group.items() if (v > 0.1 if failing else v < 0.05)]
            listed = ", ".join(f"{m} {100 * v:.1f} %" for m, v in group.items())
            claims.append(
                Claim(
                    text,
                    "holds" if len(agree) == len(group) else "partly" if agree else "does not hold",
                    f"{listed}. Rounds and rates are chosen by validation: the theorem is about the minimum of the "
                    "loss, and a vote that stops before it may do better.",
                )
            )
    return claims
