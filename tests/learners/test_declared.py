"""What learners, sessions and voters can do they declare: they are not probed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import boostlab
from boostlab import DecisionStump, DecisionTree, VoterPool
from boostlab.contract import Found, Learner, Session, Stop, Voter
from boostlab.contract.voter import KINDS, LEARNERS
from boostlab.learners.adapter import ConstantVoter, EstimatorLearner, EstimatorVoter

SRC = Path(boostlab.__file__).parent
PROBES = {
    "learners/adapter.py": "a user's scikit-learn estimator",
    "learners/answers.py": "a user's scikit-learn estimator",
    "learners/resolve.py": "what a user passes as `estimator`",
    "learners/tree/learner.py": "its own parameters, by name",
}


@pytest.mark.parametrize("subpackage", ["engine", "learners", "ensemble"])
def test_nothing_is_probed(subpackage):
    for path in sorted((SRC / subpackage).rglob("*.py")):
        names = {n.id for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Name)}
        if path.relative_to(SRC).as_posix() not in PROBES:
            assert not names & {"hasattr", "getattr"}, path


def test_a_learner_and_a_session_can_do_little_by_default():
    learner, session = Learner(), Session()
    assert [learner.draws, learner.uses_bins, learner.excludes] == [False] * 3
    assert learner.labels
    assert session.labels
    assert (learner.name, learner.instead) == ("Learner", "use stumps (estimator=None)")
    session.added(object(), 1.0)
    session.forget()
    with pytest.raises(NotImplementedError):
        session.best(None)


def test_a_voter_is_like_no_other_and_says_nothing_of_features_by_default():
    one, two = Voter(), Voter()
    assert one.key() == one.key() != two.key()
    assert one.importances(9) == ([], [])
    assert one.stored_as == ""
    assert ConstantVoter(1.0).importances(3) == ([], [])


@pytest.mark.parametrize("voter", [*KINDS.values(), EstimatorVoter, ConstantVoter], ids=lambda cls: cls.__name__)
def test_every_voter_is_one(voter):
    assert issubclass(voter, Voter)


def test_the_files_of_learners_fill_the_registries():
    assert {"stump", "category_stump", "tree", "pool_stump"} <= KINDS.keys()
    assert [LEARNERS[cls.__name__] for cls in (DecisionStump, DecisionTree, VoterPool)] == [
        *(DecisionStump, DecisionTree, VoterPool)
    ]
    assert EstimatorLearner not in LEARNERS.values()


def test_an_answer_holds_what_is_known():
    found = Found("voter")
    assert (found.votes, found.sums) == (None, {})
    assert not isinstance(found, Stop)
