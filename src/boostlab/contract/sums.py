"""Sums that many rules ask for and that a learner may know already (see `Found.sums`)."""

from __future__ import annotations

from typing import Any

from boostlab.contract.formula import formula


@formula
def weight_sum(w: float) -> float:
    """The weight of the sample.

    Examples
    --------
    >>> weight_sum(0.5)
    0.5
    """
    return w


@formula
def loss_sum(e: float) -> float:
    """The sum of exp(-y F), up to a common factor.

    Examples
    --------
    >>> loss_sum(0.5)
    0.5
    """
    return e


@formula
def error_sums(w: float, h: float, y: float) -> tuple[float, float]:
    """The weight of the sample, and of the rows where the voter is wrong.

    Examples
    --------
    >>> error_sums(0.5, -1.0, 1.0)
    (0.5, 0.5)
    """
    return w, w if h != y else 0.0


@formula
def class_error_sums(w: float, h: int, k: int) -> tuple[float, float]:
    """The weight of the sample, and of the rows for which the voter names another class.

    Examples
    --------
    >>> class_error_sums(0.5, 2, 2)
    (0.5, 0.0)
    """
    return w, w if h != k else 0.0


@formula
def edge_sums(w: float, h: float, y: float) -> tuple[float, float]:
    """The weight of the sample, and that of the rows where the voter is right less that where it is wrong.

    Examples
    --------
    >>> edge_sums(0.5, -1.0, 1.0)
    (0.5, -0.5)
    """
    return w, w * y * h


@formula
def vote_size(h: float) -> float:
    """How large a vote is.

    Examples
    --------
    >>> vote_size(-0.5)
    0.5
    """
    return abs(h)


@formula
def residual_moments(y: float, F: float, h: float) -> tuple[float, float]:
    """The sums of residual * vote and of vote^2.

    Examples
    --------
    >>> residual_moments(1.0, 0.25, -1.0)
    (-0.75, 1.0)
    """
    return (y - F) * h, h * h


@formula
def squared_error_sums(e: float, h: float, y: float) -> tuple[float, float, float, float]:
    """The sums of e over the sample and where the voter is wrong, and those of e^2.

    Examples
    --------
    >>> squared_error_sums(0.5, -1.0, 1.0)
    (0.5, 0.5, 0.25, 0.25)
    """
    wrong = e if h != y else 0.0
    return e, wrong, e * e, wrong * wrong


def errors_of_labels(whole: float, wrong: float) -> dict[Any, tuple[float, float]]:
    """Return what follows from all weight and that of the wrong rows, for a voter that says -1 and +1."""
    return {error_sums: (whole, wrong), edge_sums: (whole, whole - 2.0 * wrong)}
