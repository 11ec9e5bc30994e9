"""AR-Boost's claims are judged no milder than the numbers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from boostlab.studies.plan import Outcome
from boostlab.studies.study import Done, Results
from boostlab_reproductions.papers import STUDIES
from boostlab_reproductions.papers.arboost_errors import ADA, AR, SHRUNK, bars


def judged(name, errors):
    """Return the verdicts of a study whose methods have these errors, by block and method, on all problems."""
    study = STUDIES[name]
    done = [
        Done(
            block.name,
            problem.name,
            method,
            0,
            Outcome({"test_error": error, "early_error": error, "chosen": {"rho": 1}}),
        )
        for block in study.blocks
        for problem in block.problems
        for method, error in errors(block.name).items()
    ]
    report = study.report(Results(study.blocks, done, {block.name: 1 for block in study.blocks}))
    return {claim.text: claim.verdict for claim in report.claims}


@pytest.mark.parametrize(("better", "verdict"), [(6, "holds"), (5, "partly"), (3, "partly"), (2, "does not hold")])
def test_lower_at_all_levels_needs_half_of_the_blocks_to_hold_in_part(better, verdict):
    wins = [block.name for block in STUDIES["arboost-noise"].blocks][:better]
    found = judged(
        "arboost-noise",
        lambda block: {ADA.name: 0.2, SHRUNK.name: 0.2, AR.name: 0.1 if block in wins else 0.3},
    )
    assert found["AR-Boost has a lower error than AdaBoost at all noise levels."] == verdict


@pytest.mark.parametrize(("gain", "verdict"), [(0.35, "holds"), (0.15, "partly"), (0.07, "does not hold")])
def test_a_gain_counts_beside_the_gain_that_is_claimed(gain, verdict):
    found = judged("arboost-binary", lambda block: {ADA.name: 0.2, AR.name: 0.2 * (1 - gain)})
    assert found["AR-Boost improves on wpbc by about 35 percent."] == verdict


def test_no_two_methods_share_a_colour():
    methods = [*(f"rival {k}" for k in range(10)), AR.name]
    errors = SimpleNamespace(methods=methods, problems=["a", "b"], mean=lambda problem, method: 1.0)
    figure = pytest.importorskip("matplotlib.figure").Figure(layout="constrained")
    bars(figure, [errors], ["title"])
    colours = {tuple(patch.get_facecolor()) for patch in figure.axes[0].patches}
    assert len(colours) == len(methods)
