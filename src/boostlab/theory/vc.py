"""Bounds from counting: the VC dimension of stumps, and Freund and Schapire's bound for a vote of T voters."""

from __future__ import annotations

from math import e, log, log2, sqrt

from boostlab.theory.bound import Bound, bound, check_delta, check_positive


def stump_dichotomies(n_features: int, n: int) -> int:
    """Return how many ways stumps can label n rows at most: 2 + 2 (n - 1) for every feature, constants once.

    Parameters
    ----------
    n_features : int
        Number of numeric features.
    n : int
        Number of rows.

    Returns
    -------
    int

    Examples
    --------
    >>> stump_dichotomies(1, 3)  # of the 8 labellings of three numbers
    6
    """
    check_positive("n_features", n_features)
    check_positive("n", n)
    return 2 * n_features * (n - 1) + 2


def stump_vc_dimension(n_features: int) -> int:
    """Return a bound on the VC dimension of stumps: the most rows whose labellings they are enough for.

    d rows are shattered only if 2^d <= 2 + 2 (d - 1) n_features.  For one feature the answer, 2, is exact; it grows
    like log2(n_features).  Categorical columns are not covered: a column with c categories alone shatters c rows.

    Parameters
    ----------
    n_features : int
        Number of numeric features.

    Returns
    -------
    int

    Examples
    --------
    >>> [stump_vc_dimension(p) for p in (1, 10, 100, 1000)]
    [2, 6, 10, 14]
    """
    d = 1
    while 2 ** (d + 1) <= stump_dichotomies(n_features, d + 1):
        d += 1
    return d


def vc_bound(training_error: float, n: int, n_rounds: int, vc_dimension: float, delta: float = 0.05) -> Bound:
    """Return the VC bound (2.18) in Freund and Schapire's form.

    d_T = 2 (d + 1)(T + 1) log2(e (T + 1)) bounds the VC dimension of votes of T voters from a class of VC dimension d;
    error <= training error + 2 sqrt((d_T (ln(2n / d_T) + 1) + ln(9 / delta)) / n), if d_T < 2n.

    Assumes rows drawn independently, a number of rounds fixed in advance, and voters that say -1 or +1.

    Parameters
    ----------
    training_error : float in [0, 1]
        Share of training rows with y F <= 0.
    n : int
        Number of training rows.
    n_rounds : int
        T.
    vc_dimension : float
        d of the voters (for stumps `stump_vc_dimension`).
    delta : float, default=0.05
        Probability of failure.

    Returns
    -------
    Bound
        Infinite where d_T >= 2n.

    References
    ----------
    Freund & Schapire 1997, Theorems 7 and 8 (constants not checked against the article).

    Examples
    --------
    >>> vc_bound(0.0, 100_000, 10, 6).vacuous
    False
    >>> vc_bound(0.0, 100, 10, 6).assumptions
    {'d_T < 2n': False}
    """
    if not 0.0 <= training_error <= 1.0:
        raise ValueError(f"training_error={training_error!r} is not possible; it must be between 0 and 1.")
    check_positive("n", n)
    check_positive("n_rounds", n_rounds, open_=False)
    check_positive("vc_dimension", vc_dimension)
    d_T = 2 * (vc_dimension + 1) * (n_rounds + 1) * log2(e * (n_rounds + 1))
    small = d_T < 2 * n
    inside = d_T * (log(2 * n / d_T) + 1) + log(9 / check_delta(delta)) if small else 0.0
    terms = {"training error": training_error, "complexity": 2 * sqrt(max(inside, 0.0) / n), "d_T": d_T}
    return bound(training_error + terms["complexity"], terms, 1.0, {"d_T < 2n": small}, unverified=True)
