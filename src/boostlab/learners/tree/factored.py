"""Trees that vote v_l phi(x) on label l: one tree phi of -1 and +1, and a sign a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from boostlab.contract import Found, LearnerRows, Row, Stop, Task, formula, sum_over_labels
from boostlab.contract.growth import FLOOR
from boostlab.learners.labelwise import Factored

if TYPE_CHECKING:
    from boostlab.learners.tree.fitted import Tree
    from boostlab.learners.tree.learner import TreeSession

Array = npt.NDArray[Any]

FACTORED = Factored()


@sum_over_labels
def agreement(D: Row, Y: Row, l: int, v: Row) -> float:
    """u = sum over labels of D Y v."""
    return D[l] * Y[l] * v[l]


@formula
def size_and_sign(u: float) -> tuple[float, float]:
    """|u| and the sign of u."""
    return abs(u), -1.0 if u < 0.0 else 1.0


def grow_factored(session: TreeSession, task: Task) -> Found | Stop:
    """Grow phi and choose v by turns, each the better for the other.

    1. v = the signs of the best factored stump; where no stump has an edge (XOR), each label against the rest by turns.
    2. phi = a tree for labels, under the weights that v leaves a row: u_i = sum_l w_il t_il v_l.
    3. v_l = the sign of phi's edge on label l.

    Where rows differ so little in u that no tree does better than the stump, it is the stump: so in the first round,
    where no is the best answer to all labels but one.

    Parameters
    ----------
    session : TreeSession
        At work on the sample.
    task : Task
        Weights and targets with a column a label.
    """
    search, rows = session.search, session.rows
    D, Y = rows.tame(task.weight), task.target
    examples = rows.n if task.counts is None else float(task.counts.sum())
    if examples < session.learner.min_samples_split and session.learner.min_samples_split > 2:
        return Stop("no_edge", "there are too few examples to split (min_samples_split)")
    census, labels = session.learner.min_samples_leaf > 1, slice(task.weight.shape[1])
    channels = rows.channels(FACTORED, D, Y, task.counts, census)
    least = float(session.learner.min_samples_leaf) if census else 0.0
    split = search.best(FACTORED, channels.slots, channels.total, channels, task.params, least)
    if split is None:
        return Stop("no_edge", "there is nothing to split")
    below, above = search.sides(split, channels)
    v, gross = FACTORED.signs((above - below)[labels]), float(channels.gross[labels].sum())
    most, grown = -split.cost, None
    for start in [v] if most > FLOOR * gross else 2.0 * np.eye(len(v)) - 1.0:
        (u,) = rows.values(agreement, {"D": D, "Y": Y}, start)
        weight, sign = rows.values(size_and_sign, {"u": u})
        found = session.best(Task("edge", weight, sign, counts=task.counts))
        if isinstance(found, Stop):
            continue
        assert found.votes is not None
        phi = found.votes
        edges = channels.turned(phi)
        if np.abs(edges).sum() > most:
            most, grown = float(np.abs(edges).sum()), (found.voter, phi, FACTORED.signs(edges))
    if grown is not None:
        return _times(rows, *grown)
    phi = rows.look_up(split.feature, np.where(rows.slots.low(split), np.int8(-1), np.int8(1)))
    return _times(rows, session.single(split, -split.cost / gross), phi, v)


def _times(rows: LearnerRows, tree: Tree, phi: Array, v: Array) -> Found:
    """Give every label its sign."""
    tree.values = tree.values[:, None] * v
    return Found(tree, rows.side_by_side([phi * sign for sign in v.astype(np.int8)]))
