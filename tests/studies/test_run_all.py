"""Several studies in one run: cells and parts that they share are computed once, and each has its own results."""

from __future__ import annotations

from dataclasses import replace

import pytest

from boostlab.studies.plan import Method
from boostlab.studies.runner import run_all
from boostlab.studies.store import Store
from toy_study import ToyProtocol, said, toy_study


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "cells.sqlite") as store:
        yield store


@pytest.mark.parametrize(("jobs", "backend"), [(1, None), (2, "threading")])
def test_several_studies_are_one_run_and_share_parts_and_cells(tmp_path, store, jobs, backend):
    """The second has a cell of the first and one of its own; the third other splits; one run computes them all."""
    studies = [
        toy_study(tmp_path, "a", ["m0", "m1"], name="first"),
        toy_study(tmp_path, "a", [Method("m0", "", {"shift": 0.0}), Method("m9", "", {"shift": 0.9})], name="second"),
        toy_study(tmp_path, "a", ["m0"], version=2, name="third"),
    ]
    rans = list(run_all(studies, store, 4, jobs=jobs, backend=backend))
    assert [(ran.study.name, ran.computed, ran.planned) for ran in rans] == [
        ("first", 8, 8),
        ("second", 8, 8),
        ("third", 4, 4),
    ]
    assert len(said(tmp_path)) == 16  # of 20: four are in two studies
    assert len({ran.runs[0].id for ran in rans}) == 1
    assert rans[0].runs[0].studies == 3
    if jobs == 1:
        assert len(said(tmp_path, "parts")) == 8  # one a repeat for the first two, one for the third
    assert [ran.computed for ran in run_all(studies, store, 4, jobs=jobs, backend=backend)] == [0, 0, 0]


def test_protocols_with_the_same_basis_share_parts(tmp_path, store):
    class Longer(ToyProtocol):
        def definition(self):
            return {**super().definition(), "longer": True}

        def basis(self):
            return super().definition()

    study = toy_study(tmp_path, "a", ["m0"])
    other = replace(study, name="other", blocks=(replace(study.blocks[0], protocol=Longer(tmp_path)),))
    rans = list(run_all([study, other], store, 2, jobs=1))
    assert [ran.computed for ran in rans] == [2, 2]
    assert len(said(tmp_path, "parts")) == 2
    assert len(said(tmp_path)) == 4


def test_studies_that_were_finished_before_an_interrupt_are_finished(tmp_path, store):
    first = toy_study(tmp_path, "a", ["m0"], name="first")
    second = toy_study(tmp_path, "b", [Method("m", "", {"interrupt": True})], name="second")
    done, stopped = run_all([first, second], store, 1, jobs=1)
    assert (done.ended, done.interrupted, done.computed) == ("", False, 1)
    assert stopped.interrupted
    assert stopped.computed == 0
