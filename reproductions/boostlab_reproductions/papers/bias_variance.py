"""Bias and variance of single learners and of AdaBoost, over repeated training sets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.plan import Block, Method
from boostlab.studies.study import Claim, Report, Results, Study
from boostlab.theory import domingos, kohavi_wolpert
from boostlab_reproductions.problems import TEXTBOOK, PaperProblem
from boostlab_reproductions.protocols.textbook import STUMP, UNPRUNED, TrainingSets

Array = npt.NDArray[Any]

_LEARNERS = {"stump": STUMP, "tree of 8 leaves": {"max_leaf_nodes": 8}, "unpruned tree": UNPRUNED}
_MADE = ("twonorm", "ringnorm", "waveform", "three_gaussians", "chi2_spheres")
_REAL = ("spambase", "german", "satimage", "letter")


def studies() -> list[Study]:
    """Return the study of bias and variance."""
    problems = [PaperProblem(name, name, made=(6000, 0), reading="6,000 rows, made once.") for name in _MADE]
    problems += [replace(p, encoding="one-hot") for p in TEXTBOOK if p.name in _REAL]
    methods = []
    for name, tree in _LEARNERS.items():
        params = {"learner": dict(tree)}
        methods.append(Method(name, "SAMMEClassifier", params, how="single"))
        methods.append(Method(f"AdaBoost, {_many(name)}", "AdaBoostM1Classifier", params))
    return [
        Study(
            name="bias-variance",
            title="Bias and variance: single learners and AdaBoost",
            source="Zhou 2012, section 2.7, on Bauer & Kohavi 1999 and others; the decompositions of Kohavi & "
            "Wolpert 1996 and of Domingos 2000.",
            blocks=(Block("training sets", problems, methods, TrainingSets(), {"quick": 20, "full": 200}),),
            assumptions=(
                "Every repeat trains on 300 rows drawn without replacement from a pool and predicts the same test rows "
                "(at most 2,000, none of them in the pool). A pool of fewer than 600 rows lends half of them.",
                "Labels are taken as they are: noise in them counts as bias, because there is one label a row.",
                "AdaBoost is AdaBoost.M1 by re-weighting, 50 rounds; where it refuses its first voter the vote is that "
                "voter. Unpruned trees have at least two cases a leaf.",
                "The file of cells has the predictions sorted over the training sets, row by row: the decompositions "
                "read only how often each class was predicted.",
                "Bias and variance are corrected for the finite number of training sets (Kohavi and Wolpert's), so a "
                "bias near zero may come out below it.",
            ),
            report=_report,
            reads={"predictions": None, "truth": 1},
            pooled=("predictions",),
        )
    ]


def _many(name: str) -> str:
    return {"stump": "stumps", "unpruned tree": "unpruned trees"}.get(name, name.replace("tree", "trees"))


def _report(results: Results) -> Report:
    report, parts = Report(), _decomposed(results)
    if not parts:
        return report
    report.tables["Kohavi and Wolpert, in percent"] = [
        {"data": problem, "method": method, "training sets": count, "error": _p(kw.error), "bias²": _p(kw.bias2)}
        | {"variance": _p(kw.variance)}
        for (problem, method), (count, kw, _) in parts.items()
    ]
    report.tables["Domingos, in percent"] = [
        {
            "data": problem,
            "method": method,
            "error": _p(d.error),
            "bias": _p(d.bias),
            "net variance": _p(d.net_variance),
        }
        | {"variance where right": _p(d.unbiased_variance), "where wrong": _p(d.biased_variance)}
        for (problem, method), (_, _, d) in parts.items()
    ]
    for name in _LEARNERS:
        pairs = [
            (problem, parts[problem, name][1], parts[problem, f"AdaBoost, {_many(name)}"][1])
            for problem in dict.fromkeys(p for p, _ in parts)
            if (problem, name) in parts and (problem, f"AdaBoost, {_many(name)}") in parts
        ]
        if pairs:
            report.claims += [
                _judged(f"Boosting lowers the bias: {_many(name)}.", pairs, "bias2"),
                _judged(f"Boosting lowers the variance: {_many(name)}.", pairs, "variance"),
                _mainly(name, pairs),
            ]
    report.figures["Bias and variance"] = lambda figure: _draw(figure, parts)
    report.notes.append(
        "A stump has little variance to lose, and a vote of stumps that follows the sample more closely may have more; "
        "an unpruned tree has little bias to lose. So which of the two boosting lowers depends on the learner."
    )
    return report


def _decomposed(results: Results) -> dict[tuple[str, str], tuple[int, Any, Any]]:
    """Return (number of training sets, Kohavi and Wolpert's, Domingos's) by problem and method."""
    cells: dict[tuple[str, str], list[Any]] = {}
    for one in results.rows("training sets"):
        if one.outcome is not None:
            cells.setdefault((one.problem, one.method), []).append(one.outcome.arrays)
    block = results.blocks["training sets"]
    parts = {}
    for problem in block.problems:
        for method in block.methods:
            arrays = cells.get((problem.name, method.name), [])
            if len(arrays) < 2:
                continue
            said = np.array([a["predictions"] for a in arrays])
            truth = next(a["truth"] for a in arrays if "truth" in a)
            parts[problem.name, method.name] = (
                len(arrays),
                kohavi_wolpert(said, truth, unbiased=True),
                domingos(said, truth),
            )
    return parts


def _p(share: float) -> float:
    return round(100 * share, 2)


def _judged(text: str, pairs: list[tuple[str, Any, Any]], name: str) -> Claim:
    lower = [problem for problem, alone, vote in pairs if getattr(vote, name) < getattr(alone, name)]
    mean_alone, mean_vote = (float(np.mean([getattr(pair[k], name) for pair in pairs])) for k in (1, 2))
    share = len(lower) / len(pairs)
    same = [problem for problem, alone, vote in pairs if getattr(vote, name) == getattr(alone, name)]
    higher = [problem for problem, _, _ in pairs if problem not in (*lower, *same)]
    return Claim(
        text,
        "holds" if share >= 0.75 else "partly" if share > 0.25 else "does not hold",
        f"Lower on {len(lower)} of {len(pairs)} sets; means {100 * mean_alone:.1f} % alone, {100 * mean_vote:.1f} % "
        "boosted."
        + (f" Higher on {', '.join(higher)}." if higher else "")
        + (f" The same on {', '.join(same)}, where AdaBoost.M1 refuses its first voter." if same else ""),
    )


def _mainly(name: str, pairs: list[tuple[str, Any, Any]]) -> Claim:
    saved = [
        float(np.mean([getattr(a, part) - getattr(b, part) for _, a, b in pairs])) for part in ("bias2", "variance")
    ]
    return Claim(
        f"What boosting saves is mainly bias: {_many(name)}.",
        "holds" if saved[0] > max(saved[1], 0.0) else "does not hold",
        f"It saves {100 * saved[0]:.1f} points of bias and {100 * saved[1]:.1f} of variance in the mean. The less "
        "bias a learner has, the more of the gain must be variance.",
    )


def _draw(figure: Any, parts: dict[tuple[str, str], tuple[int, Any, Any]]) -> None:
    problems = list(dict.fromkeys(p for p, _ in parts))
    methods = list(dict.fromkeys(m for _, m in parts))
    figure.set_size_inches(12, 2.6 * -(-len(problems) // 3))
    for place, problem in enumerate(problems, 1):
        axes = figure.add_subplot(-(-len(problems) // 3), 3, place)
        there = [m for m in methods if (problem, m) in parts]
        bias = [100 * parts[problem, m][1].bias2 for m in there]
        variance = [100 * parts[problem, m][1].variance for m in there]
        axes.barh(range(len(there)), bias, label="bias²")
        axes.barh(range(len(there)), variance, left=bias, label="variance")
        axes.set_yticks(range(len(there)), there, fontsize=7)
        axes.invert_yaxis()
        axes.set_title(problem, fontsize=9)
        if place == 1:
            axes.legend(fontsize=7)
