"""All studies that can be asked for by name: well defined, and able to report on little or nothing."""

from __future__ import annotations

import pickle

import pytest

from boostlab.boosters import REGISTRY
from boostlab.studies import page
from boostlab.studies.packing import to_text
from boostlab.studies.plan import Outcome
from boostlab.studies.runner import Ran
from boostlab.studies.study import Done, Results
from boostlab_reproductions.papers import STUDIES


@pytest.mark.parametrize("study", [pytest.param(study, id=name) for name, study in STUDIES.items()])
class TestEveryStudy:
    def test_it_is_well_defined(self, study):
        assert study.name == study.name.casefold()
        for block in study.blocks:
            assert block.problems
            pickle.loads(pickle.dumps((block.problems, block.methods, block.protocol)))  # as workers get them
            assert len({p.name for p in block.problems}) == len(block.problems)
            assert len({m.name for m in block.methods}) == len(block.methods)
            for method in block.methods:
                assert not method.booster or method.booster in REGISTRY
        quick, full = (study.repeats(tier) for tier in ("quick", "full"))
        assert sum(quick.values()) >= 1
        assert all(quick[name] <= full[name] for name in quick if full[name])

    def test_a_definition_is_text_and_tells_cells_apart(self, study):
        for block in study.blocks:
            texts = [to_text(cell.definition) for cell in block.cells(1)]
            assert len(set(texts)) == len(texts)

    def test_it_has_a_page_without_any_result(self, study, tmp_path):
        written = page.write(Ran(study, "quick", Results(study.blocks, [], study.repeats("quick")), 0), tmp_path)
        assert written.troubles == []

    def test_it_has_a_page_when_all_failed(self, study, tmp_path):
        cells = [(block.name, cell) for block in study.blocks for cell in block.cells(1)]
        done = [Done(b, c.problem.name, c.method.name, c.repeat, None, "ValueError: no luck") for b, c in cells]
        results = Results(study.blocks, done, study.repeats(1))
        written = page.write(Ran(study, 1, results, len(cells)), tmp_path)
        assert written.troubles == []
        assert "no luck" in written.path.read_text(encoding="utf-8")


def test_the_smoke_study_is_judged_by_its_numbers():
    study = STUDIES["smoke"]
    for error, verdict in ((0.1, "holds"), (0.2, "does not hold")):
        done = [Done("errors", "twonorm", m.name, 0, Outcome({"test_error": error})) for m in study.blocks[0].methods]
        assert [claim.verdict for claim in study.report(Results(study.blocks, done)).claims] == [verdict]
