"""Rounds and their voters as plain arrays, and back.

Nothing that comes back is used before it is checked: the compiled loops that read trees and tables trust their indices.
What the voters of one kind look like is said where they are defined (see `contract.voter`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import boostlab.learners  # noqa: F401 - fills KINDS
from boostlab.boosters.registry import load_learner
from boostlab.contract import Each, Voter
from boostlab.contract.voter import KINDS, LARGEST_SCORE, VOTE, Layout, Setting, Unfit
from boostlab.ensemble.rounds import Round
from boostlab.model_io.problems import IMPORT, JOBLIB, Damage, Problem, need, shown

Array = npt.NDArray[Any]
Arrays = dict[str, Array]

FIRST_KINDS = ("stump", "category_stump", "tree", "pool_stump")  # of which every file has arrays, if only empty ones

# Every array: its type and its shape, where a letter is a length that must be the same wherever it stands.
#   T rounds, V voters, B rounds and J classes where the classes have coefficients of their own
ROUNDS: Layout = {
    "round_alpha": ("<f8", ("T",)),
    "round_decay": ("<f8", ("T",)),
    "round_reweighs": ("|b1", ("T",)),
    "round_tuple": ("<i8", ("T",)),
    "class_alpha": ("<f8", ("B", "J")),
    "class_decay": ("<f8", ("B", "J")),
    "alphas": ("<f8", ("A",)),
    "voter_kind": ("|u1", ("V",)),
}
ORDER = (  # of the arrays in a file
    *ROUNDS,
    *("stump_feature", "stump_cut", "stump_threshold", "stump_votes", "stump_has_missing", "pool_index", "pool_sign"),
)
ADDED = ("class_alpha", "class_decay")  # which older files do not have, and did not need


def layouts(further: Sequence[str]) -> dict[str, Layout]:
    """Return the layouts of the rounds and of every kind of voters in a file, the further ones by name."""
    for name in further:
        if name not in KINDS:
            load_learner(name)
    unknown = [name for name in further if name not in KINDS]
    if unknown:
        raise Problem(f"its voters are of the kind {shown(unknown[0])}, which is not known here", IMPORT)
    return {"": ROUNDS, **{name: KINDS[name].layout for name in (*FIRST_KINDS, *further)}}


# -- to arrays -------------------------------------------------------------------------------------------------------


def pack(rounds: Sequence[Round], setting: Setting) -> tuple[Arrays, bool, list[str]]:
    """Return the rounds as arrays, whether every voter says one number, and the kinds of voters beyond the first ones.

    Parameters
    ----------
    rounds : sequence of Round
        The rounds kept.
    setting : Setting
        The model they belong to.
    """
    flat = [v for r in rounds for v in (r.voter if isinstance(r.voter, tuple) else (r.voter,))]
    kinds = [_kind(v) for v in flat]
    names = [*FIRST_KINDS, *sorted(set(kinds) - set(FIRST_KINDS))]
    members: dict[str, list[Voter]] = {name: [] for name in names}
    for voter, kind in zip(flat, kinds, strict=True):
        members[kind].append(voter)
        if voter.holds:
            members[voter.holds].append(voter.inside)
    dims = {v.vote_ndim for name in names for v in members[name] if not v.holds}
    if len(dims) > 1:
        raise Problem("its voters have votes of different shapes", JOBLIB)
    single = dims == {0} if dims else setting.names_classes or not setting.by_class
    content: dict[str, Any] = {
        "round_alpha": [r.alpha for r in rounds],
        "round_decay": [r.decay for r in rounds],
        "round_reweighs": [r.alphas is not None for r in rounds],
        "round_tuple": [len(r.voter) if isinstance(r.voter, tuple) else 0 for r in rounds],
        "class_alpha": [r.each.alphas for r in rounds if r.each is not None],
        "class_decay": [r.each.decays for r in rounds if r.each is not None],
        "alphas": np.concatenate([np.empty(0), *(r.alphas for r in rounds if r.alphas is not None)]),
        "voter_kind": [names.index(kind) for kind in kinds],
    }
    for name in names:
        content |= KINDS[name].pack(members[name])
    sizes = {VOTE: 1 if single else setting.n_classes, "J": setting.n_classes if content["class_alpha"] else 0}
    arrays = {}
    for layout in layouts(names[len(FIRST_KINDS) :]).values():
        for name, (dtype, shape) in layout.items():
            tail = [n if isinstance(n, int) else sizes[n] for n in shape[1:]]
            arrays[name] = np.asarray(content[name], dtype).reshape(len(content[name]), *tail)
    order = [*ORDER, *(name for name in arrays if name not in ORDER)]
    return {name: arrays[name] for name in order}, single, names[len(FIRST_KINDS) :]


def _kind(voter: Voter) -> str:
    if not voter.stored_as:
        cause = f"its voters are of the kind {voter.shown_kind!r}, and only stumps, trees and pools of stumps can be"
        raise Problem(cause, JOBLIB)
    return voter.stored_as


# -- from arrays -----------------------------------------------------------------------------------------------------


def completed(arrays: Mapping[str, Array]) -> Arrays:
    """Return the arrays of a file with those that it is too old to have: none of the classes have their own numbers."""
    if any(name in arrays for name in ADDED):
        return dict(arrays)
    return {**arrays, **{name: np.empty((0, 0)) for name in ADDED}}


def unpack(arrays: Arrays, setting: Setting, further: Sequence[str]) -> list[Round]:
    """Return the rounds, after checking everything that could lead a reader astray.

    Parameters
    ----------
    arrays : dict
        The arrays of `layouts`.
    setting : Setting
        The model they belong to.
    further : sequence of str
        The kinds of voters beyond the first ones.
    """
    for layout in layouts(further).values():
        _check_layout(arrays, layout, 1 if setting.single else setting.n_classes)
    try:
        return _rounds(arrays, _voters(arrays, setting, [*FIRST_KINDS, *further]), setting)
    except Unfit as error:
        raise Damage(str(error)) from error


def _voters(arrays: Arrays, setting: Setting, names: list[str]) -> list[Any]:
    """Return the voters in their order."""
    kinds = arrays["voter_kind"].tolist()
    need(all(kind < len(names) for kind in kinds), "a voter of an unknown kind")
    made = {name: list(KINDS[name].unpack(arrays, setting)) for name in names}
    in_order = [names[kind] for kind in kinds]
    taken = in_order + [KINDS[name].holds for name in in_order if KINDS[name].holds]
    for name in names:
        need(taken.count(name) == len(made[name]), f"voters and what is stored of the kind {name} differ in number")
    left = {name: iter(made[name]) for name in names}
    voters = []
    for name in in_order:
        voter = next(left[name])
        voter = voter(next(left[KINDS[name].holds])) if KINDS[name].holds else voter
        voter.check(setting)
        voters.append(voter)
    return voters


def _check_layout(arrays: Arrays, layout: Layout, width: int) -> None:
    lengths: dict[str | int, int] = {VOTE: width}
    for name, (dtype, shape) in layout.items():
        a = arrays[name]
        need(a.dtype == np.dtype(dtype) and a.ndim == len(shape), f"{name} is of another type or shape")
        for n, letter in zip(a.shape, shape, strict=True):
            wanted = letter if isinstance(letter, int) else lengths.setdefault(letter, n)
            need(n == wanted, f"{name} has {n} entries where {wanted} are needed")


def _rounds(arrays: Arrays, voters: list[Any], setting: Setting) -> list[Round]:
    alpha, decay, again = arrays["round_alpha"], arrays["round_decay"], arrays["round_reweighs"]
    sizes, single = arrays["round_tuple"], setting.single
    for name in ("round_alpha", "round_decay", "alphas", "class_alpha", "class_decay"):
        setting.sane(arrays[name], "a coefficient")
    tuples = single and setting.by_class and not setting.names_classes
    expected = setting.n_classes if tuples else 0  # voters in a round's tuple
    need(single or not setting.names_classes, "votes for all classes in a model whose voters name one")
    need((sizes == expected).all(), "a round with the wrong number of voters")
    need(single or setting.by_class, "votes for classes in a model with one score")
    need(len(sizes) * max(expected, 1) == len(voters), "rounds and voters differ in number")
    need(not (setting.by_class and again.any()), "new coefficients in a model with one score a class")
    is_sum = setting.rule.gathered(np.zeros((1, 2))) is not None
    need(is_sum or not (again.any() or (decay != 1).any()), "new coefficients in a vote that is no sum")
    lengths = np.flatnonzero(again) + 1
    need(len(arrays["alphas"]) == lengths.sum(), "the coefficients of some rounds are missing")
    own = arrays["class_alpha"]
    each: list[Each | None] = [None] * len(sizes)
    if len(own):
        need(bool(expected) and own.shape == (len(sizes), expected), "the coefficients of some classes are missing")
        each = [Each(a.copy(), d.copy()) for a, d in zip(own, arrays["class_decay"], strict=True)]
    ends = np.cumsum(lengths).tolist()
    anew = iter([arrays["alphas"][end - n : end].copy() for n, end in zip(lengths.tolist(), ends, strict=True)])
    rounds = []
    for t, (a, d, whole) in enumerate(zip(alpha.tolist(), decay.tolist(), again.tolist(), strict=True)):
        voter = tuple(voters[t * expected : (t + 1) * expected]) if expected else voters[t]
        rounds.append(Round(voter, a, d, next(anew) if whole else None, each=each[t]))
    _check_scores(rounds)
    return rounds


def _check_scores(rounds: list[Round]) -> None:
    """Follow the largest possible score from round to round."""
    bounds = np.array([max(v.bound for v in (r.voter if isinstance(r.voter, tuple) else (r.voter,))) for r in rounds])
    score = 0.0
    with np.errstate(over="ignore"):
        for t, r in enumerate(rounds):
            if r.each is not None:
                score = float(np.abs(r.each.decays).max() * score + np.abs(r.each.alphas).max() * bounds[t])
            elif r.alphas is not None:
                score = float(np.abs(r.alphas) @ bounds[: t + 1])
            else:
                score = abs(r.decay) * score + abs(r.alpha) * float(bounds[t])
            need(score <= LARGEST_SCORE, f"the scores of round {t + 1} are too large")
