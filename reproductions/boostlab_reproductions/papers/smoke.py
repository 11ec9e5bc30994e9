"""A study of half a minute: no paper's, but through everything that the papers' studies go through."""

from __future__ import annotations

import zlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.boosters import REGISTRY
from boostlab.studies.plan import Block, Definition, Method, Outcome, Procedure
from boostlab.studies.study import Claim, Report, Results, Study
from boostlab.studies.tables import against_published, error_table, percent
from boostlab_reproductions.problems import PaperProblem

Array = npt.NDArray[Any]

# The best possible errors in percent: Breiman 1996 for the first two.
_BEST = {"twonorm": 2.3, "ringnorm": 1.3, "chi2_spheres": 0.0}


@dataclass(frozen=True)
class Halves(Procedure):
    """Train on half of the rows; choose parameters and rounds by a quarter; test on the last quarter."""

    rounds: int = 40
    version: int = 1

    def definition(self) -> Definition:
        """Return all that may change a result."""
        return {"protocol": "halves", **asdict(self)}

    def parts(self, data: Any, repeat: int) -> dict[str, tuple[Array, Array]]:
        """Return the rows of the three parts."""
        seed = np.random.SeedSequence([zlib.crc32(data.hash.encode()), repeat])
        order = np.random.default_rng(seed).permutation(len(data.y))
        cuts = [len(order) // 2, 3 * len(order) // 4]
        names = ("train", "choose", "test")
        return {name: (data.X[rows], data.y[rows]) for name, rows in zip(names, np.split(order, cuts), strict=True)}

    def run(self, parts: dict[str, tuple[Array, Array]], method: Method) -> Outcome:
        """Train every candidate once; the first best round of the first best candidate is tested."""
        best: tuple[float, int, dict[str, Any], Any] | None = None
        name, values = next(iter(method.grid.items()), ("", (None,)))
        for value in values:
            chosen = {name: value} if name else {}
            model = REGISTRY[method.booster].cls(
                **{**method.params, **chosen, "n_estimators": self.rounds, "n_jobs": 1, "random_state": 0}
            )
            model.fit(*parts["train"])
            errors = _staged_errors(model, *parts["choose"])
            if best is None or errors.min() < best[0]:
                best = (float(errors.min()), int(errors.argmin()), chosen, model)
        assert best is not None
        error, at, chosen, model = best
        X, y = parts["test"]
        wrong = list(model.staged_predict(X))[at] != y
        return Outcome(
            {
                "test_error": float(wrong.mean()),
                "validation_error": error,
                "rounds": at + 1,
                "chosen": chosen,
                "stop": model.stop_reason_,
            },
            {"wrong": wrong},
        )


def _staged_errors(model: Any, X: Array, y: Array) -> Array:
    return np.array([np.mean(stage != y) for stage in model.staged_predict(X)])


def studies() -> list[Study]:
    """Return the study of this file."""
    problems = [PaperProblem(name, name, made=(400, 1)) for name in _BEST]
    methods = [
        Method("AdaBoost", "AdaBoostClassifier"),
        Method("LogitBoost", "LogitBoostClassifier"),
        Method("VadaBoost", "VadaBoostClassifier", grid={"variance_penalty": (0.0, 0.5, 0.9)}),
    ]
    return [
        Study(
            name="smoke",
            title="Half a minute through the whole machinery",
            source="none; three generators, three boosters",
            blocks=(Block("errors", problems, methods, Halves(), {"quick": 3, "full": 10}),),
            assumptions=("400 rows of each generator, drawn once with seed 1.",),
            report=_report,
        )
    ]


def _report(results: Results) -> Report:
    problems, methods, errors = results.matrix("errors")
    report = Report(
        tables={
            "Test errors in percent": error_table(results, "errors"),
            "Beside the best possible": against_published(
                results, "errors", {(p, m): (best, float("nan")) for p, best in _BEST.items() for m in methods}
            ),
        },
        notes=["Bold: the smallest error of a row, and those not significantly larger (paired t-test, 1 %)."],
    )
    if "twonorm" in problems:
        at = errors[problems.index("twonorm")]
        report.claims.append(
            Claim(
                "Boosted stumps make fewer than 15 % errors on twonorm.",
                "holds" if np.nanmax(np.nanmean(at, axis=1)) < 0.15 else "does not hold",
                "; ".join(f"{m} {percent(row)}" for m, row in zip(methods, at, strict=True)) + ".",
            )
        )

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for j, method in enumerate(methods):
            axes.plot(problems, 100 * np.nanmean(errors[:, j], axis=1), "o", label=method)
        axes.set_ylabel("test error, %")
        axes.legend()

    report.figures["Mean test errors"] = draw
    return report
