"""The generalisation bound that LPBoost minimises (Demiriz, Bennett & Shawe-Taylor 2002)."""

from __future__ import annotations

from math import inf, log

import numpy as np
import numpy.typing as npt

from boostlab.theory.bound import Bound, bound, check_delta, check_positive, check_values


def lpboost_bound(
    scores: npt.ArrayLike, coefficients: npt.ArrayLike, C: float = 1.0, delta: float = 0.05, constant: float = 1.0
) -> Bound:
    """Return LPBoost's bound on the error, up to a constant: the textbook's (2.26).

    With B = sum of the coefficients + C sum of max(0, 1 - y F), which `LPBoostClassifier(C=C)` minimises, the error is
    with probability 1 - delta at most O~(ln(m) / m B^2 ln(B m) + ln(1/delta) / m).  What O~ hides is not known:
    `constant` multiplies both terms, so that the value is good for comparing votes on one sample, not as a promise.

    Parameters
    ----------
    scores : array-like
        y F of every example, m of them, not normalised.
    coefficients : array-like
        Of the voters, which say between -1 and 1; the theorem wants them not negative.
    C : float
        The price of slack; the theorem wants at least 1.
    delta : float
        The probability that the bound fails.
    constant : float
        In the place of O~.

    Returns
    -------
    Bound
        With B and both terms; `constants_unverified` is true.

    References
    ----------
    Demiriz, Bennett & Shawe-Taylor 2002; quoted in Zhou 2012, (2.25) and (2.26).

    Examples
    --------
    >>> found = lpboost_bound([1.0] * 1000, [0.6, 0.4], C=1.0)
    >>> found.terms["B"], round(found.terms["complexity"], 4), found.vacuous
    (1.0, 0.0477, False)
    """
    v = check_values(scores, "scores", -inf, inf, least=2)
    a = check_values(coefficients, "coefficients", -inf, inf)
    delta, m = check_delta(delta), len(v)
    check_positive("C", C)
    check_positive("constant", constant)
    B = float(np.abs(a).sum() + C * np.maximum(0.0, 1.0 - v).sum())
    terms = {
        "complexity": constant * log(m) / m * B * B * max(log(B * m), 0.0) if B > 0 else 0.0,
        "deviation": constant * log(1 / delta) / m,
    }
    assumptions = {"C is at least 1": C >= 1, "coefficients are not negative": bool((a >= 0).all())}
    return bound(sum(terms.values()), {**terms, "B": B}, 1.0, assumptions, unverified=True)
